"""NumPy interpreter of source programs and of Low: the independent numerical truth of every check."""
