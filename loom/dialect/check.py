"""The check dialect: cases, scenarios and benchmarks."""

from __future__ import annotations

from loom.dialect.common import (
    CHECK_VALUE,
    ENTROPY,
    INDEX_ONLY,
    SCALAR,
    TENSOR,
    WORD64,
    attribute,
    define,
    group,
    indices,
    integer,
    one,
    region,
    result,
    results,
    word,
)
from loom.dialect.rules import checks, values
from loom.ir import I64, OpaqueType

_ENTROPY = OpaqueType("check.entropy")
_NAME = attribute("name", "string", optional=True)
_EXTRA = attribute("attributes", "extra", optional=True)
_RETURN = ("check.return",)

define(
    "check.case",
    "A",
    "A test: parameters, values, launches and expectations.",
    "(? $public?) $sym_name &body",
    attributes=(attribute("public", "keyword", optional=True), attribute("sym_name", "symbol_name")),
    regions=(region("body", _RETURN, isolated=True),),
    traits="symbol module_level check_scope",
    verify=checks.check_case,
    example="check.case public @empty {\n  check.return\n}",
)
define(
    "check.scenario",
    "A",
    "A set of randomized trials, repeated for each configuration.",
    "(? $public?) $sym_name(? configure[$configurations]!arguments(body)?) &body",
    attributes=(
        attribute("public", "keyword", optional=True),
        attribute("sym_name", "symbol_name"),
        integer("configurations", optional=True, minimum=1),
    ),
    regions=(region("body", _RETURN, isolated=True),),
    traits="symbol module_level check_scope",
    verify=checks.scenario,
)
define(
    "check.trial",
    "A",
    "Runs its body for trial = 0 … N-1, with entropy of its own.",
    "[$count]!arguments(body) &body",
    attributes=(integer("count", minimum=1),),
    regions=(region("body", ("check.compare", "check.invoke")),),
    parents=("check.scenario",),
    verify=checks.trial,
)
define(
    "check.compare",
    "A",
    "Runs a function on the target and its oracle on the reference executor, then evaluates the expectations.",
    "<$target(?, $oracle?)>(%arguments) : (~arguments) -> !compare_results &body",
    operands=(group("arguments"),),
    attributes=(
        attribute("target", "symbol"),
        attribute("oracle", "symbol", optional=True),
        attribute("bindings", "words", optional=True),
    ),
    regions=(region("body", _RETURN, implicit="check.return"),),
    traits="terminator call",
    parents=("check.trial",),
    verify=checks.compare,
)
define(
    "check.invoke",
    "B",
    "Runs a function on the target.",
    "<$target>(%arguments) : (~arguments) -> (~results)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(attribute("target", "symbol"),),
    traits="terminator call",
    parents=("check.trial",),
)
define(
    "check.return",
    "A",
    "Ends a case, a scenario or the expectations of a comparison.",
    "",
    traits="terminator",
    parents=("check.case", "check.scenario", "check.compare"),
    example="check.return",
)
define(
    "check.requires",
    "A",
    "Skips the case unless the provider says that the requirement is met.",
    "<$provider> {}",
    attributes=(attribute("provider", "bare"), _EXTRA),
    traits="check",
    example="check.requires<device.memory> {max_bytes = 1024}",
)
define(
    "check.skip_if",
    "B",
    "Skips the case when the provider says that the predicate matches.",
    "<$provider> {}(? reason($reason)?)",
    attributes=(attribute("provider", "bare"), _EXTRA, attribute("reason", "string", optional=True)),
    traits="check",
    example='check.skip_if<target.feature> {name = "wave64"} reason("one wave only")',
)
define(
    "check.param.choice",
    "A",
    "A parameter that takes the listed values in order.",
    " values($values)(? name($name)?) : ~result",
    results=(result("result", SCALAR),),
    attributes=(attribute("values", "numbers"), _NAME),
    traits="check parameter",
    verify=checks.choice,
    example='%n = check.param.choice values([1, 2, 3]) name("n") : index',
)
define(
    "check.param.range",
    "A",
    "A parameter that takes the values lo, lo + step, … up to hi, or the powers of two in [lo, hi].",
    " $mode bounds($lower to $upper)(? step($step)?)(? name($name)?) : ~result",
    results=(result("result", SCALAR),),
    attributes=(
        word("mode", ("linear", "po2")),
        attribute("lower", "number"),
        attribute("upper", "number"),
        attribute("step", "number", optional=True),
        _NAME,
    ),
    traits="check parameter",
    verify=checks.parameter_range,
    example='%n = check.param.range po2 bounds(1 to 64) name("n") : index',
)
define(
    "check.param.seed",
    "A",
    "A parameter that takes the values base, base + 1, …, base + count - 1.",
    " base($base) count($count)(? name($name)?) : ~result",
    results=(result("result", WORD64, I64),),
    attributes=(attribute("base", "int"), integer("count", minimum=1), _NAME),
    traits="check parameter",
    example='%s = check.param.seed base(7) count(3) name("seed") : i64',
)
define(
    "check.literal",
    "A",
    "A scalar value.",
    " value($value) : ~result",
    results=(result("result", SCALAR),),
    attributes=(attribute("value", "number"),),
    traits="check pure",
    verify=values.scalar_constant,
    example="%v = check.literal value(1.5) : f32",
)
define(
    "check.generate.fill",
    "A",
    "A tensor with one value in every element.",
    " value($value) : ~result",
    results=(result("result", TENSOR),),
    attributes=(attribute("value", "number"),),
    traits="check",
    verify=values.scalar_constant,
    example="%t = check.generate.fill value(1.5) : tensor<4xf32>",
)
define(
    "check.generate.iota",
    "A",
    "Element i = offset + (i mod period) * step; without a period offset + i * step.",
    " offset($offset) step($step)(? period($period)?) : ~result",
    results=(result("result", TENSOR),),
    attributes=(
        attribute("offset", "number"),
        attribute("step", "number"),
        integer("period", optional=True, minimum=1),
    ),
    traits="check",
    verify=checks.iota,
    example="%t = check.generate.iota offset(0) step(1) period(4) : tensor<16xi32>",
)
define(
    "check.generate.random.uniform",
    "A",
    "Uniform random elements: integers in [lo, hi], floats in [lo, hi).",
    " seed(%seed) range($lower to $upper) : ~result",
    operands=(one("seed", WORD64),),
    results=(result("result", TENSOR),),
    attributes=(attribute("lower", "number"), attribute("upper", "number")),
    traits="check",
    verify=checks.uniform,
    example="%t = check.generate.random.uniform seed(%s) range(-1.0 to 1.0) : tensor<16xf32>",
)
define(
    "check.tensor.view",
    "A",
    "A part of a tensor's storage, from a byte offset on, as another tensor.",
    " %tensor offset($offset) : ~tensor -> ~result",
    operands=(one("tensor", TENSOR),),
    results=(result("result", TENSOR),),
    attributes=(integer("offset", minimum=0),),
    traits="check",
    verify=checks.tensor_view,
    example="%u = check.tensor.view %t offset(16) : tensor<16xf32> -> tensor<4xf32>",
)
define(
    "check.file.read.npy",
    "B",
    "A tensor from a file.",
    " path($path) : ~result",
    results=(result("result", TENSOR),),
    attributes=(attribute("path", "string"),),
    traits="check",
    example='%t = check.file.read.npy path("golden.npy") : tensor<16xf32>',
)
define(
    "check.file.write.npy",
    "B",
    "Writes a tensor to a file after the launches.",
    " value(%value) path($path)(? mode($mode)?) : ~value",
    operands=(one("value", TENSOR),),
    attributes=(attribute("path", "string"), word("mode", ("always", "on_failure"), optional=True)),
    traits="check",
    example='check.file.write.npy value(%t) path("out.npy") mode(on_failure) : tensor<16xf32>',
)
define(
    "check.oracle.call",
    "B",
    "Values computed by an oracle of the test runner.",
    "<$provider>(? {}?) callee($callee) inputs(%inputs) : (~inputs) -> (~results)",
    operands=(group("inputs"),),
    results=(results(),),
    attributes=(attribute("provider", "bare"), _EXTRA, attribute("callee", "symbol")),
    traits="check",
    example=(
        '%r = check.oracle.call<reference.matmul> {lhs = "f16"} callee(@matmul) inputs(%a, %b, %c) : '
        "(tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>) -> (tensor<4x4xf32>)"
    ),
)
for _name, _doc in (
    ("equal", "Expects equal values: -0 equals +0, NaN equals nothing."),
    ("bitwise", "Expects equal bytes."),
):
    define(
        f"check.expect.{_name}",
        "A",
        _doc,
        " actual(%actual) expected(%expected) : ~actual",
        operands=(one("actual", CHECK_VALUE), one("expected", CHECK_VALUE)),
        same=("actual expected",),
        traits="check expectation",
        example=f"check.expect.{_name} actual(%a) expected(%b) : tensor<4xf32>",
    )
