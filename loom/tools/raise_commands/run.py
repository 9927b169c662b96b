"""``loom-raise run``: execute one kernel of a native artifact or of prepared Low on a device."""

from __future__ import annotations

import argparse
import io
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode, LoomError, error
from loom.tools.common import check_writable, naming, print_json, read_bytes, write_file
from loom.tools.launch_progress import launch_progress

if TYPE_CHECKING:
    import numpy

    from loom.device.protocol import KernelArgument, KernelInfo

HELP = """Execute a kernel on a device, the simulator included.

FILE is a code object, an offload bundle, a host program with device code, assembly text (.s) or prepared Low (.loom).
Give one --arg for each explicit argument, in order:
    --arg=buffer:IN.npy            a buffer with the file's values, little-endian and row by row
    --arg=buffer:IN.npy:OUT.npy    the same, and its contents afterwards are written to OUT.npy
    --arg=i32:5                    a number: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64, decimal or 0x…
                                   (0x… may set the sign bit: i32:0xffffffff is -1)
    --arg=value:IN.npy             the file's bytes as an argument passed by value: a structure or a vector
    --arg=null                     a null pointer
A pointer into dynamic LDS (``local`` in OpenCL) is u32: its offset.
Hidden arguments are filled as the kernel's metadata says.

Exit code 1: the kernel faulted; the fault names kernel, pc, instruction, wave, lane, address and the nearest buffer.
Files are written only when it ran to its end: OUT.npy keeps what it had otherwise."""

#: Scalar kind → bits.
_INTEGERS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}
#: Scalar kind → bytes, bit pattern of infinity.
_FLOATS = {"f16": (2, 0x7C00), "bf16": (2, 0x7F80), "f32": (4, 0x7F80_0000), "f64": (8, 0x7FF0_0000_0000_0000)}

_KERNEL_LIST_LIMIT = 20
#: ``e_type`` of an ELF file that a linker has not seen (ET_REL).
_RELOCATABLE = b"\x01\x00"


#: The longest number of a size that is read; more digits than these are no size.
_LONGEST_SIZE = 20


@dataclass(slots=True)
class Buffer:
    """A buffer argument: its contents, and the file that takes them afterwards."""

    array: numpy.ndarray[Any, Any]
    output: str | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("file", metavar="FILE", help="code object, bundle, assembly (.s) or prepared Low (.loom)")
    parser.add_argument("--kernel", metavar="NAME", help="the kernel (default: the only one)")
    parser.add_argument("--workgroups", required=True, metavar="X[,Y[,Z]]", help="number of workgroups")
    parser.add_argument("--workgroup-size", required=True, metavar="X[,Y[,Z]]", help="work items of a workgroup")
    parser.add_argument("--dynamic-lds", type=int, default=0, metavar="BYTES", help="LDS besides the static allocation")
    parser.add_argument("--arg", action="append", default=[], metavar="KIND:VALUE", help="an argument, in order")
    parser.add_argument("--device", default="amdgpu", metavar="NAME", help="device (default: amdgpu)")
    parser.add_argument(
        "--processor",
        metavar="NAME",
        help="processor of assembly text that does not name one, or of a bundle that has several",
    )
    parser.add_argument("--sanitizer", default="none", metavar="NAME", help="none, or race: LDS races between waves")
    parser.add_argument("--threads", type=int, metavar="N", help="host threads of the simulator")
    parser.add_argument("--budget", type=int, metavar="N", help="instructions that a wave may execute on the simulator")
    parser.add_argument("--json", action="store_true", help="print a JSON summary")


