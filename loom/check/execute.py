"""Running one sample: values, then calls and launches, then expectations, then files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from loom.check import expect, generate
from loom.check.executor import Executor, LaunchRecord, Value
from loom.check.issues import Issue, from_defect, from_error
from loom.check.oracle import ORACLES, OracleError
from loom.check.plan import CasePlan, extra_attributes
from loom.check.requirements import host_memory_bytes
from loom.check.tensor import Tensor, from_npy_array, from_values, to_npy_array
from loom.diagnostics import LoomError
from loom.ir import FloatType, Operation, TensorType
from loom.ir import Value as SsaValue
from loom.reference.formats import Array, ElementFormat, parse_number
from loom.store.npy import read_npy

_POISON = "a launch stored what an operation without a defined result gave: a division by zero, a wide shift, …"


class ValueFailure(Exception):
    """A value source that cannot give its value."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issue = issue


@dataclass(slots=True)
class SampleResult:
    """What a sample left: its parameter values, issues (none: it passed), and launches in order."""

    case: str
    ordinal: int
    parameters: dict[str, Any]
    issues: list[Issue] = field(default_factory=list)
    launches: list[LaunchRecord] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.issues

    def to_json(self) -> dict[str, Any]:
        """The sample as ``loom.test.v0`` has it."""
        return {
            "case": self.case,
            "sample_ordinal": self.ordinal,
            **self.extra,
            "passed": self.passed,
            "parameters": self.parameters,
            "issues": [issue.to_json() for issue in self.issues],
        }


@dataclass(slots=True)
class Files:
    """Where ``check.file`` paths lead: ``inputs`` is the source's folder, ``outputs`` where written files go."""

    inputs: Path
    outputs: Path


