from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from loom.diagnostics import ExitCode, Location, LoomError, error
from loom.tools.common import (
    Progress,
    check_writable,
    make_parser,
    naming,
    print_json,
    read_text,
    run_tool,
    write_file,
    write_output,
)


def test_a_loom_error_is_rendered_and_gives_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: Sequence[str]) -> int:
        raise error("no device", "DEVICE/001", hint="plug one in", exit_code=ExitCode.UNAVAILABLE)

    assert run_tool(body, []) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: no device [DEVICE/001]\n  hint: plug one in\n"


def test_diagnostics_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: Sequence[str]) -> int:
        raise error("no device", "DEVICE/001")

    for argv in (["--diagnostic-format=json"], ["--diagnostic-format", "json"]):
        assert run_tool(body, argv) == 2
        document = json.loads(capsys.readouterr().err)
        assert document["diagnostics"][0]["code"] == "DEVICE/001"


def test_a_usage_error_is_a_diagnostic_with_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    def body(argv: Sequence[str]) -> int:
        make_parser("loom-x", "x").parse_args(argv)
        return 0

    assert run_tool(body, ["--nonsense"]) == 2
    assert "TOOL/001" in capsys.readouterr().err
    assert run_tool(body, ["--help"]) == 0


def test_an_internal_error_is_one_line_unless_debugging(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def body(_: Sequence[str]) -> int:
        raise KeyError("surprise")

    monkeypatch.delenv("LOOM_DEBUG", raising=False)
    assert run_tool(body, []) == 4
    err = capsys.readouterr().err
    assert err.startswith("error: internal error: KeyError: 'surprise' [INTERNAL/001]\n")
    assert "Traceback" not in err
    monkeypatch.setenv("LOOM_DEBUG", "1")
    assert run_tool(body, []) == 4
    assert "Traceback" in capsys.readouterr().err


def test_too_little_memory_is_no_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    def body(_: Sequence[str]) -> int:
        return len(bytearray(1 << 62))

    assert run_tool(body, []) == 3
    assert capsys.readouterr().err.startswith("error: there is not enough memory")


def test_interrupts_and_missing_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def interrupted(_: Sequence[str]) -> int:
        raise KeyboardInterrupt

    def missing(_: Sequence[str]) -> int:
        open(tmp_path / "no")  # noqa: SIM115
        return 0

    assert run_tool(interrupted, []) == 130
    assert run_tool(missing, []) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error() -> None:
    script = (
        "import sys\nfrom loom.tools.common import run_tool\n"
        "def body(argv):\n    for i in range(100000): print('x' * 80)\n    return 0\n"
        "sys.exit(run_tool(body, []))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait() == 0
    assert err == b""


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.loom"
    path.write_bytes(b"one\ntwo\n\xff\n")
    with pytest.raises(Exception) as failure:
        read_text(str(path))
    assert "0xff" in str(failure.value)
    assert failure.value.diagnostics[0].location.line == 3  # type: ignore[attr-defined]


def test_output_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    write_output(str(path), "old")

    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr("loom.tools.common.os.replace", fail)
        with pytest.raises(Exception, match="No space left"):
            write_output(str(path), "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(Exception, match="cannot write"):
        write_output("/proc/no/such/place", "x")


def test_json_goes_to_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"b": 1, "a": [1, 2]})
    out, err = capsys.readouterr()
    assert json.loads(out) == {"b": 1, "a": [1, 2]}
    assert err == ""
    with pytest.raises(ValueError):
        print_json({"x": float("nan")})


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(3, "jobs") as progress:
        progress.update(1, "x")
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("write", ["print('x' * 80)", "write_output(None, b'x' * 80)", "print_json({'x': 1})"])
def test_a_full_disk_behind_stdout_is_said_so(write: str) -> None:
    script = (
        "import sys\nfrom loom.tools.common import print_json, run_tool, write_output\n"
        f"def body(argv):\n    {write}\n    return 0\n"
        "sys.exit(run_tool(body, []))\n"
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write the output: No space left on device [TOOL/004]")
    assert "Exception ignored" not in done.stderr


def test_an_interrupt_is_the_system_s_while_a_tool_runs() -> None:
    """Compiled code does not look at Python's signals, so the process has to end without them."""
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def body(_: Sequence[str]) -> int:
        seen.append(signal.getsignal(signal.SIGINT))
        raise ValueError("anything")

    assert run_tool(body, []) == 4
    assert signal.getsignal(signal.SIGINT) is before
    assert seen == [signal.SIG_DFL if before is signal.default_int_handler else before]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a background job of a shell
    try:
        assert run_tool(body, []) == 4
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen[1] == signal.SIG_IGN


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")

    def full(self: Path, data: bytes) -> int:
        with open(self, "wb") as stream:
            stream.write(data[:2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(LoomError, match="No space left"):
            write_file(str(target), b"new contents")
    assert target.read_bytes() == b"old" and os.listdir(tmp_path) == ["out"]
    with pytest.raises(LoomError, match="is no folder"):
        write_file(str(target / "below"), b"x")
    write_file(str(target), b"new contents")
    assert target.read_bytes() == b"new contents"


def test_what_cannot_be_written_is_known_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for good in ("file", "new", "new/folder/file"):
        check_writable(str(tmp_path / good))
    for bad in ("", "file/below", "file/below/further"):
        with pytest.raises(LoomError) as caught:
            check_writable(str(tmp_path / bad))
        assert caught.value.diagnostics[0].code == "TOOL/004"
    assert os.listdir(tmp_path) == ["file"]


def test_errors_without_a_place_get_the_file() -> None:
    with pytest.raises(LoomError) as caught, naming("k.hsaco"):
        raise error("damaged", "DEVICE/020", exit_code=ExitCode.UNAVAILABLE)
    assert caught.value.exit_code is ExitCode.UNAVAILABLE
    assert caught.value.diagnostics[0].location == Location("k.hsaco")
    with pytest.raises(LoomError) as caught, naming("k.s"):
        raise error("wrong", "ASM/003", Location("other.s", 3, 1))
    assert caught.value.diagnostics[0].location == Location("other.s", 3, 1)
