"""The progress line of a launch on the simulator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from loom.tools.common import Progress

if TYPE_CHECKING:
    from loom.device.protocol import Device


_SHOWN_AFTER_SECONDS = 2.0


@contextmanager
def launch_progress(device: Device) -> Iterator[None]:
    """Show how many workgroups have begun, where a launch on the simulator takes longer than two seconds."""
    if device.name != "amdgpu-sim":
        yield
        return
    from loom.device.amdgpu_sim import SimulatorDevice

    assert isinstance(device, SimulatorDevice)
    start = time.monotonic()
    with Progress(None, "simulator") as progress:

        def report(begun: int, total: int) -> None:
            if time.monotonic() - start > _SHOWN_AFTER_SECONDS:
                progress.update(begun, f"of {total} workgroups")

        device.progress = report
        try:
            yield
        finally:
            device.progress = None
