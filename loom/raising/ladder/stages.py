"""The stages of a workload: which steps each takes, on which files, and what it reports.

A stage's document names the blobs it made and the records that made them; the next stage reads no file of another
stage but that.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loom.diagnostics import ExitCode, Location, LoomError, error
from loom.raising.inputs import shape_buffers
from loom.raising.ladder.rungs import LOW_RUNGS
from loom.raising.ladder.step import InputFile, Step, StepResult, by_bytes, by_meaning, run_step
from loom.store.canonical import canonical_json
from loom.store.config import Config
from loom.store.layout import Results
from loom.store.workload import Form, Workload

_RUN_ANSWERS = frozenset({int(ExitCode.SUCCESS), int(ExitCode.EVIDENCE_FAILED)})
_COMPILE_ANSWERS = frozenset({int(ExitCode.SUCCESS), int(ExitCode.BAD_INPUT)})


class Ladder:
    """The stages of one workload. Each method of a stage returns the stage's document."""

    def __init__(self, workload: Workload, results: Results, config: Config) -> None:
        self.workload = workload
        self.results = results
        self.config = config
        self._files: dict[str, str] = {}
        self._records: dict[str, str] = {}

    # Shared pieces

    def _run(self, step: Step) -> StepResult:
        result = run_step(self.results.store, step, self.workload.name, self.workload.identity)
        self._records[step.name] = result.id
        self._files.update(result.outputs)
        return result

    def _document(self, stage: str, form: str | None = None, **facts: Any) -> dict[str, Any]:
        document = {
            "schema": "loom.stage.v0",
            "stage": stage,
            "workload": self.workload.name,
            "identity": self.workload.identity,
            "form": form,
            "records": self._records,
            "files": self._files,
            **facts,
        }
        self._records, self._files = {}, {}
        return document

    def _blob(self, digest: str, origin: str) -> InputFile:
        return InputFile(self.results.store.blobs.get(digest), digest, origin)

    def _of_stage(self, stage: str, form: str | None, prefix: str) -> dict[str, InputFile]:
        """The files of a finished stage whose names start with ``prefix``, under the same names."""
        files = self.results.read_stage(self.workload.name, stage, form)["files"]
        return {
            name: self._blob(digest, f"{stage}:{name}") for name, digest in files.items() if name.startswith(prefix)
        }

    def workload_file(self, form: Form | None = None) -> InputFile:
        """``workload.yaml`` as a step sees it: canonical, the artifact beside it, and of the forms only the one it is
        about.

        So an edit of another form, a title or a comment changes no step.
        """
        document = dict(self.workload.document)
        document["title"] = document["name"]
        document["native"] = {**document["native"], "artifact": self.artifact_name, "sources": [], "provenance": "-"}
        document["forms"] = [entry for entry in document["forms"] if form is not None and entry["name"] == form.name]
        return by_bytes(canonical_json(document) + b"\n", "workload.yaml")

    @property
    def artifact_name(self) -> str:
        """The native artifact's file name within a step."""
        return "native" + self.workload.artifact.suffix

    def _native(self) -> InputFile:
        path = self.workload.artifact
        if not path.is_file():
            raise error(
                f"the native artifact '{path}' is absent", "LADDER/003", self.workload.place("native", "artifact")
            )
        return by_bytes(path.read_bytes(), self._origin(path.name))

    def _origin(self, name: str) -> str:
        return f"workloads/{self.workload.name}/{name}"

    def _input_files(self) -> dict[str, InputFile]:
        """Files that generators of kind ``file`` read."""
        files = {}
        for argument in self.workload.document["arguments"]:
            generate = argument.get("generate", {})
            if generate.get("kind") == "file":
                path = self.workload.folder / generate["path"]
                files[generate["path"]] = by_bytes(path.read_bytes(), self._origin(generate["path"]))
        return files

    def _execute(self, stage: str, name: str, code: InputFile, folder: str, form: Form | None = None) -> StepResult:
        command = (
            "loom-raise",
            "execute",
            f"{folder}.hsaco",
            "--workload=workload.yaml",
            *((f"--form={form.name}",) if form is not None else (f"--kernel={self.workload.kernel}",)),
            f"--device={self.config.device}",
            f"--output={folder}",
        )
        inputs = {f"{folder}.hsaco": code, "workload.yaml": self.workload_file(form), **self._input_files()}
        return self._run(
            Step(
                stage,
                name,
                command,
                inputs,
                (f"{folder}/",),
                answers=_RUN_ANSWERS,
                evidence_class="numerical",
                form=form.name if form is not None else None,
            )
        )

    def _compile_low(self, stage: str, name: str, low: InputFile) -> StepResult:
        command = (
            "loom-compile",
            f"{name}.loom",
            "--format=amdgpu-hsaco",
            f"--target={self.workload.target}",
            "--pipeline=none",
            f"--root=@{self.workload.kernel}",
            f"--output={name}.hsaco",
            "--artifact-manifest=details",
            f"--emit-artifact-manifest={name}.manifest.json",
        )
        outputs = (f"{name}.hsaco", f"{name}.manifest.json")
        return self._run(
            Step(stage, f"emit_{name}", command, {f"{name}.loom": low}, outputs, evidence_class="compiler")
        )

    def _lift(self, stage: str, name: str, *flags: str) -> StepResult:
        command = (
            "loom-raise",
            "lift",
            self.artifact_name,
            f"--kernel={self.workload.kernel}",
            "--workload=workload.yaml",
            *flags,
            f"--output={name}.loom",
        )
        inputs = {self.artifact_name: self._native(), "workload.yaml": self.workload_file()}
        return self._run(Step(stage, f"lift_{name}", command, inputs, (f"{name}.loom",), evidence_class="identity"))

    # Stages

    def capture(self) -> dict[str, Any]:
        """Record the native kernel and execute it on every shape."""
        native = self._native()
        command = (
            "loom-raise",
            "capture",
            self.artifact_name,
            f"--kernel={self.workload.kernel}",
            "--workload=workload.yaml",
            f"--device={self.config.device}",
            "--output=capture",
        )
        inputs = {self.artifact_name: native, "workload.yaml": self.workload_file(), **self._input_files()}
        self._run(Step("capture", "capture", command, inputs, ("capture/",), evidence_class="numerical"))
        result = self._execute("capture", "execute_native", native, "native")
        if result.exit_code:
            raise error(f"the native kernel faults on its own workload: {result.message}", "LADDER/004")
        self._files["native.hsaco"] = self.results.store.blobs.put(native.data)
        return self._document("capture")

    def oracle(self) -> dict[str, Any]:
        """Lift the native kernel, hold the result against the kept oracle, emit it, and run it in both ways."""
        lifted = self._lift("oracle", "oracle")
        text = self.results.store.blobs.get(lifted.outputs["oracle.loom"])
        self._hold_against_kept(text)
        self._compile_low("oracle", "oracle", by_meaning(text, "oracle.loom"))
        self._execute("oracle", "execute_oracle", self._blob(self._files["oracle.hsaco"], "oracle.hsaco"), "oracle")
        self._run_classic(text)
        return self._document("oracle")

    def lifted_oracle(self) -> bytes:
        """The oracle as lifting the native kernel gives it now, which is what is kept beside the workload."""
        return self.results.store.blobs.get(self._lift("oracle", "oracle").outputs["oracle.loom"])

    def _hold_against_kept(self, lifted: bytes) -> None:
        kept = self.workload.folder / "oracle.loom"
        again = (
            f"loom-raise lift {self.workload.artifact} --kernel={self.workload.kernel}"
            f" --workload={self.workload.path} --output={kept}"
        )
        if not kept.is_file():
            raise error(f"'{kept}' is absent", "LADDER/005", Location(str(kept)), hint=f"make it with: {again}")
        if kept.read_bytes() != lifted:
            mine, theirs = kept.read_bytes().split(b"\n"), lifted.split(b"\n")
            pairs = enumerate(zip(mine, theirs, strict=False))
            line = next((i for i, (a, b) in pairs if a != b), min(len(mine), len(theirs)))
            raise error(
                "the kept oracle is not what lifting the native kernel gives: edited, or the native kernel changed",
                "LADDER/006",
                Location(str(kept), line + 1, 1),
                hint=f"the oracle is generated, raised forms are edited; make it again with: {again}",
            )

    def _run_classic(self, oracle: bytes) -> None:
        """Run the oracle with ``iree-run-loom`` on the smallest shape, against the native kernel's results."""
        shape = min(self.workload.shapes, key=lambda item: sum(a.bytes for a in item.arguments if a.kind == "buffer"))
        native = self._of_stage("capture", None, f"native/outputs/{shape.name}.")
        flags, inputs = [], {"oracle.loom": by_meaning(oracle, "oracle.loom")}
        buffers = shape_buffers(self.workload, shape)
        expected = []
        for argument in shape.arguments:
            if argument.kind == "scalar":
                flags.append(f"--kernel-input-value={argument.type}={argument.value}")
            elif argument.kind == "buffer":
                element = f"i{argument.type[1:]}" if argument.type[0] == "u" else argument.type
                kind = "x".join([*map(str, argument.shape), element])
                name = f"{argument.name}.npy"
                inputs[name] = by_bytes(npy_bytes(argument.type, argument.shape, buffers[argument.name]), name)
                flags.append(f"--kernel-input-buffer={kind}=@{name}")
                after = native.get(f"native/outputs/{shape.name}.{argument.name}.bin")
                if after is None:
                    expected.append("--expected-kernel-buffer=(ignored)")
                else:
                    result = f"{argument.name}.expected.npy"
                    inputs[result] = by_bytes(npy_bytes(argument.type, argument.shape, after.data), result)
                    expected.append(f"--expected-kernel-buffer={kind}=@{result}")
            else:
                return  # a pointer that is never followed has no spelling there
        command = (
            "iree-run-loom",
            "oracle.loom",
            f"--device={self.config.device}",
            f"--function={self.workload.kernel}",
            "--pipeline=none",
            f"--workgroup-count={','.join(map(str, shape.launch.workgroups))}",
            *((f"--dynamic-lds={shape.launch.dynamic_lds}",) if shape.launch.dynamic_lds else ()),
            *flags,
            *expected,
        )
        self._run(Step("oracle", "run_classic", command, inputs, (), "classic.txt", evidence_class="numerical"))

    def relaxed(self) -> dict[str, Any]:
        """Free the oracle's allocation, then its schedule; emit and run both."""
        refused: dict[str, str] = {}
        for rung, flag in zip(LOW_RUNGS[1:], ("--relax=allocation", "--relax=schedule"), strict=True):
            lifted = self._lift("relaxed", rung, flag)
            text = self._blob(lifted.outputs[f"{rung}.loom"], f"{rung}.loom")
            self._compile_low("relaxed", rung, by_meaning(text.data, text.origin))
            result = self._execute(
                "relaxed", f"execute_{rung}", self._blob(self._files[f"{rung}.hsaco"], f"{rung}.hsaco"), rung
            )
            if result.exit_code:
                refused[rung] = result.message
        return self._document("relaxed", faults=refused)

    def raise_form(self, name: str) -> dict[str, Any]:
        """Compile a form with the default pipeline, run it on every shape, and run the cases beside its source."""
        form = self.workload.form(name)
        path = self.workload.folder / form.source
        if not path.is_file():
            raise error(f"the form's source '{path}' is absent", "LADDER/003", self.workload.place("forms"))
        source = by_meaning(path.read_bytes(), self._origin(form.source))
        self._check_launch(form, source.data, path)
        self._files["source.loom"] = self.results.store.blobs.put(source.data)
        settings = tuple(f"--config={key}={_config_text(value)}" for key, value in sorted(form.config.items()))
        compiled = self._run(
            Step(
                "raise",
                "compile",
                (*compile_command(form, self.workload), *settings),
                {"form.loom": source},
                ("form.hsaco", "form.report.json", "form.manifest.json"),
                answers=_COMPILE_ANSWERS,
                evidence_class="compiler",
                form=name,
            )
        )
        if compiled.exit_code:
            return self._document("raise", name, rejected=compiled.message, test=None)
        code = self._blob(compiled.outputs["form.hsaco"], "form.hsaco")
        self._execute("raise", "execute", code, "form", form)
        tested = self._run(
            Step(
                "raise",
                "test",
                (
                    "iree-test-loom",
                    "form.loom",
                    f"--device={self.config.device}",
                    f"--target={self.workload.target}",
                    *settings,
                ),
                {"form.loom": source},
                (),
                "test.json",
                answers=_RUN_ANSWERS,
                evidence_class="numerical",
                form=name,
            )
        )
        return self._document("raise", name, rejected=None, test=tested.exit_code == 0)

    def _check_launch(self, form: Form, data: bytes, path: Path) -> None:
        """Hold the form's launch against its source. A source that is no valid module is the compile step's to
        refuse."""
        import loom
        from loom.raising.ladder.geometry import check_launch

        try:
            module = loom.parse(data, str(path))
            loom.verify(module)
        except LoomError:
            return
        check_launch(self.workload, form, module)

    def evidence(self, rung: str, folder: str) -> dict[str, InputFile]:
        """A rung's evidence under another folder name; empty where it gave no program."""
        if rung == "native":
            files = self._of_stage("capture", None, "native/")
        elif rung in LOW_RUNGS:
            files = self._of_stage("oracle" if rung == "oracle" else "relaxed", None, f"{rung}/")
        else:
            files = self._of_stage("raise", rung, "form/")
        return {f"{folder}/{name.partition('/')[2]}": file for name, file in files.items()}

    def rungs(self) -> list[str]:
        """Every rung below the native kernel, from the bottom up."""
        return [*LOW_RUNGS, *(form.name for form in self.workload.forms)]

    def compare(self, rung: str) -> dict[str, Any]:
        """Compare a rung with the native kernel and with the rung before it."""
        rungs = self.rungs()
        position = rungs.index(rung)
        before = rungs[position - 1] if position else None
        inputs = {"workload.yaml": self.workload_file(), **self.evidence("native", "native")}
        candidate = self.evidence(rung, "form")
        inputs.update(candidate)
        flags = ["--native=native", f"--tolerance={self.config.tolerance:g}"]
        rejected = None
        if candidate:
            flags.append("--candidate=form")
        else:
            rejected = self.results.read_stage(self.workload.name, "raise", rung).get("rejected")
            flags.append(f"--rejected={rejected or 'the form gave no program'}")
        if before is not None:
            previous = self.evidence(before, "previous")
            inputs.update(previous)
            flags.append(f"--previous-form={before}")
            if previous:
                flags.append("--previous=previous")
        command = (
            "loom-raise",
            "compare",
            "--workload=workload.yaml",
            f"--form={rung}",
            *flags,
            "--output=comparison.json",
        )
        result = self._run(
            Step("compare", "compare", command, inputs, ("comparison.json",), answers=_RUN_ANSWERS, form=rung)
        )
        comparison = self._json(result.outputs["comparison.json"])
        return self._document("compare", rung, comparison=comparison)

    def _json(self, digest: str) -> dict[str, Any]:
        document = json.loads(self.results.store.blobs.get(digest))
        assert isinstance(document, dict)
        return document

    def benchmark(self, name: str) -> dict[str, Any]:
        """Run the benchmarks beside a source: their correctness gate, counts, and times where there is a clock."""
        form = self.workload.form(name)
        source = by_meaning((self.workload.folder / form.source).read_bytes(), self._origin(form.source))
        if self.results.read_stage(self.workload.name, "raise", name)["rejected"]:
            return self._document("benchmark", name, snapshot=None, reason="the form gave no program")
        measurement = self.config.document["measurement"]
        command = (
            "iree-benchmark-loom",
            "form.loom",
            f"--device={self.config.device}",
            f"--target={self.workload.target}",
            f"--measure={self.workload.document['timing_boundary']}",
            f"--warmup-iterations={measurement['warmup_iterations']}",
            f"--min-time-ms={measurement['min_time_ms']:g}",
            f"--max-batches={measurement['max_batches']}",
            *(f"--config={key}={_config_text(value)}" for key, value in sorted(form.config.items())),
            "--output=benchmark.json",
        )
        result = self._run(
            Step(
                "benchmark",
                "benchmark",
                command,
                {"form.loom": source},
                ("benchmark.json",),
                answers=_RUN_ANSWERS,
                evidence_class="physical" if self.config.device != "amdgpu-sim" else "compiler",
                form=name,
                exactly=self.config.device == "amdgpu-sim",
            )
        )
        snapshot = self._json(result.outputs["benchmark.json"]) if "benchmark.json" in result.outputs else None
        return self._document("benchmark", name, snapshot=snapshot, reason=result.message)

    def accept(self) -> dict[str, Any]:
        """Judge the last form."""
        inputs = {"workload.yaml": self.workload_file()}
        flags: list[str] = []
        form = self.workload.forms[-1] if self.workload.forms else None
        if form is not None:
            raised = self.results.read_stage(self.workload.name, "raise", form.name)
            compared = self.results.read_stage(self.workload.name, "compare", form.name)
            source = by_meaning(self.results.store.blobs.get(raised["files"]["source.loom"]), self._origin(form.source))
            inputs["form.loom"] = source
            inputs["comparison.json"] = self._blob(compared["files"]["comparison.json"], "comparison.json")
            flags = [f"--form={form.name}", "--source=form.loom", "--comparison=comparison.json"]
            if "test.json" in raised["files"]:
                inputs["test.json"] = self._blob(raised["files"]["test.json"], "test.json")
                flags.append("--test=test.json")
        command = ("loom-raise", "accept", "--workload=workload.yaml", *flags, "--output=acceptance.json")
        result = self._run(
            Step(
                "accept",
                "accept",
                command,
                inputs,
                ("acceptance.json",),
                answers=_RUN_ANSWERS,
                form=form.name if form else None,
            )
        )
        document = self._document("accept", None, acceptance=self._json(result.outputs["acceptance.json"]))
        return document

    def packet(self, rung: str) -> dict[str, Any]:
        """Pack a diverging form into five parts, or say that there is nothing to pack."""
        from loom.raising.packet.build import build_packet

        comparison = self.results.read_stage(self.workload.name, "compare", rung)["comparison"]
        refused = comparison["class"] == "unavailable" and not comparison["shapes"]
        if rung in LOW_RUNGS or not (refused or comparison["class"] == "semantic_divergence"):
            return self._document("packet", rung, packet=None)
        packet = build_packet(self, rung, comparison)
        self._files["packet.json"] = self.results.store.blobs.put(canonical_json(packet) + b"\n")
        return self._document("packet", rung, packet=packet)

    def run_step(self, step: Step) -> StepResult:
        """Run a step on behalf of a stage; its outputs and record join the stage's document."""
        return self._run(step)

    def stage_files(self, stage: str, form: str | None) -> Mapping[str, str]:
        """File name → blob of a finished stage."""
        files: Mapping[str, str] = self.results.read_stage(self.workload.name, stage, form)["files"]
        return files


