"""The view dialect: typed access to memory, one element at a time."""

from __future__ import annotations

from loom.dialect.common import (
    ATOMIC_KINDS,
    CACHE,
    INDEX_ONLY,
    ORDERINGS,
    SCOPES,
    VIEW,
    VIEW_ELEMENT,
    define,
    flags,
    group,
    indices,
    one,
    result,
    word,
)
from loom.dialect.rules import memory

_INDEX = group("indices", INDEX_ONLY)
_ORDER = (word("ordering", ORDERINGS), word("scope", SCOPES))
_EXCHANGE_ORDER = (
    word("failure_ordering", ORDERINGS),
    word("scope", SCOPES),
    word("success_ordering", ORDERINGS),
)

define(
    "view.subview",
    "A",
    "A window of a view: same rank, element and layout; the result's dimensions are its extent.",
    " %view[@indices] : ~view -> ~result",
    operands=(one("view", VIEW), _INDEX),
    results=(result("result", VIEW),),
    attributes=(indices(),),
    traits="pure",
    verify=memory.subview,
    example="%s = view.subview %v[%i, 0] : view<64x64xf32> -> view<16x64xf32>",
)
define(
    "view.refine",
    "B",
    "The same view with static facts asserted.",
    " %view : ~view -> ~result",
    operands=(one("view", VIEW),),
    results=(result("result", VIEW),),
    traits="pure",
    verify=memory.refine,
    example="%w = view.refine %v : view<[%n]xf32> -> view<64xf32>",
)
define(
    "view.load",
    "A",
    "Reads one element.",
    "(?<$volatile>?) %view[@indices] {} : ~view -> ~result",
    operands=(one("view", VIEW), _INDEX),
    results=(result("result", VIEW_ELEMENT, memory.element_of("view")),),
    attributes=(flags("volatile", ("volatile",)), indices(), *CACHE),
    traits="reads",
    verify=memory.element_access,
    example="%x = view.load %v[%i, 0] : view<4x4xf32> -> f32",
)
define(
    "view.store",
    "A",
    "Writes one element.",
    "(?<$volatile>?) %value, %view[@indices] {} : ~value, ~view",
    operands=(one("value", VIEW_ELEMENT), one("view", VIEW), _INDEX),
    attributes=(flags("volatile", ("volatile",)), indices(), *CACHE),
    traits="writes",
    verify=memory.element_access,
    example="view.store %x, %v[%i, 0] : f32, view<4x4xf32>",
)
define(
    "view.atomic.reduce",
    "A",
    "Combines a value into an element atomically.",
    "<$kind> %value, %view[@indices] {} : ~value, ~view",
    operands=(one("value", VIEW_ELEMENT), one("view", VIEW), _INDEX),
    attributes=(word("kind", ATOMIC_KINDS), indices(), *_ORDER),
    traits="reads writes atomic",
    verify=memory.atomic_access,
    example="view.atomic.reduce<addi> %x, %v[%i] {ordering = relaxed, scope = workgroup} : i32, view<4xi32>",
)
define(
    "view.atomic.rmw",
    "A",
    "Combines a value into an element atomically and gives the old element.",
    "<$kind> %value, %view[@indices] {} : ~value, ~view -> ~result",
    operands=(one("value", VIEW_ELEMENT), one("view", VIEW), _INDEX),
    results=(result("result", VIEW_ELEMENT, "value"),),
    attributes=(word("kind", ATOMIC_KINDS), indices(), *_ORDER),
    same=("result value",),
    traits="reads writes atomic",
    verify=memory.atomic_access,
    example="%o = view.atomic.rmw<addi> %x, %v[%i] {ordering = relaxed, scope = device} : i32, view<4xi32> -> i32",
)
define(
    "view.atomic.cmpxchg",
    "A",
    "Replaces an element when its bits equal the expected value's; gives the old element.",
    " %expected, %replacement, %view[@indices] {} : ~expected, ~view -> ~result",
    operands=(one("expected", VIEW_ELEMENT), one("replacement", VIEW_ELEMENT), one("view", VIEW), _INDEX),
    results=(result("result", VIEW_ELEMENT, "expected"),),
    attributes=(indices(), *_EXCHANGE_ORDER),
    same=("result expected replacement",),
    traits="reads writes atomic",
    verify=memory.exchange_access,
    example=(
        "%o = view.atomic.cmpxchg %e, %n, %v[%i] "
        "{failure_ordering = relaxed, scope = device, success_ordering = acq_rel} : i32, view<4xi32> -> "
        "i32"
    ),
)
define(
    "view.atomic.load",
    "B",
    "Reads an element atomically.",
    " %view[@indices] {} : ~view -> ~result",
    operands=(one("view", VIEW), _INDEX),
    results=(result("result", VIEW_ELEMENT, memory.element_of("view")),),
    attributes=(indices(), *_ORDER),
    traits="reads atomic",
    verify=memory.atomic_load,
    example="%x = view.atomic.load %v[%i] {ordering = acquire, scope = device} : view<4xi32> -> i32",
)
define(
    "view.atomic.store",
    "B",
    "Writes an element atomically.",
    " %value, %view[@indices] {} : ~value, ~view",
    operands=(one("value", VIEW_ELEMENT), one("view", VIEW), _INDEX),
    attributes=(indices(), *_ORDER),
    traits="writes atomic",
    verify=memory.atomic_store,
    example="view.atomic.store %x, %v[%i] {ordering = release, scope = device} : i32, view<4xi32>",
)
define(
    "view.prefetch",
    "B",
    "A hint that an element will be accessed soon.",
    " %view[@indices] {} : ~view",
    operands=(one("view", VIEW), _INDEX),
    attributes=(
        indices(),
        word("intent", ("read", "write")),
        word("locality", ("none", "l1", "l2", "l3")),
    ),
    traits="hint",
    verify=memory.full_rank,
    example="view.prefetch %v[%i] {intent = read, locality = l2} : view<64xf32>",
)
