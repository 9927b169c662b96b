"""Verification rules of the ops, by subject: ``rule(op, report)`` calls ``report(code, message, hint)``."""