def _sizes(text: str, flag: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not 1 <= len(words) <= 3 or not all(w.isdecimal() and len(w) <= _LONGEST_SIZE and int(w) > 0 for w in words):
        shown = text if len(text) <= 80 else f"{text[:80]}…"
        raise error(
            f"{flag}: '{shown}' is not one to three positive numbers", "RUN/001", hint="for example 16 or 4,4,1"
        )
    return tuple(map(int, words))


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"


def parse_argument(text: str) -> Buffer | bytes:
    """One ``--arg``: a buffer, or the bytes of an argument passed by value, little-endian.

    Raises ``RUN/002`` (a file), ``RUN/003`` or ``BUFFER/002`` (a number).
    """
    kind, colon, value = text.partition(":")
    if text == "null":
        return bytes(8)
    if kind in ("buffer", "value"):
        source, named, target = value.partition(":") if kind == "buffer" else (value, "", "")
        if not source or (named and not target):
            raise error(f"--arg={text}: a file name is missing", "RUN/002", hint=f"for example {kind}:x.npy")
        array = _read_array(source, text)
        return Buffer(array, target or None) if kind == "buffer" else array.tobytes()
    if not colon or not (kind in _INTEGERS or kind in _FLOATS):
        known = ", ".join(["buffer", "value", *_INTEGERS, *_FLOATS])
        raise error(f"--arg={text}: unknown kind '{kind}'", "RUN/003", hint=f"KIND:VALUE with {known}; or null")
    return _float(kind, value, text) if kind in _FLOATS else _integer(kind, value, text)


def _read_array(path: str, text: str) -> numpy.ndarray[Any, Any]:
    from loom.store.npy import little_endian, read_npy

    try:
        with open(path, "rb") as stream:
            return little_endian(read_npy(stream))
    except OSError as problem:
        reason = f"cannot read '{path}': {problem.strerror or problem}"
    except MemoryError:
        reason = f"'{path}' does not fit in memory"
    except ValueError as problem:
        reason = f"'{path}': {problem}"
    raise error(f"--arg={text}: {reason}", "RUN/002", hint="give a .npy file: buffer:IN.npy or buffer:IN.npy:OUT.npy")


def _integer(kind: str, value: str, text: str) -> bytes:
    """Decimal numbers are values of the kind; hexadecimal ones may be its bit patterns."""
    bits = _INTEGERS[kind]
    try:
        number = int(value, 0)
    except ValueError:
        message = f"--arg={_cut(text)}: '{_cut(value)}' is no integer"
        raise error(message, "RUN/003", hint=f"for example {kind}:5") from None
    signed = kind[0] == "i"
    low = -(1 << bits - 1) if signed else 0
    pattern = value.strip().lower().startswith(("0x", "0b"))
    high = 1 << (bits - 1 if signed and not pattern else bits)
    if not low <= number < high:
        hint = f"{low} to {high - 1}" + ("; its bit pattern may be given as 0x…" if signed and not pattern else "")
        raise error(f"--arg={text}: {value} does not fit {kind}", "RUN/003", hint=hint)
    return (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")


def _float(kind: str, value: str, text: str) -> bytes:
    from loom.raising.buffers import parse_number

    size, infinity = _FLOATS[kind]
    pattern = parse_number(value, kind, f"--arg={text}")
    if pattern & ((1 << 8 * size - 1) - 1) == infinity and "inf" not in value.lower():
        raise error(f"--arg={text}: {value} does not fit {kind}", "RUN/003", hint=f"{kind}:inf is infinity")
    return pattern.to_bytes(size, "little")


def _options(args: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {"threads": args.threads, "budget": args.budget}
    if args.sanitizer not in ("none", ""):
        options["sanitizers"] = tuple(args.sanitizer.split("|"))
    return options


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.device.protocol import Faulted
    from loom.device.registry import open_device
    from loom.raising.capture.source import load_source

    groups = _sizes(args.workgroups, "--workgroups")
    size = _sizes(args.workgroup_size, "--workgroup-size")
    arguments = [parse_argument(text) for text in args.arg]
    _check_outputs([a.output for a in arguments if isinstance(a, Buffer) and a.output is not None])
    target = f"amdgpu:{args.processor}" if args.processor else None
    with naming(args.file):
        code = load_source(args.file, read_bytes(args.file), target).code_object
    if code[:4] == b"\x7fELF" and code[16:18] == _RELOCATABLE:
        raise error(f"'{args.file}' is not linked", "RUN/008", hint="'ld.lld -shared' makes a code object of it")
    device = open_device(args.device, lambda line: print(line, file=sys.stderr), **_options(args))
    try:
        with naming(args.file):
            executable = device.load(code)
        kernel = _choose_kernel(args.file, list(executable.kernels), args.kernel)
        info = executable.kernels[kernel]
        explicit = sorted((a for a in info.arguments if not a.kind.startswith("hidden_")), key=lambda a: a.offset)
        _check_layout(kernel, info, explicit)
        if len(explicit) != len(arguments):
            described = ", ".join(f"{a.name or a.kind} ({a.size} bytes)" for a in explicit)
            raise error(
                f"kernel '{kernel}' takes {len(explicit)} arguments, {len(arguments)} given", "RUN/005", hint=described
            )
        kernarg = bytearray(max((a.offset + a.size for a in explicit), default=0))
        buffers = []
        for position, (entry, value) in enumerate(zip(explicit, arguments, strict=True)):
            if isinstance(value, Buffer):
                buffer = device.allocate(value.array.nbytes, entry.name or f"argument {position}")
                device.write(buffer, value.array.tobytes())
                buffers.append((buffer, value))
                data = buffer.address.to_bytes(8, "little")
            else:
                data = value
            if len(data) != entry.size:
                what = f"argument {position} ({entry.name or entry.kind}) of kernel '{kernel}'"
                raise error(
                    f"{what} has {entry.size} bytes, --arg={args.arg[position]} has {len(data)}", "RUN/005",
                    hint="a scalar of that size, value:FILE.npy for a structure, buffer:FILE.npy for a pointer",
                )  # fmt: skip
            kernarg[entry.offset : entry.offset + len(data)] = data
        with launch_progress(device):
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
        failure = None
        for buffer, value in buffers:
            if value.output is None:
                continue
            if isinstance(outcome, Faulted):
                print(f"'{value.output}' is not written: the kernel faulted", file=sys.stderr)
                continue
            try:
                _save(value.output, device.read(buffer), value.array)
            except LoomError as problem:  # the launch may have taken long: its counts are reported all the same
                failure = failure or problem
    finally:
        device.close()
    if args.json:
        print_json(document)
    else:
        _print(document)
    if failure is not None:
        raise failure
    return int(ExitCode.EVIDENCE_FAILED if isinstance(outcome, Faulted) else ExitCode.SUCCESS)


def _choose_kernel(path: str, names: list[str], wanted: str | None) -> str:
    if wanted in names:
        return wanted
    if wanted is None and len(names) == 1:
        return names[0]
    if not names:
        problem = "has no kernel"
    else:
        problem = "has several kernels; choose one with --kernel" if wanted is None else f"has no kernel '{wanted}'"
    shown = ", ".join(names[:_KERNEL_LIST_LIMIT]) + (", …" if len(names) > _KERNEL_LIST_LIMIT else "")
    raise error(f"'{path}' {problem}", "RUN/004", hint=f"kernels: {shown}" if names else "is its metadata complete?")


def _check_layout(kernel: str, info: KernelInfo, explicit: list[KernelArgument]) -> None:
    """Refuse metadata that places arguments on top of each other or outside the segment."""
    end = 0
    for position, entry in enumerate(explicit):
        if not end <= entry.offset <= entry.offset + entry.size <= info.kernarg_size:
            place = f"bytes {entry.offset} to {entry.offset + entry.size}"
            raise error(
                f"argument {position} ({entry.name or entry.kind}) of kernel '{kernel}' lies at {place}: in another "
                f"argument, or outside the segment of {info.kernarg_size} bytes",
                "RUN/007",
                hint="correct .offset, .size or .kernarg_segment_size in the code object's metadata",
            )
        end = entry.offset + entry.size


def _check_outputs(paths: list[str]) -> None:
    """Refuse, before anything runs, a file that cannot be written or that two arguments would write."""
    for number, path in enumerate(paths):
        if any(os.path.realpath(path) == os.path.realpath(other) for other in paths[:number]):
            raise error(f"'{path}' is the output of two arguments", "RUN/006", hint="name a file for each")
        check_writable(path)


def _save(path: str, data: bytes, before: numpy.ndarray[Any, Any]) -> None:
    """Write a buffer's bytes as an array of the shape and type that it had."""
    import numpy

    stream = io.BytesIO()
    numpy.save(stream, numpy.frombuffer(data, dtype=before.dtype).reshape(before.shape), allow_pickle=False)
    write_file(path, stream.getbuffer())


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
