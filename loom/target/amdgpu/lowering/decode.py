"""Placeholder."""
HANDLERS: dict = {}