class Scope:
    """The values of one sample (or trial), and how check ops compute them."""

    def __init__(self, executor: Executor, files: Files, config: Mapping[str, Any], module: Any) -> None:
        from loom.reference.execution import HOST_GEOMETRY, Batch, Frame, Interpreter

        self.executor = executor
        self.files = files
        self.values: dict[SsaValue, Any] = {}
        self.interpreter = Interpreter(module, config)
        self.frame = Frame(Batch(HOST_GEOMETRY, 0, 1, 1), "check")
        self.launches: list[LaunchRecord] = []

    # --- values -------------------------------------------------------------------------------------------------------

    def set(self, name: SsaValue, value: Value) -> None:
        """Define a value."""
        self.values[name] = value
        if isinstance(value, np.ndarray):
            self.frame.values[name] = value

    def lookup(self, name: SsaValue, role: str) -> Value:
        """The value an expectation sees as its ``actual`` or ``expected`` operand."""
        return self.values[name]

    def known(self, name: SsaValue) -> bool:
        """Whether the value exists; results of a call that failed do not."""
        return name in self.values

    def number(self, name: SsaValue) -> Any:
        """A scalar value as a Python number."""
        return self.values[name].ravel()[0].item()

    def shape_of(self, op: Operation, type_: TensorType) -> tuple[int, ...]:
        """The extents of a tensor type; a negative dynamic extent is a failure."""
        dims = []
        for dim in type_.dims:
            extent = dim if isinstance(dim, int) else int(self.number(dim))
            if extent < 0:
                raise ValueFailure(
                    Issue("generation", "CHECK/020", f"extent {extent} of a tensor is negative", op.location)
                )
            dims.append(extent)
        return tuple(dims)

    def evaluate(self, op: Operation) -> None:
        """Compute a value source. Raises :class:`ValueFailure`."""
        result = op.results[0]
        name = result.name or ""
        attributes: Mapping[str, Any] = op.attributes
        if op.name == "check.literal":
            self.set(result, parse_number(attributes["value"], _form(result)).reshape(1))
        elif op.name.startswith("check.generate."):
            shape = self.shape_of(op, _tensor_type(result))
            form = _form(result)
            count = self._count_of(op, shape, form)
            try:
                elements = self._generate(op, form, count)
            except (generate.GeneratorError, OverflowError) as problem:
                raise ValueFailure(Issue("generation", "CHECK/021", f"{op.name}: {problem}", op.location)) from None
            except MemoryError:
                raise ValueFailure(_too_large(op, count)) from None
            self.set(result, from_values(elements.reshape(shape), form, name))
        elif op.name == "check.tensor.view":
            self.set(result, self._tensor_view(op))
        elif op.name == "check.file.read.npy":
            self.set(result, self._read(op))
        else:
            self._host(op)

    def _count_of(self, op: Operation, shape: tuple[int, ...], form: ElementFormat) -> int:
        """Elements of a shape, exactly; more than this machine's memory holds are a failure before one is made."""
        count = math.prod(shape)
        if count * form.bytes > host_memory_bytes():
            raise ValueFailure(_too_large(op, count))
        return count

    def _generate(self, op: Operation, form: ElementFormat, count: int) -> Array:
        attributes: Mapping[str, Any] = op.attributes
        if op.name == "check.generate.fill":
            return generate.fill(count, form, attributes["value"])
        if op.name == "check.generate.iota":
            return generate.iota(count, form, attributes["offset"], attributes["step"], attributes.get("period"))
        seed = int(self.number(op.operands[0]))
        return generate.random_uniform(count, form, seed, attributes["lower"], attributes["upper"])

    def _tensor_view(self, op: Operation) -> Tensor:
        base: Tensor = self.values[op.operands[0]]
        result = op.results[0]
        shape, form = self.shape_of(op, _tensor_type(result)), _form(result)
        offset: Any = op.attributes["offset"]
        size = math.prod(shape) * form.bytes
        if offset + size > base.size:
            raise ValueFailure(
                Issue(
                    "generation",
                    "CHECK/023",
                    f"a view of {size} bytes at byte {offset} does not fit in the tensor's {base.size} bytes",
                    op.location,
                )
            )
        if offset % form.bytes:
            raise ValueFailure(
                Issue(
                    "generation", "CHECK/023", f"byte {offset} is not aligned to elements of {form.name}", op.location
                )
            )
        return Tensor(base.storage, shape, form, base.offset + offset, result.name or "")

    def _read(self, op: Operation) -> Tensor:
        result = op.results[0]
        shape, form = self.shape_of(op, _tensor_type(result)), _form(result)
        path = self.files.inputs / str(op.attributes["path"])
        try:
            with path.open("rb") as stream:
                array = read_npy(stream)
            tensor = from_npy_array(array, form, result.name or "")
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise ValueFailure(Issue("file", "CHECK/024", f"cannot read '{path}': {reason}", op.location)) from None
        except MemoryError:
            raise ValueFailure(Issue("file", "CHECK/025", f"'{path}' does not fit in memory", op.location)) from None
        except ValueError as problem:
            raise ValueFailure(Issue("file", "CHECK/025", f"'{path}': {problem}", op.location)) from None
        if tensor.shape != shape:
            raise ValueFailure(
                Issue("file", "CHECK/025", f"'{path}' has shape {list(tensor.shape)}, not {list(shape)}", op.location)
            )
        return tensor

    def _host(self, op: Operation) -> None:
        """A scalar op of another dialect, evaluated by the interpreter on the host."""
        from loom.reference.execution import HANDLERS

        handler = HANDLERS.get(op.name)
        if handler is None:
            raise ValueFailure(Issue("planning", "CHECK/001", f"'{op.name}' cannot be evaluated here", op.location))
        try:
            handler(self.interpreter, self.frame, op, None)
        except LoomError as failure:
            raise ValueFailure(from_error(failure, "generation", op.location)[0]) from None
        for result in op.results:
            if result in self.frame.poison:
                raise ValueFailure(Issue("generation", "CHECK/026", f"{op.name}: the result is undefined", op.location))
            self.values[result] = self.frame.values[result]

    # --- actions ------------------------------------------------------------------------------------------------------

    def act(self, op: Operation) -> None:
        """Perform a launch, a call or an oracle call. Raises :class:`LoomError` or :class:`ValueFailure`."""
        if op.name == "kernel.launch":
            workload = [self.values[value] for value in op.operand_group("workload")]
            arguments = [self.values[value] for value in op.operand_group("arguments")]
            self.launches.append(self.executor.launch(op, workload, arguments))
        elif op.name == "func.call":
            arguments = [self.values[value] for value in op.operand_group("arguments")]
            results = self.executor.call(op, str(op.attributes["callee"]), arguments)
            for name, value in zip(op.results, results, strict=True):
                self.set(name, value)
        else:
            self._oracle(op)

    def _oracle(self, op: Operation) -> None:
        provider = str(op.attributes["provider"])
        function = ORACLES.get(provider)
        if function is None:
            raise ValueFailure(
                Issue(
                    "planning",
                    "CHECK/030",
                    f"no oracle '{provider}'",
                    op.location,
                    f"oracles: {', '.join(sorted(ORACLES))}",
                )
            )
        inputs = [self.values[value] for value in op.operand_group("inputs")]
        for name, value in zip(op.operand_group("inputs"), inputs, strict=True):
            undefined = _undefined(op, name, value)
            if undefined is not None:
                raise ValueFailure(undefined)
        if len(op.results) != 1 or not isinstance(op.results[0].type, TensorType):
            raise ValueFailure(Issue("planning", "CHECK/031", f"{provider} gives one tensor", op.location))
        try:
            produced = function(extra_attributes(op), inputs, _form(op.results[0]))
        except OracleError as problem:
            raise ValueFailure(Issue("planning", "CHECK/031", f"{provider}: {problem}", op.location)) from None
        wanted = self.shape_of(op, _tensor_type(op.results[0]))
        if produced.shape != wanted:
            raise ValueFailure(
                Issue("planning", "CHECK/031", f"{provider} gives shape {produced.shape}, not {wanted}", op.location)
            )
        self.set(op.results[0], produced)

    # --- expectations -------------------------------------------------------------------------------------------------

    def expectation(self, op: Operation) -> Issue | None:
        """Evaluate an expectation; None where it holds."""
        if op.name == "check.expect.event":
            return self._event(op)
        if op.name == "check.expect.shape":
            tensor: Tensor = self.lookup(op.operand("value"), "actual")
            wanted = tuple(
                entry if isinstance(entry, int) else int(self.number(entry)) for entry in op.index_list("dims")
            )
            return _failed(op, expect.shape(tensor.shape, wanted))
        actual_name, expected_name = op.operand("actual"), op.operand("expected")
        for name in (actual_name, expected_name):
            if not self.known(name):
                return Issue(
                    "expectation", "CHECK/041", f"%{name.name} has no value: the call that gives it failed", op.location
                )
        actual, expected = self.lookup(actual_name, "actual"), self.lookup(expected_name, "expected")
        form = _form(actual_name)
        for name, value in ((actual_name, actual), (expected_name, expected)):
            undefined = _undefined(op, name, value)
            if undefined is not None:
                return undefined
        return self._compare(op, _array(actual), _array(expected), form)

    def _compare(self, op: Operation, actual: Array, expected: Array, form: ElementFormat) -> Issue | None:
        attributes: Mapping[str, Any] = op.attributes
        if op.name == "check.expect.equal":
            return _failed(op, expect.equal(actual, expected, form))
        if op.name == "check.expect.bitwise":
            return _failed(op, expect.bitwise(actual, expected, form))
        if op.name == "check.expect.close":
            if not form.is_float:
                return Issue(
                    "planning", "CHECK/043", f"check.expect.close compares floats, not {form.name}", op.location
                )
            outcome = expect.close(
                actual, expected, form, float(attributes["atol"]), float(attributes["rtol"]), str(attributes["nan"])
            )
            return _failed(op, outcome)
        provider, extra = str(attributes["provider"]), extra_attributes(op)
        function = expect.PROVIDERS.get(provider)
        if function is None:
            known = ", ".join(sorted(expect.PROVIDERS))
            return Issue(
                "planning", "CHECK/044", f"no expectation provider '{provider}'", op.location, f"providers: {known}"
            )
        try:
            return _failed(op, function(actual, expected, form, extra))
        except (KeyError, ValueError, TypeError) as problem:
            return Issue("planning", "CHECK/044", f"{provider}: bad attributes ({problem})", op.location)

    def _event(self, op: Operation) -> Issue | None:
        kind = str(op.attributes["type"])
        wanted: Any = op.attributes["count"]
        seen = self.executor.events.get(kind, 0)
        if seen == wanted:
            return None
        return Issue(
            "expectation",
            "CHECK/045",
            f"{seen} device events of type '{kind}', expected {wanted}",
            op.location,
            None,
            {"actual_count": seen, "expected_count": wanted, "type": kind},
        )

    def write(self, op: Operation, failed: bool) -> Issue | None:
        """Write a tensor to its file, always or only where the sample failed."""
        if str(op.attributes.get("mode") or "always") == "on_failure" and not failed:
            return None
        name = op.operand("value")
        if name not in self.values:
            return None
        path = self.files.outputs / str(op.attributes["path"])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(path.name + ".tmp")
            with open(temporary, "wb") as stream:
                np.save(stream, to_npy_array(self.values[name]))
            temporary.replace(path)
        except OSError as problem:
            return Issue("file", "CHECK/027", f"cannot write '{path}': {problem.strerror or problem}", op.location)
        return None


