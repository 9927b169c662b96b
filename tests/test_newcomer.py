"""A newcomer's hour: a clone, and every command of README, docs and config/README, in the order in which they are read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = ["README.md", "config/README.md", *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md"))]

#: ``make test`` within ``make test`` would never end; a room stands for all of them.
SUBSTITUTES = {"make test": "make test TESTS=tests/diagnostics WORKERS=0"}


def commands(page: str) -> list[str]:
    """The lines of a page's ``console`` blocks that start with a prompt, continuation lines joined."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found: list[str] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        continued = False
        for line in block.splitlines():
            if continued:
                found[-1] += line.strip()
            elif line.startswith("$ "):
                found.append(line[2:])
            else:
                continue
            continued = found[-1].endswith("\\")
            if continued:
                found[-1] = found[-1][:-1]
    return found


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a user gets from git, with a .venv of its own that finds the installed packages instead of fetching them."""
    root = tmp_path_factory.mktemp("newcomer") / "loom"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(REPOSITORY), str(root)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(root / ".venv")], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = root / ".venv" / "lib" / version / "site-packages"
    (packages / "installed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return root


def environment(root: Path) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("LOOM_", "PYTHON", "PYTEST", "VIRTUAL"))
    }
    # The clone's own commands first; behind them those of the installed packages that it shares (snakemake).
    places = [str(root / ".venv" / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**kept, "PATH": os.pathsep.join(places)}


def test_every_page_of_the_map_exists_and_is_on_it() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (REPOSITORY / target).is_file(), target
    for page in PAGES[2:]:
        assert f"({page})" in text, f"{page} is not on the map of README.md"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        folder = (REPOSITORY / page).parent
        for target in re.findall(r"\]\(([^)#:]+)\)", (REPOSITORY / page).read_text(encoding="utf-8")):
            assert (folder / target).exists(), f"{page}: {target}"


def test_a_clone_brings_everything_and_nothing_else(clone: Path) -> None:
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout
    assert status == "", status


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works(clone: Path, page: str) -> None:
    if page != "README.md":
        # Pages are read after the README: its first command has been run.
        assert (clone / "results").is_dir() or not commands(page), "README.md has to be tested first"
    for command in commands(page):
        command = SUBSTITUTES.get(command, command)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=clone,
            env=environment(clone),
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert "Traceback" not in done.stderr, command


def test_the_pages_have_commands() -> None:
    assert commands("README.md")[:2] == ["make migrate", "make test"]
    assert sum(len(commands(page)) for page in PAGES) > 12
