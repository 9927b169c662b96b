"""Build the report from the stages' documents and the store; it computes nothing that a stage has not recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loom import __version__
from loom.diagnostics import LoomError
from loom.raising.ladder.rungs import LOW_RUNGS
from loom.raising.ladder.stages import Ladder
from loom.raising.ladder.verdict import Row, failures, rows_of
from loom.raising.page.charts import number
from loom.raising.page.workload import workload_page
from loom.store.config import Config
from loom.store.layout import Results
from loom.store.workload import load_workload

TEMPLATES = Path(__file__).parent / "templates"


def build_report(config: Config, results: Results) -> Path:
    """Write the report's folder; return the path of ``index.html``."""
    environment = _environment()
    rows: list[Row] = []
    lines: list[str] = []
    acceptances = []
    for name in config.workloads:
        ladder = Ladder(load_workload(config.workload_folder / name / "workload.yaml"), results, config)
        own = rows_of(ladder)
        acceptance = _acceptance(results, name)
        rows.extend(own)
        lines.extend(failures(own, acceptance, name))
        if acceptance is not None:
            acceptances.append(_acceptance_entry(acceptance))
        page = workload_page(ladder, own, acceptance)
        html = environment.get_template("workload.html").render(
            up="../", version=__version__, title=f"{name}: migration report", **page
        )
        results.write_report(f"workloads/{name}.html", html.encode("utf-8"))
    html = environment.get_template("index.html").render(
        up="",
        version=__version__,
        title="Migration report",
        device=config.device,
        rows=[row_entry(row, index == 0 or rows[index - 1].workload != row.workload) for index, row in enumerate(rows)],
        failures=lines,
        acceptance=acceptances,
        cards=_cards(config, rows, acceptances),
    )
    for name in ("style.css", "script.js"):
        results.write_report(name, (TEMPLATES / name).read_bytes())
    return results.write_report("index.html", html.encode("utf-8"))


def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _acceptance(results: Results, name: str) -> dict[str, Any] | None:
    try:
        document: dict[str, Any] = results.read_stage(name, "accept")["acceptance"]
    except LoomError:
        return None
    return document


def _acceptance_entry(acceptance: dict[str, Any]) -> dict[str, Any]:
    return {
        "workload": acceptance["workload"],
        "accepted": acceptance["accepted"],
        "gates": gate_entries(acceptance),
    }


def gate_entries(acceptance: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The gates in the order in which they are passed."""
    return [{"name": name, **acceptance["gates"][name]} for name in ("numerical", "compiler", "physical")]


def row_entry(row: Row, first: bool) -> dict[str, Any]:
    """A row of the ladder's table with its counts as text."""
    native = own = ratio = "–"
    if row.executed is not None:
        native, own = number(row.executed[0]), number(row.executed[1])
        ratio = f"{row.executed[1] / row.executed[0]:.2f}" if row.executed[0] else "–"
    return {**row.to_json(), "first": first, "native": native, "own": own, "ratio": ratio}


def _cards(config: Config, rows: list[Row], acceptances: list[dict[str, Any]]) -> list[dict[str, str]]:
    oracles = [row for row in rows if row.rung == "oracle"]
    raised = [row for row in rows if row.rung not in LOW_RUNGS]
    accepted = sum(1 for item in acceptances if item["accepted"])
    total = len(config.workloads)
    return [
        {"value": f"{accepted} of {total}", "label": "workloads accepted"},
        {
            "value": f"{sum(row.bytes == 'passed' for row in oracles)} of {total}",
            "label": "oracles with the native bytes",
        },
        {
            "value": f"{sum(row.numerical == 'passed' for row in raised)} of {len(raised)}",
            "label": "raised forms with the native results",
        },
        {
            "value": f"{sum(row.compiler == 'passed' for row in raised)} of {len(raised)}",
            "label": "raised forms with compiler evidence as good",
        },
    ]
