"""The packet: what someone needs to find out why the first diverging form diverges, in five parts."""