define(
    "check.expect.close",
    "A",
    "Expects |a - e| <= atol + rtol * |e| in every element.",
    " actual(%actual) expected(%expected) atol($atol) rtol($rtol) nan($nan) : ~actual",
    operands=(one("actual", CHECK_VALUE), one("expected", CHECK_VALUE)),
    attributes=(attribute("atol", "float"), attribute("rtol", "float"), word("nan", ("same", "different"))),
    same=("actual expected",),
    traits="check expectation",
    verify=checks.close,
    example="check.expect.close actual(%a) expected(%b) atol(0.001) rtol(0.01) nan(same) : tensor<4xf32>",
)
define(
    "check.expect.shape",
    "A",
    "Expects each dimension to equal the listed value.",
    " value(%value) shape([@dims]) : ~value",
    operands=(one("value", TENSOR), group("dims", INDEX_ONLY)),
    attributes=(indices("dims"),),
    traits="check expectation",
    verify=checks.shape,
    example="check.expect.shape value(%t) shape([4, %n]) : tensor<4x[%n]xf32>",
)
define(
    "check.expect",
    "B",
    "An expectation that a provider evaluates.",
    "<$provider> actual(%actual) expected(%expected)(? {}?) : ~actual",
    operands=(one("actual", CHECK_VALUE), one("expected", CHECK_VALUE)),
    attributes=(attribute("provider", "bare"), _EXTRA),
    same=("actual expected",),
    traits="check expectation",
    example="check.expect<ulp> actual(%a) expected(%b) {limit = 2} : tensor<4xf32>",
)
define(
    "check.expect.event",
    "A",
    "Expects a number of recorded device events of a type.",
    "<$provider> {}",
    attributes=(attribute("provider", "bare"), integer("count", minimum=0), attribute("type", "string")),
    traits="check expectation",
    example='check.expect.event<device> {count = 0, type = "asan_report"}',
)
define(
    "check.benchmark",
    "A",
    "Selects a case, with some parameters fixed, for timing. The default name is the case's without a "
    "trailing `_case`.",
    "<$case>(? $sym_name?) {}",
    attributes=(attribute("case", "symbol"), attribute("sym_name", "symbol_name", optional=True), _EXTRA),
    traits="module_level",
    verify=checks.benchmark,
    example="check.benchmark<@axpy_case> @axpy_tail {count = 300}",
)
define(
    "check.entropy.fork",
    "B",
    "A named child of an entropy value.",
    " %entropy name($name) : ~result",
    operands=(one("entropy", ENTROPY),),
    results=(result("result", ENTROPY, _ENTROPY),),
    attributes=(attribute("name", "string"),),
    traits="check pure",
    example='%e = check.entropy.fork %entropy name("left") : check.entropy',
)
define(
    "check.entropy.read",
    "A",
    "A 64-bit number at a position of an entropy value; nothing is consumed.",
    " %entropy[@indices] : ~entropy -> ~result",
    operands=(one("entropy", ENTROPY), group("indices", INDEX_ONLY)),
    results=(result("result", WORD64, I64),),
    attributes=(indices(),),
    traits="check pure",
    example="%s = check.entropy.read %e[%i] : check.entropy -> i64",
)
