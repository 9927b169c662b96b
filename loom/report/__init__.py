"""Compile reports: collecting, showing, comparing and suggesting."""
