"""Command line of the table generator."""

from __future__ import annotations

import argparse
from pathlib import Path

from loom.target.amdgpu.tables import FILES
from loom.target.amdgpu.tables.generate.document import build, render
from loom.target.amdgpu.tables.generate.wheel import WHEEL_NAME


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Make the AMDGPU instruction tables again.")
    parser.add_argument("generations", nargs="*", default=list(FILES))
    parser.add_argument("--wheel", type=Path, default=Path(WHEEL_NAME))
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1])
    arguments = parser.parse_args()
    for generation in arguments.generations:
        document = build(generation, arguments.wheel)
        path = arguments.output / FILES[generation]
        path.write_text(render(document), encoding="utf-8")
        print(f"{path}: {len(document['rows'])} rows")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
