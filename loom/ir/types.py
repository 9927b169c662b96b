"""Types: immutable, interned, so that equality is identity.

A type may name SSA values as dimensions (``view<[%n]xf32>``). Such a type is interned in the first value it names,
so it lives exactly as long as that value; all other types live in one table per class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

if TYPE_CHECKING:
    from loom.ir.attributes import EncodingAttribute
    from loom.ir.core import Value

Dim: TypeAlias = "int | Value"
NameOf: TypeAlias = "Callable[[Value], str]"


def _default_name(value: Value) -> str:
    return f"%{value.name or '?'}"


class Type:
    """Base of all types. ``values`` lists the SSA values the type names, in order, without repetition removed."""

    __slots__ = ("_text", "values")
    _table: ClassVar[dict[Any, Any]] = {}
    _text: str | None
    values: tuple[Value, ...]

    def __init_subclass__(cls) -> None:
        cls._table = {}

    def format(self, name_of: NameOf = _default_name) -> str:
        """Return the type's text; ``name_of`` gives the text (with ``%``) of each value the type names."""
        text = self._text
        if text is None:
            text = self._format(name_of)
            if not self.values:
                self._text = text
        return text

    def _format(self, name_of: NameOf) -> str:
        raise NotImplementedError

    def substitute(self, mapping: Mapping[Value, Value]) -> Type:
        """Return this type with each named value replaced by ``mapping``'s entry, if it has one."""
        return self

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.format()}>"

    def __copy__(self) -> Type:
        return self

    def __deepcopy__(self, memo: object) -> Type:
        return self


def _intern(cls: type[Any], key: tuple[Any, ...], values: tuple[Value, ...]) -> tuple[Any, bool]:
    """Find or make the instance of ``cls`` for ``key``; return it and whether it is new."""
    if values:
        first = values[0]
        table = first.dim_types
        if table is None:
            table = first.dim_types = {}
        full = (cls, *key)
    else:
        table = cls._table
        full = key
    found = table.get(full)
    if found is not None:
        return found, False
    made = object.__new__(cls)
    made._text = None
    made.values = values
    table[full] = made
    return made, True


class ScalarType(Type):
    """Base of the types that a vector, tensor or view may have as elements."""

    __slots__ = ()


class IntegerType(ScalarType):
    """``i1`` to ``i64``: signless, ``width`` bits."""

    __slots__ = ("width",)
    width: int

    def __new__(cls, width: int) -> IntegerType:
        """Return the one instance."""
        made, fresh = _intern(cls, (width,), ())
        if fresh:
            made.width = width
        return cast(IntegerType, made)

    def _format(self, name_of: NameOf) -> str:
        return f"i{self.width}"


FLOAT_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8E4M3": 8, "f8E5M2": 8}


class FloatType(ScalarType):
    """``f16 bf16 f32 f64 f8E4M3 f8E5M2``; ``f8E4M3`` is the finite variant."""

    __slots__ = ("name", "width")
    name: str
    width: int

    def __new__(cls, name: str) -> FloatType:
        """Return the one instance."""
        made, fresh = _intern(cls, (name,), ())
        if fresh:
            made.name = name
            made.width = FLOAT_WIDTHS[name]
        return cast(FloatType, made)

    def _format(self, name_of: NameOf) -> str:
        return self.name


class _Singleton(Type):
    __slots__ = ()
    text = ""

    def __new__(cls) -> Any:
        """Return the one instance."""
        return _intern(cls, (), ())[0]

    def _format(self, name_of: NameOf) -> str:
        return self.text


class IndexType(_Singleton, ScalarType):
    """``index``: a signed logical coordinate."""

    __slots__ = ()
    text = "index"


class OffsetType(_Singleton, ScalarType):
    """``offset``: an unsigned physical byte count."""

    __slots__ = ()
    text = "offset"


class BufferType(_Singleton):
    """``buffer``: an opaque byte-addressed storage root."""

    __slots__ = ()
    text = "buffer"


