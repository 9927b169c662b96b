"""Bar charts as SVG text: no script, no library, readable at any width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

#: Colour classes of the series, defined in the style sheet: native first.
SERIES = ("s0", "s1", "s2", "s3", "s4", "s5")


def number(value: float) -> str:
    """A number as a label: whole ones grouped, others with three digits."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", "\u202f")
    return f"{value:.3g}"


def grouped_bars(
    groups: Sequence[str], series: Sequence[tuple[str, Sequence[float | None]]], title: str, width: int = 640
) -> str:
    """Horizontal bars: a group for each label, a bar for each series; each group is scaled to its own largest value.

    ``None`` is a value that does not exist and is drawn as a dash.
    """
    label_width, value_width, bar, gap = 170, 90, 13, 12
    room = width - label_width - value_width
    rows: list[str] = []
    y = 4
    for position, group in enumerate(groups):
        values = [row[1][position] for row in series]
        largest = max((v for v in values if v is not None), default=0.0) or 1.0
        middle = y + bar * len(series) / 2
        rows.append(
            f'<text class="label" x="{label_width - 8}" y="{middle + 4:g}" text-anchor="end">{escape(group)}</text>'
        )
        for index, value in enumerate(values):
            length = 0.0 if value is None else max(room * value / largest, 1.0 if value else 0.0)
            name = series[index][0]
            text = "–" if value is None else number(value)
            rows.append(
                f'<rect class="{SERIES[index % len(SERIES)]}" x="{label_width}" y="{y}" width="{length:.1f}"'
                f' height="{bar - 2}"><title>{escape(name)}: {text}</title></rect>'
                f'<text class="value" x="{label_width + length + 5:.1f}" y="{y + bar - 4}">{text}</text>'
            )
            y += bar
        y += gap
    legend = "".join(
        f'<span class="key"><i class="{SERIES[i % len(SERIES)]}"></i>{escape(name)}</span>'
        for i, (name, _) in enumerate(series)
    )
    return (
        f'<figure class="chart"><figcaption>{escape(title)}</figcaption><div class="legend">{legend}</div>'
        f'<svg viewBox="0 0 {width} {y}" role="img" aria-label="{escape(title)}">{"".join(rows)}</svg></figure>'
    )


def histogram(bins: Sequence[tuple[str, int]], title: str, width: int = 640) -> str:
    """Vertical bars on a logarithmic scale of counts: how many elements lie in each bin."""
    height, base, left = 150, 120, 8
    top = max((count for _, count in bins), default=1) or 1
    scale = (base - 22) / math.log10(top + 1)
    step = (width - 2 * left) / max(len(bins), 1)
    parts = []
    for index, (label, count) in enumerate(bins):
        size = scale * math.log10(count + 1)
        x = left + index * step
        parts.append(
            f'<rect class="{"s1" if index else "s0"}" x="{x + 2:.1f}" y="{base - size:.1f}" width="{step - 4:.1f}"'
            f' height="{size:.1f}"><title>{escape(label)}: {number(count)}</title></rect>'
            f'<text class="label" x="{x + step / 2:.1f}" y="{base + 15}" text-anchor="middle">{escape(label)}</text>'
        )
        if count:
            parts.append(
                f'<text class="value" x="{x + step / 2:.1f}" y="{base - size - 4:.1f}" text-anchor="middle">'
                f"{number(count)}</text>"
            )
    return (
        f'<figure class="chart"><figcaption>{escape(title)}</figcaption>'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )
