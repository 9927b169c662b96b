"""The table of ``loom-raise`` subcommands.

Each module is imported only when its command is called. It has ``HELP`` (a paragraph), ``add_arguments(parser)`` and
``run(args) -> int`` (an exit code).
"""

from __future__ import annotations

_HERE = "loom.tools.raise_commands"

#: name → (module, one-line help), in the order of a migration.
COMMANDS: dict[str, tuple[str, str]] = {
    "doctor": (f"{_HERE}.doctor", "what this machine can do: tools, devices, a self test"),
    "new": (f"{_HERE}.new", "scaffold a workload from a native kernel"),
    "capture": (f"{_HERE}.capture", "record a native artifact with its ABI, launch and inputs"),
    "assemble": (f"{_HERE}.assemble", "assembly text to a code object"),
    "disassemble": (f"{_HERE}.disassemble", "a code object to assembly text"),
    "verify": (f"{_HERE}.verify", "decode and re-encode a code object and compare the bytes"),
    "lift": (f"{_HERE}.lift", "a native kernel to prepared Low that emits the same bytes"),
    "recover": (f"{_HERE}.recover", "suggest source for parts of a lifted kernel"),
    "compare": (f"{_HERE}.compare", "compare a form with the oracle and the previous form"),
    "reduce": (f"{_HERE}.reduce", "minimize a diverging module to the smallest one that still diverges"),
    "accept": (f"{_HERE}.accept", "the numerical, compiler and physical gates of a workload"),
    "execute": (f"{_HERE}.execute", "run a code object on every shape of a workload"),
    "run": (f"{_HERE}.run", "execute a code object on a device"),
    "reproduce": (f"{_HERE}.reproduce", "re-execute a recorded result and compare"),
    "store": (f"{_HERE}.store", "list, show, verify, prune and move stored evidence"),
}