def format_dims(dims: tuple[Dim, ...], name_of: NameOf) -> str:
    """Return ``4x[%n]x`` for the dimensions, with the trailing ``x``."""
    return "".join(f"{d}x" if isinstance(d, int) else f"[{name_of(d)}]x" for d in dims)


def _map_dims(dims: tuple[Dim, ...], mapping: Mapping[Value, Value]) -> tuple[Dim, ...]:
    return tuple(d if isinstance(d, int) else mapping.get(d, d) for d in dims)


def _is_value(item: object) -> bool:
    """Whether it is an SSA value (whose module builds on this one and cannot be imported here)."""
    return hasattr(item, "dim_types")


def _named(*items: object) -> tuple[Value, ...]:
    """Return the SSA values among dimensions and layouts: all but integers, encodings and nothing."""
    return tuple(i for i in items if _is_value(i))  # type: ignore[misc]


class ShapedType(Type):
    """Base of vector, tensor, tile and view: ``dims`` (integers or values) and ``element``."""

    __slots__ = ("dims", "element")
    dims: tuple[Dim, ...]
    element: ScalarType

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    @property
    def is_static(self) -> bool:
        """Whether every dimension is an integer."""
        return all(isinstance(d, int) for d in self.dims)

    @property
    def element_count(self) -> int:
        """Number of elements of a static shape; raises ``ValueError`` on a dynamic one."""
        count = 1
        for d in self.dims:
            if not isinstance(d, int):
                raise ValueError(f"{self} has a dynamic dimension")
            count *= d
        return count


class VectorType(ShapedType):
    """``vector<2x[%n]xf16>``: register aggregate, rank at least 1, row-major lanes."""

    __slots__ = ()

    def __new__(cls, dims: tuple[Dim, ...], element: ScalarType) -> VectorType:
        """Return the one instance."""
        dims = tuple(dims)
        made, fresh = _intern(cls, (dims, element), _named(*dims))
        if fresh:
            made.dims, made.element = dims, element
        return cast(VectorType, made)

    def _format(self, name_of: NameOf) -> str:
        return f"vector<{format_dims(self.dims, name_of)}{self.element}>"

    def substitute(self, mapping: Mapping[Value, Value]) -> Type:
        """Return the type with named values replaced."""
        return VectorType(_map_dims(self.dims, mapping), self.element) if self.values else self


class TensorType(ShapedType):
    """``tensor<4x[%n]xf32, #enc>``: a value of the check language; rank 0 allowed."""

    __slots__ = ("encoding",)
    keyword = "tensor"
    encoding: EncodingAttribute | Value | None

    def __new__(
        cls, dims: tuple[Dim, ...], element: ScalarType, encoding: EncodingAttribute | Value | None = None
    ) -> TensorType:
        """Return the one instance."""
        dims = tuple(dims)
        made, fresh = _intern(cls, (dims, element, encoding), _named(*dims, encoding))
        if fresh:
            made.dims, made.element, made.encoding = dims, element, encoding
        return cast(TensorType, made)

    def _format(self, name_of: NameOf) -> str:
        tail = "" if self.encoding is None else f", {_layout_text(self.encoding, name_of)}"
        return f"{self.keyword}<{format_dims(self.dims, name_of)}{self.element}{tail}>"

    def substitute(self, mapping: Mapping[Value, Value]) -> Type:
        """Return the type with named values replaced."""
        if not self.values:
            return self
        return type(self)(_map_dims(self.dims, mapping), self.element, _map_layout(self.encoding, mapping))


class TileType(TensorType):
    """``tile<…>``: the tile-level twin of a tensor."""

    __slots__ = ()
    keyword = "tile"


