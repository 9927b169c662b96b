"""Acceptance: may a form replace the native kernel as the source that is maintained."""