def _too_large(op: Operation, count: int) -> Issue:
    return Issue("generation", "CHECK/022", f"{op.name}: {count} elements do not fit in memory", op.location)


def _form(value: SsaValue) -> ElementFormat:
    from loom.reference.execution import form_of

    return form_of(value.type)


def _tensor_type(value: SsaValue) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _array(value: Value) -> Array:
    array: Array = (
        value.values if isinstance(value, Tensor) else value.reshape(value.shape[1:] if value.ndim > 1 else ())
    )
    return array


def _undefined(op: Operation, name: SsaValue, value: Value) -> Issue | None:
    """The issue of reading a tensor that has poison elements; None where it has none."""
    undefined = value.undefined if isinstance(value, Tensor) else None
    if undefined is None:
        return None
    first = [[int(i) for i in place] for place in np.argwhere(undefined)[: expect.FIRST_DIFFERENCES]]
    details = {"undefined_element_count": int(undefined.sum()), "first_undefined": first}
    message = f"%{name.name}: {int(undefined.sum())} of {undefined.size} elements are undefined (poison)"
    return Issue("expectation", "CHECK/042", message, op.location, _POISON, details)


def _failed(op: Operation, failure: expect.Failure | None) -> Issue | None:
    if failure is None:
        return None
    reason = str(failure.get("reason", "mismatch"))
    if "failed_element_count" in failure:
        first = failure["first_differences"][0]
        place = f" at {first['index']}" if first["index"] else ""
        message = (
            f"{op.name}: {failure['failed_element_count']} of {failure['element_count']} elements differ; "
            f"first{place}: actual {first['actual']}, expected {first['expected']}"
        )
    else:
        message = f"{op.name}: shape {failure['actual_shape']}, expected {failure['expected_shape']}"
    return Issue("expectation", "CHECK/040", message, op.location, None, {**failure, "reason": reason})


