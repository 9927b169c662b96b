"""Verification rules of the ops, by subject. A rule is ``rule(op, report)``; it calls ``report(code, message, hint)``."""
