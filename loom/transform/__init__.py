"""Target-neutral passes: from a user's module to one specialised, fully inlined, structured kernel."""
