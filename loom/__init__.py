"""Loom: raise native kernel schedules into maintained source."""

__version__ = "0.1.0"
