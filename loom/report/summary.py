"""What a report has in both sizes: the summary without its row tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TABLES = (
    "wait_action_rows",
    "pressure_rows",
    "pressure_origin_rows",
    "allocation_high_water_rows",
    "spill_rows",
    "schedule_band_summary_rows",
    "source_low",
    "math_legalization",
    "target_legalization",
    "access_proofs",
    "target_capability_rows",
    "listing",
)
"""Fields of a kernel's report that only ``details`` has."""


def summary_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The report without row tables."""
    result = {key: value for key, value in document.items() if key not in TABLES}
    rows = document.get("entries", {}).get("rows", [])
    result["entries"] = {"rows": [{k: v for k, v in row.items() if k not in TABLES} for row in rows]}
    return result


def kernels_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The reports of the kernels in a document."""
    rows = document.get("entries", {}).get("rows", [])
    return [row for row in rows if isinstance(row, dict)]
