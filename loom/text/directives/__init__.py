"""Constructs of formats that have code of their own; a format names one as ``!name`` or ``!name(arguments)``.

A module a kind of construct, each with its table; :mod:`.table` has them all.
"""
