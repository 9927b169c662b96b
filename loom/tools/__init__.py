"""The commands: arguments and printing only."""
