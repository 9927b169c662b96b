"""Recover: what the instructions of a lifted kernel say about its source, and which source operation would say it."""
