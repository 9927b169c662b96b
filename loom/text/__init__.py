"""Text of modules: parse and print."""

from loom.text.parser import parse as parse_module
from loom.text.printer import print_module

__all__ = ["parse_module", "print_module"]