class ViewType(ShapedType):
    """``view<d0xd1xT, layout, align(N)>``: non-owning typed window on a buffer.

    ``layout`` is None for dense row-major, else an encoding attribute or a value of type ``encoding<…>``;
    ``alignment`` is the per-access byte alignment, None for the element's own.
    """

    __slots__ = ("alignment", "layout")
    layout: EncodingAttribute | Value | None
    alignment: int | None

    def __new__(
        cls,
        dims: tuple[Dim, ...],
        element: ScalarType,
        layout: EncodingAttribute | Value | None = None,
        alignment: int | None = None,
    ) -> ViewType:
        """Return the one instance."""
        dims = tuple(dims)
        made, fresh = _intern(cls, (dims, element, layout, alignment), _named(*dims, layout))
        if fresh:
            made.dims, made.element, made.layout, made.alignment = dims, element, layout, alignment
        return cast(ViewType, made)

    def _format(self, name_of: NameOf) -> str:
        tail = "" if self.layout is None else f", {_layout_text(self.layout, name_of)}"
        if self.alignment is not None:
            tail += f", align({self.alignment})"
        return f"view<{format_dims(self.dims, name_of)}{self.element}{tail}>"

    def substitute(self, mapping: Mapping[Value, Value]) -> Type:
        """Return the type with named values replaced."""
        if not self.values:
            return self
        return ViewType(_map_dims(self.dims, mapping), self.element, _map_layout(self.layout, mapping), self.alignment)


def _layout_text(layout: EncodingAttribute | Value, name_of: NameOf) -> str:
    return name_of(cast("Value", layout)) if _is_value(layout) else str(layout)


def _map_layout(
    layout: EncodingAttribute | Value | None, mapping: Mapping[Value, Value]
) -> EncodingAttribute | Value | None:
    if not _is_value(layout):
        return layout
    return mapping.get(cast("Value", layout), cast("Value", layout))


ENCODING_ROLES = ("layout", "schema", "storage", "transform")


class EncodingType(Type):
    """``encoding`` or ``encoding<layout|schema|storage|transform>``."""

    __slots__ = ("role",)
    role: str | None

    def __new__(cls, role: str | None = None) -> EncodingType:
        """Return the one instance."""
        made, fresh = _intern(cls, (role,), ())
        if fresh:
            made.role = role
        return cast(EncodingType, made)

    def _format(self, name_of: NameOf) -> str:
        return "encoding" if self.role is None else f"encoding<{self.role}>"


class RegisterType(Type):
    """``reg<amdgpu.vgpr x2 @ 4>``: a Low value.

    ``units`` is the number of consecutive registers; ``location`` is the index of the first physical register, None
    while the value is virtual. Classes of a single register (``amdgpu.vcc``) have no location.
    """

    __slots__ = ("location", "register_class", "units")
    register_class: str
    units: int
    location: int | None

    def __new__(cls, register_class: str, units: int = 1, location: int | None = None) -> RegisterType:
        """Return the one instance."""
        made, fresh = _intern(cls, (register_class, units, location), ())
        if fresh:
            made.register_class, made.units, made.location = register_class, units, location
        return cast(RegisterType, made)

    def _format(self, name_of: NameOf) -> str:
        count = f" x{self.units}" if self.units != 1 else ""
        place = f" @ {self.location}" if self.location is not None else ""
        return f"reg<{self.register_class}{count}{place}>"

    def at(self, location: int | None) -> RegisterType:
        """Return the same class and unit count at another physical location (None: virtual)."""
        return RegisterType(self.register_class, self.units, location)


STORAGE_SPACES = ("workgroup", "private", "scratch")


class StorageType(Type):
    """``low.storage<workgroup|private|scratch>``: a function-local reservation."""

    __slots__ = ("space",)
    space: str

    def __new__(cls, space: str) -> StorageType:
        """Return the one instance."""
        made, fresh = _intern(cls, (space,), ())
        if fresh:
            made.space = space
        return cast(StorageType, made)

    def _format(self, name_of: NameOf) -> str:
        return f"low.storage<{self.space}>"


