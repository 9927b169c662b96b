"""Reduction: the smallest module that still shows what a larger one showed."""
