"""Target-neutral Low: what lies between Low text and a target's machine program."""