def parameter_values(plan: CasePlan, values: Sequence[Any]) -> dict[str, Any]:
    """Parameter names with a sample's values."""
    return {
        parameter.label: expect.json_number(value) for parameter, value in zip(plan.parameters, values, strict=True)
    }


def run_sample(
    plan: CasePlan,
    ordinal: int,
    values: Sequence[Any],
    executor: Executor,
    files: Files,
    config: Mapping[str, Any],
    module: Any,
) -> SampleResult:
    """Run one sample to its end; every problem becomes an issue, and every expectation is evaluated."""
    result = SampleResult(plan.name, ordinal, parameter_values(plan, values))
    scope = Scope(executor, files, config, module)
    executor.events.clear()
    # A finding of a kind that the case expects is counted; any other one fails the sample (see record_event).
    for op in plan.expectations:
        if op.name == "check.expect.event":
            executor.events[str(op.attributes["type"])] = 0
    if not prepare(scope, plan, values, result.issues):
        return result
    done = all(attempt(partial(scope.act, op), op, result.issues) for op in plan.actions)
    result.launches = scope.launches
    if done:
        for op in plan.expectations:
            attempt(partial(scope.expectation, op), op, result.issues)
    for op in plan.outputs:
        attempt(partial(scope.write, op, bool(result.issues)), op, result.issues)
    return result


def attempt(step: Callable[[], Issue | None], op: Operation, issues: list[Issue]) -> bool:
    """Take one step of a sample; what it reports, and whatever stops it, becomes issues. Whether there were none."""
    before = len(issues)
    try:
        issue = step()
        if issue is not None:
            issues.append(issue)
    except ValueFailure as failure:
        issues.append(failure.issue)
    except LoomError as failure:
        issues.extend(from_error(failure, kind_of(failure), op.location))
    except Exception as failure:
        issues.append(from_defect(failure, op.location))
    return len(issues) == before


def prepare(scope: Scope, plan: CasePlan, values: Sequence[Any], issues: list[Issue]) -> bool:
    """Bind the parameters and compute all value sources in source order; False where one failed."""
    bound = dict(zip((parameter.op for parameter in plan.parameters), values, strict=True))
    for op, value in bound.items():
        name = op.results[0]
        number = float(value) if isinstance(name.type, FloatType) else value
        scope.set(name, parse_number(number, _form(name)).reshape(1))
    return all(attempt(partial(scope.evaluate, op), op, issues) for op in plan.values)


def kind_of(failure: LoomError) -> str:
    """Whether a failed launch was refused by the compiler or went wrong as it ran."""
    code = failure.diagnostics[0].code
    group = code.split("/", 1)[0]
    if group in ("REFERENCE", "DEVICE", "FAULT", "SIMULATOR"):
        return "execution"
    return "planning" if group == "CHECK" else "compile"