OPAQUE_NAMES = (
    "kernel.async.token",
    "kernel.async.group",
    "kernel.tensor.lds.descriptor",
    "check.entropy",
    "hal.buffer",
)


class OpaqueType(Type):
    """A type without parts: ``check.entropy``, ``kernel.async.token``, ``hal.buffer``, …"""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> OpaqueType:
        """Return the one instance."""
        made, fresh = _intern(cls, (name,), ())
        if fresh:
            made.name = name
        return cast(OpaqueType, made)

    def _format(self, name_of: NameOf) -> str:
        return self.name


class PoolType(Type):
    """``pool<[%bytes]>`` or ``pool<4096>``: a memory pool of so many bytes."""

    __slots__ = ("size",)
    size: Dim

    def __new__(cls, size: Dim) -> PoolType:
        """Return the one instance."""
        made, fresh = _intern(cls, (size,), _named(size))
        if fresh:
            made.size = size
        return cast(PoolType, made)

    def _format(self, name_of: NameOf) -> str:
        return f"pool<{self.size}>" if isinstance(self.size, int) else f"pool<[{name_of(self.size)}]>"

    def substitute(self, mapping: Mapping[Value, Value]) -> Type:
        """Return the type with named values replaced."""
        return PoolType(_map_dims((self.size,), mapping)[0]) if self.values else self


class GroupType(Type):
    """``group<scope>`` (an older form)."""

    __slots__ = ("scope",)
    scope: str

    def __new__(cls, scope: str) -> GroupType:
        """Return the one instance."""
        made, fresh = _intern(cls, (scope,), ())
        if fresh:
            made.scope = scope
        return cast(GroupType, made)

    def _format(self, name_of: NameOf) -> str:
        return f"group<{self.scope}>"


class FunctionType(Type):
    """``(T, U) -> (V)``."""

    __slots__ = ("inputs", "results")
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __new__(cls, inputs: tuple[Type, ...], results: tuple[Type, ...]) -> FunctionType:
        """Return the one instance."""
        inputs, results = tuple(inputs), tuple(results)
        values = tuple(v for t in (*inputs, *results) for v in t.values)
        made, fresh = _intern(cls, (inputs, results), values)
        if fresh:
            made.inputs, made.results = inputs, results
        return cast(FunctionType, made)

    def _format(self, name_of: NameOf) -> str:
        return (
            f"({', '.join(t.format(name_of) for t in self.inputs)}) -> "
            f"({', '.join(t.format(name_of) for t in self.results)})"
        )

    def substitute(self, mapping: Mapping[Value, Value]) -> Type:
        """Return the type with named values replaced."""
        if not self.values:
            return self
        return FunctionType(
            tuple(t.substitute(mapping) for t in self.inputs), tuple(t.substitute(mapping) for t in self.results)
        )


I1, I8, I16, I32, I64 = (IntegerType(w) for w in (1, 8, 16, 32, 64))
F16, BF16, F32, F64, F8E4M3, F8E5M2 = (FloatType(n) for n in ("f16", "bf16", "f32", "f64", "f8E4M3", "f8E5M2"))
INDEX = IndexType()
OFFSET = OffsetType()
BUFFER = BufferType()

SCALAR_TYPES: dict[str, ScalarType] = {
    str(t): t for t in (I1, I8, I16, I32, I64, F16, BF16, F32, F64, F8E4M3, F8E5M2, INDEX, OFFSET)
}


def bit_width(type_: Type) -> int:
    """Return the width in bits of a scalar or static shape; ``index`` and ``offset`` count as 64."""
    if isinstance(type_, IntegerType | FloatType):
        return type_.width
    if isinstance(type_, IndexType | OffsetType):
        return 64
    if isinstance(type_, ShapedType):
        return type_.element_count * bit_width(type_.element)
    raise ValueError(f"{type_} has no bit width")


def element_type(type_: Type) -> Type:
    """Return the element of a shaped type, and any other type itself."""
    return type_.element if isinstance(type_, ShapedType) else type_
