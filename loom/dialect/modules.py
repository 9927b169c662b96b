"""The module dialect: the files a file depends on."""

from __future__ import annotations

from loom.dialect.common import attribute, define

define(
    "module.import",
    "B",
    "A source file this one depends on; what is used of it is still declared here.",
    " $path(? !imported?)",
    attributes=(attribute("path", "string"), attribute("symbols", "symbols", optional=True)),
    traits="module_level",
    example='module.import "motifs.loom" [@squash]',
)
