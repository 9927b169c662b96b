"""Runs semantic operations through the LLVM back end, many in one module."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from loom.low.semantics.expression import topological
from loom.low.semantics.llvm_backend import TYPES, compile_template
from loom.low.semantics.operation import Assembled
from loom.target.amdgpu.simulator.compile import Library, compile_text, has_hardware_fma
from loom.target.amdgpu.simulator.runtime import runtime_text


def run_batch(
    items: Sequence[tuple[Assembled, Mapping[str, Any]]], wave: int, fma: bool | None = None
) -> list[list[Any]]:
    """Evaluate each assembled operation on its arguments (arrays of one or ``wave`` elements); gives its roots' values."""
    hardware = has_hardware_fma() if fma is None else fma
    texts: list[str] = []
    declarations: set[str] = set()
    plans = []
    for number, (built, arguments) in enumerate(items):
        roots = [w for r in built.results for w in r] + list(built.state_results)
        if built.write_mask is not None:
            roots.append(built.write_mask)
        template = compile_template(roots, wave, hardware)
        declarations |= template.declarations
        lines = [f"define void @op{number}(ptr %in, ptr %out) {{\n"]
        bindings = []
        buffers = []
        offset = 0
        for node in topological(roots):
            if node.op != "arg" or any(node.attr == b[0] for b in bindings):
                continue
            kind = f"<{wave} x {TYPES[node.type]}>" if node.lane else TYPES[node.type]
            lines.append(f"  %in.{node.attr}.p = getelementptr i8, ptr %in, i64 {offset}\n")
            lines.append(f"  %in.{node.attr} = load {kind}, ptr %in.{node.attr}.p, align 1\n")
            bindings.append((node.attr, f"%in.{node.attr}"))
            value = np.atleast_1d(np.asarray(arguments[node.attr]))
            if node.lane:
                value = np.broadcast_to(value, (wave,)).copy()
            buffers.append((offset, value, node.type))
            offset += 1024
        text, names = template.instantiate("x", bindings)
        lines.append(text)
        outputs = []
        at = 0
        for root, name in zip(roots, names, strict=True):
            kind = f"<{wave} x {TYPES[root.type]}>" if root.lane else TYPES[root.type]
            lines.append(
                f"  %out{at} = getelementptr i8, ptr %out, i64 {at}\n  store {kind} {name}, ptr %out{at}, align 1\n"
            )
            outputs.append((at, root.type, wave if root.lane else 1))
            at += 1024
        lines.append("  ret void\n}\n")
        texts.append("".join(lines))
        plans.append((buffers, offset, outputs, at))
    text = "".join(f"{d}\n" for d in sorted(declarations)) + "".join(texts)
    objects = [compile_text(text), compile_text(runtime_text(wave))]
    if not hardware:
        from loom.target.amdgpu.simulator.soft_fma import soft_fma_text

        objects.append(compile_text(soft_fma_text(wave)))
    library = Library(objects, [f"op{n}" for n in range(len(items))])
    results = []
    dtypes = {"i1": np.uint8, "i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64,
              "f16": np.uint16, "f32": np.uint32, "f64": np.uint64}  # fmt: skip
    for number, (buffers, size, outputs, out_size) in enumerate(plans):
        source = np.zeros(max(size, 1024), dtype=np.uint8)
        target = np.zeros(max(out_size, 1024), dtype=np.uint8)
        for offset, value, type_ in buffers:
            data = value.astype(dtypes[type_]) if value.dtype.kind != "f" else value
            source[offset : offset + data.nbytes] = np.frombuffer(data.tobytes(), dtype=np.uint8)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(library.addresses[f"op{number}"])
        function(source.ctypes.data, target.ctypes.data)
        values = []
        for offset, type_, count in outputs:
            if type_ == "i1" and count > 1:
                bits = int.from_bytes(target[offset : offset + count // 8].tobytes(), "little")
                values.append(np.array([bits >> i & 1 for i in range(count)], dtype=np.uint8))
            else:
                kind = np.dtype(dtypes[type_])
                values.append(np.frombuffer(target[offset : offset + count * kind.itemsize].tobytes(), dtype=kind))
        results.append(values)
    return results
