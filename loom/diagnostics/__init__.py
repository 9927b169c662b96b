"""Locations, diagnostics, exit codes and their rendering: the one room that every other room may import."""

from loom.diagnostics.core import Diagnostic, ExitCode, Location, LoomError, Severity, error
from loom.diagnostics.render import render_json, render_text

__all__ = ["Diagnostic", "ExitCode", "Location", "LoomError", "Severity", "error", "render_json", "render_text"]
