"""``loom-raise run``: execute one kernel of a code object, an assembly file or prepared Low on a device."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode, error
from loom.tools.common import print_json, read_bytes, read_text

if TYPE_CHECKING:
    import numpy

HELP = """Execute a kernel on a device, the simulator included.

FILE is a code object, assembly text (.s) or prepared Low (.loom). Give one --arg for each explicit argument, in order:
    --arg=buffer:IN.npy            a buffer with the file's contents
    --arg=buffer:IN.npy:OUT.npy    the same, and its contents afterwards are written to OUT.npy
    --arg=i32:5                    a number: i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64, decimal or 0x…
    --arg=value:IN.npy             the file's bytes as an argument passed by value: a structure or a vector
    --arg=null                     a null pointer
A pointer into dynamic LDS (``local`` in OpenCL) is u32: its offset.
Hidden arguments are filled as the kernel's metadata says.

Exit code 1: the kernel faulted; the fault names kernel, pc, instruction, wave, lane, address and the nearest buffer."""

#: Scalar type → NumPy type.
_SCALARS = {
    "i8": "<i1", "u8": "<u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4", "i64": "<i8", "u64": "<u8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip

_KERNEL_LIST_LIMIT = 20


@dataclass(slots=True)
class _Buffer:
    array: numpy.ndarray[Any, Any]
    output: str | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("file", metavar="FILE", help="code object, assembly (.s) or prepared Low (.loom)")
    parser.add_argument("--kernel", metavar="NAME", help="the kernel (default: the only one)")
    parser.add_argument("--workgroups", required=True, metavar="X[,Y[,Z]]", help="number of workgroups")
    parser.add_argument("--workgroup-size", required=True, metavar="X[,Y[,Z]]", help="work items of a workgroup")
    parser.add_argument("--dynamic-lds", type=int, default=0, metavar="BYTES", help="LDS besides the static allocation")
    parser.add_argument("--arg", action="append", default=[], metavar="KIND:VALUE", help="an argument, in order")
    parser.add_argument("--device", default="amdgpu", metavar="NAME", help="device (default: amdgpu)")
    parser.add_argument("--processor", metavar="NAME", help="processor of assembly text that does not name one")
    parser.add_argument("--sanitizer", default="none", metavar="NAME", help="none, or race: LDS races between waves")
    parser.add_argument("--threads", type=int, metavar="N", help="host threads of the simulator")
    parser.add_argument("--budget", type=int, metavar="N", help="instructions that a wave may execute on the simulator")
    parser.add_argument("--json", action="store_true", help="print a JSON summary")


def _sizes(text: str, flag: str) -> tuple[int, ...]:
    words = text.split(",")
    if not 1 <= len(words) <= 3 or not all(w.strip().isdecimal() and int(w) > 0 for w in words):
        raise error(f"{flag}: '{text}' is not one to three positive numbers", "RUN/001", hint="for example 16 or 4,4,1")
    return tuple(int(w) for w in words)


def _parse_argument(text: str) -> Any:
    import numpy

    kind, _, value = text.partition(":")
    if kind == "null":
        return None
    if kind in ("buffer", "value"):
        source, _, target = value.partition(":") if kind == "buffer" else (value, "", "")
        try:
            array = numpy.load(source, allow_pickle=False)
        except (OSError, ValueError) as problem:
            message = f"--arg={text}: cannot read '{source}': {problem}"
            raise error(message, "RUN/002", hint="give a .npy file") from None
        array = numpy.ascontiguousarray(array)
        return _Buffer(array, target or None) if kind == "buffer" else array
    if kind not in _SCALARS:
        raise error(
            f"--arg={text}: unknown kind '{kind}'", "RUN/003", hint="buffer, value, null, " + ", ".join(_SCALARS)
        )
    dtype = numpy.dtype(_SCALARS[kind])
    try:
        if kind[0] == "f":
            return numpy.array(float(value), dtype=dtype)
        number = int(value, 0)
        low = 0 if kind[0] == "u" else -(1 << (8 * dtype.itemsize - 1))
        if not low <= number < 1 << (8 * dtype.itemsize):
            raise error(f"--arg={text}: {value} does not fit {kind}", "RUN/003")
        return numpy.array(number & ((1 << (8 * dtype.itemsize)) - 1), dtype=dtype.str.replace("i", "u"))
    except ValueError:
        raise error(f"--arg={text}: '{value}' is no number", "RUN/003", hint="for example i32:5 or f32:1.5") from None


def load_code(path: str, processor: str | None) -> bytes:
    """A code object from a file: as it is, assembled, or compiled from prepared Low without any pass."""
    if path.endswith(".s"):
        from loom.target.amdgpu.assembler import assemble
        from loom.target.amdgpu.code_object import write

        return write(assemble(read_text(path), path, processor))
    if path.endswith(".loom"):
        import loom.target
        from loom.target.amdgpu.compile import CompileOptions, compile_module
        from loom.text import parse_module

        loom.target.register_targets()
        return compile_module(parse_module(read_text(path), path), CompileOptions(pipeline="none")).code_object
    return read_bytes(path)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {"threads": args.threads, "budget": args.budget}
    if args.sanitizer not in ("none", ""):
        options["sanitizers"] = tuple(args.sanitizer.split("|"))
    return options


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    import numpy

    from loom.device.protocol import Faulted
    from loom.device.registry import open_device

    groups = _sizes(args.workgroups, "--workgroups")
    size = _sizes(args.workgroup_size, "--workgroup-size")
    arguments = [_parse_argument(text) for text in args.arg]
    code = load_code(args.file, args.processor)
    device = open_device(args.device, lambda line: print(line, file=sys.stderr), **_options(args))
    try:
        executable = device.load(code)
        names = list(executable.kernels)
        kernel = args.kernel or (names[0] if len(names) == 1 else None)
        if kernel is None or kernel not in executable.kernels:
            shown = ", ".join(names[:_KERNEL_LIST_LIMIT])
            wanted = f"no kernel '{kernel}'" if kernel else "several kernels; choose one with --kernel"
            raise error(f"'{args.file}' has {wanted}", "RUN/004", hint=f"kernels: {shown}")
        info = executable.kernels[kernel]
        explicit = sorted((a for a in info.arguments if not a.kind.startswith("hidden_")), key=lambda a: a.offset)
        if len(explicit) != len(arguments):
            described = ", ".join(f"{a.name or a.kind} ({a.size} bytes)" for a in explicit)
            raise error(
                f"kernel '{kernel}' takes {len(explicit)} arguments, {len(arguments)} given", "RUN/005", hint=described
            )
        kernarg = bytearray(max((a.offset + a.size for a in explicit), default=0))
        buffers = []
        for position, (entry, value) in enumerate(zip(explicit, arguments, strict=True)):
            if isinstance(value, _Buffer):
                buffer = device.allocate(value.array.nbytes, entry.name or f"argument {position}")
                device.write(buffer, value.array.tobytes())
                buffers.append((buffer, value))
                data = buffer.address.to_bytes(8, "little")
            else:
                data = bytes(8) if value is None else value.tobytes()
            if len(data) != entry.size:
                what = f"argument {position} ({entry.name or entry.kind}) of kernel '{kernel}'"
                raise error(
                    f"{what} has {entry.size} bytes, --arg={args.arg[position]} has {len(data)}", "RUN/005",
                    hint="a scalar of that size, value:FILE.npy for a structure, buffer:FILE.npy for a pointer",
                )  # fmt: skip
            kernarg[entry.offset : entry.offset + len(data)] = data
        outcome = device.launch(executable, kernel, groups, size, bytes(kernarg), args.dynamic_lds)
        document: dict[str, Any] = {
            "kernel": kernel,
            "device": device.identity(),
            "outcome": "faulted" if isinstance(outcome, Faulted) else "completed",
        }
        if outcome.counts is not None:
            document["counts"] = outcome.counts.to_json()
        if isinstance(outcome, Faulted):
            document["fault"] = outcome.fault.to_json()
        for buffer, value in buffers:
            if value.output:
                after = numpy.frombuffer(device.read(buffer), dtype=value.array.dtype).reshape(value.array.shape)
                _save(value.output, after)
    finally:
        device.close()
    if args.json:
        print_json(document)
    else:
        _print(document)
    return int(ExitCode.EVIDENCE_FAILED if isinstance(outcome, Faulted) else ExitCode.SUCCESS)


def _save(path: str, array: numpy.ndarray[Any, Any]) -> None:
    import numpy

    try:
        numpy.save(path, array, allow_pickle=False)
    except OSError as problem:
        raise error(f"cannot write '{path}': {problem.strerror}", "RUN/006") from None


def _print(document: dict[str, Any]) -> None:
    print(f"{document['kernel']}: {document['outcome']} on {document['device'].get('name', 'device')}")
    counts = document.get("counts")
    if counts:
        print(f"  waves         {counts['waves']}")
        print(f"  instructions  {counts['instructions']} ({counts['useful_instructions']} without waits and no-ops)")
        print("  by class      " + ", ".join(f"{k} {v}" for k, v in counts["by_class"].items()))
        for name, key in (("bytes read   ", "bytes_read"), ("bytes written", "bytes_written")):
            print(f"  {name} " + (", ".join(f"{k} {v}" for k, v in counts[key].items()) or "none"))
    fault = document.get("fault")
    if fault:
        print(f"  fault {fault['kind']}: {fault['message']}")
        for key in ("pc", "instruction", "workgroup", "wave", "lane", "address", "register", "nearest_buffer"):
            if fault[key] is not None:
                print(f"    {key.replace('_', ' ')}: {_shown(fault[key])}")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        freed = ", freed" if value["freed"] else ""
        return f"{value['name']}, {value['begin']} to {value['end']} ({value['size']} bytes{freed})"
    return str(value)
