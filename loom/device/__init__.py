"""Devices that run code objects: the protocol, the registry, and the simulator's device."""
