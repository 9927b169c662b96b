"""Comparison of a form with the native kernel and with the form before it: results, compiler evidence, class."""
