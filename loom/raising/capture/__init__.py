"""Capture: a native kernel with everything that makes a later result comparable with it.

A capture is a folder: ``capture.json`` (the record), ``kernel.hsaco`` (the code object that was executed),
``listing.s`` (its instructions), and ``outputs/SHAPE.BUFFER.bin`` (what the kernel computed). Nothing in it depends on
time or place, so two captures of the same artifact are the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.raising.capture.source import Source
from loom.raising.lift.header import descriptor_fields
from loom.raising.lift.native import NativeKernel, native_kernel
from loom.store.canonical import sha256

if TYPE_CHECKING:
    from loom.device.protocol import Device
    from loom.raising.execute import ShapeRun
    from loom.store.workload import Launch, Workload

SCHEMA = "loom.capture.v0"


@dataclass(frozen=True, slots=True)
class Capture:
    """A captured kernel.

    Attributes:
        document: The record.
        files: Contents by file name, the record included.
        runs: One run for each shape of the workload; empty where nothing was executed.
    """

    document: Mapping[str, Any]
    files: Mapping[str, bytes]
    runs: Sequence[ShapeRun] = ()

    @property
    def faults(self) -> list[ShapeRun]:
        """Runs that did not complete."""
        return [run for run in self.runs if run.outcome["outcome"] != "completed"]


def capture(
    source: Source, kernel: str | None, workload: Workload | None = None, device: Device | None = None
) -> Capture:
    """Capture one kernel, and execute it on every shape of a workload.

    Args:
        source: The artifact; see :func:`loom.raising.capture.source.load_source`.
        kernel: Kernel name; ``None``: the workload's, or the only one.
        workload: What the kernel is for; without one nothing is executed.
        device: Where it is executed; without one nothing is.

    Raises:
        LoomError: what reading, decoding and the device refuse; ``CAPTURE/002`` where the workload names another
            target.
    """
    name = kernel or (workload.kernel if workload is not None else None)
    native = native_kernel(source.code_object, name)
    if workload is not None:
        _check_target(native, workload)
    listing = native_listing(native)
    files: dict[str, bytes] = {"kernel.hsaco": source.code_object, "listing.s": listing.encode()}
    launch = workload.shape().launch if workload is not None else None
    document = describe(native, source, listing, launch)
    runs: list[ShapeRun] = []
    if workload is not None:
        document["workload"] = {"identity": workload.identity, **workload.identity_document}
        if device is not None:
            from loom.raising.execute import run_workload

            runs = run_workload(device, source.code_object, native.name, workload)
            for run in runs:
                for buffer, data in run.outputs.items():
                    files[f"outputs/{run.shape}.{buffer}.bin"] = data
            document["execution"] = {
                "evidence_class": "numerical",
                "statement": "the reference executed these instructions for this workload",
                "instructions": sha256(native.code),
                "device": device.identity(),
                "runs": [run.document() for run in runs],
            }
    files["capture.json"] = (json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
    return Capture(document, files, tuple(runs))


def _check_target(native: NativeKernel, workload: Workload) -> None:
    from loom.diagnostics import Location, error

    _, _, processor = workload.target.partition(":")
    if processor != native.processor:
        raise error(
            f"the artifact is for {native.processor}, the workload for {workload.target}",
            "CAPTURE/002",
            Location(str(workload.path)),
            hint="capture the artifact of the workload's target, or change 'target'",
        )


def describe(native: NativeKernel, source: Source, listing: str, launch: Launch | None = None) -> dict[str, Any]:
    """The part of the record that the artifact determines, and the launch where the artifact leaves it open."""
    from loom.target.amdgpu.occupancy import occupancy
    from loom.target.amdgpu.processors import processor

    metadata = native.metadata
    group = int(metadata.get(".group_segment_fixed_size", 0))
    size = native.workgroup_size or (launch.workgroup_size if launch is not None else None)
    dynamic = launch.dynamic_lds if launch is not None else 0
    items = size[0] * size[1] * size[2] if size is not None else None
    fields = descriptor_fields(native.descriptor)
    rsrc1 = int(str(fields["compute_pgm_rsrc1"]))
    resources = native.resources
    # On gfx9.4 the metadata's VGPR count covers accumulation registers too.
    waves = occupancy(
        processor(native.processor),
        native.wave_size,
        int(resources.get("vgpr_count", 1)),
        int(resources.get("sgpr_count", 1)),
        group + dynamic,
        items,
        bool(rsrc1 >> 29 & 1),
    )
    return {
        "schema": SCHEMA,
        "kernel": native.name,
        "target": f"amdgpu:{native.processor}",
        "wave_size": native.wave_size,
        "source": source.describe(),
        "code_object": {"sha256": sha256(source.code_object), "bytes": len(source.code_object)},
        "producer": list(native.producer),
        "instructions": {
            "sha256": sha256(native.code),
            "bytes": len(native.code),
            "count": sum(1 for _ in native.program.instructions()),
        },
        "listing": {"file": "listing.s", "sha256": sha256(listing.encode())},
        "descriptor": {"sha256": sha256(native.descriptor), "fields": fields},
        "metadata": json_value(metadata),
        "arguments": [{"name": a.name, "kind": a.kind, "offset": a.offset, "size": a.size} for a in native.arguments],
        "resources": {
            "vgprs": resources.get("vgpr_count"),
            "agprs": resources.get("agpr_count", 0),
            "sgprs": resources.get("sgpr_count"),
            "vgpr_spills": resources.get("vgpr_spill_count", 0),
            "sgpr_spills": resources.get("sgpr_spill_count", 0),
            "lds_bytes": group,
            "dynamic_lds_bytes": dynamic,
            "scratch_bytes": metadata.get(".private_segment_fixed_size", 0),
            "kernarg_bytes": native.kernarg_size,
            "occupancy": waves.to_json(),
        },
    }


def json_value(value: Any) -> Any:
    """A metadata value as JSON: byte strings become hexadecimal text."""
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return value


def native_listing(native: NativeKernel) -> str:
    """The kernel's instructions as assembly, a line each with its pc; labels where branches go."""
    lines = [f"; {native.name}, {native.processor}, {len(native.code)} bytes"]
    for index, block in enumerate(native.program.blocks):
        if index:
            lines.append(f"{block.label}:")
        lines.extend(f"  {instruction!s:<72} ; {instruction.pc:06x}" for instruction in block.instructions)
    return "\n".join(line.rstrip() for line in lines) + "\n"