def compile_command(form: Form, workload: Workload) -> tuple[str, ...]:
    """How a form is compiled: the default pipeline, and every kind of evidence that the compiler gives."""
    return (
        "loom-compile",
        "form.loom",
        "--format=amdgpu-hsaco",
        f"--target={workload.target}",
        "--pipeline=default",
        f"--root={form.root}",
        "--output=form.hsaco",
        "--compile-report=details",
        "--compile-report-output=form.report.json",
        "--artifact-manifest=details",
        "--emit-artifact-manifest=form.manifest.json",
    )


def _config_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def npy_bytes(element: str, shape: tuple[int, ...], data: bytes) -> bytes:
    """A buffer as a ``.npy`` file; ``bf16`` as its 16-bit patterns."""
    import numpy

    kind = "<u2" if element == "bf16" else f"<{element[0]}{int(element[1:]) // 8}"
    array = numpy.frombuffer(data, dtype=kind).reshape(shape)
    stream = io.BytesIO()
    numpy.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


#: Stage name → (needs a form, method). The order is that of the ladder.
STAGES: dict[str, tuple[bool, Callable[..., dict[str, Any]]]] = {
    "capture": (False, Ladder.capture),
    "oracle": (False, Ladder.oracle),
    "relaxed": (False, Ladder.relaxed),
    "raise": (True, Ladder.raise_form),
    "compare": (True, Ladder.compare),
    "packet": (True, Ladder.packet),
    "benchmark": (True, Ladder.benchmark),
    "accept": (False, Ladder.accept),
}
