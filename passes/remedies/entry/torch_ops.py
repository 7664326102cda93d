"""Torch ops, their values and their types, read and written: IREE has no Python classes for the torch dialect.

Types are read from their text (`!torch.vtensor<[2,?],f32>`). Values are built at the current insertion point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from iree.compiler import ir

from fissile.dialect.attributes import text_of

_VTENSOR = re.compile(r"!torch\.vtensor<\[(?P<shape>[\d,?]*)\],(?P<element>[^<>,]+(?:<[^<>]*>)?)>$")
_LAST = 2**63 - 1
OPERATOR = "torch.operator"
"""What an importer makes of an op that the dialect has no name for; the name is an attribute."""
ONNX_ATTRIBUTE = "torch.onnx."
"""What the names of an ONNX op's attributes begin with."""

NUMBERS = {"ui8": 0, "si8": 1, "si16": 2, "si32": 3, "si64": 4, "f16": 5, "f32": 6, "f64": 7, "bf16": 15}
"""Element type -> PyTorch's number for it (c10/core/ScalarType.h)."""
FLOATS = {"bf16": 16, "f16": 16, "f32": 32}
"""Element type -> its bits; f64 becomes f32 in IREE's import."""
INTEGERS = ("i1", "ui8", "si8", "si16", "si32", "si64")


@dataclass(frozen=True)
class TensorType:
    """``shape`` has None for a size that is not known; ``element`` is spelled as torch does: f32, si64, i1."""

    shape: tuple[int | None, ...]
    element: str

    @staticmethod
    def of(value: ir.Value) -> TensorType | None:
        """None for what is no tensor with a rank and an element type."""
        return TensorType.of_type(value.type)

    @staticmethod
    def of_type(type_: ir.Type) -> TensorType | None:
        found = _VTENSOR.match(str(type_))
        if found is None:
            return None
        sizes = [size for size in found["shape"].split(",") if size]
        return TensorType(tuple(None if size == "?" else int(size) for size in sizes), found["element"])

    def ir_type(self) -> ir.Type:
        sizes = ",".join("?" if size is None else str(size) for size in self.shape)
        return ir.Type.parse(f"!torch.vtensor<[{sizes}],{self.element}>")

    def with_size(self, dim: int, size: int | None) -> TensorType:
        return TensorType((*self.shape[:dim], size, *self.shape[dim + 1 :]), self.element)


def front_end_name(op: ir.Operation) -> str:
    """`aten.diff` for torch.aten.diff and for the torch.operator of that name."""
    name = text_of(op, "name") if op.name == OPERATOR and "name" in op.attributes else op.name
    return name.removeprefix("torch.")


def is_none(value: ir.Value) -> bool:
    return str(value.type) == "!torch.none"


def integer_of(value: ir.Value) -> int | None:
    """The number that a torch.constant.int is; None for another value."""
    return _constant(value, "torch.constant.int", ir.IntegerAttr)


def integers_of(value: ir.Value) -> list[int] | None:
    """The numbers of a list of torch.constant.int; None for another value."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "torch.prim.ListConstruct":
        return None
    found = [number for one in owner.operands if (number := integer_of(one)) is not None]
    return found if len(found) == len(owner.operands) else None


def numbers_of(value: ir.Value) -> list[float] | None:
    """The numbers of a list of torch.constant.float; None for another value."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "torch.prim.ListConstruct":
        return None
    found = [number for one in owner.operands if (number := number_of(one)) is not None]
    return found if len(found) == len(owner.operands) else None


def number_of(value: ir.Value) -> float | None:
    """The same of a torch.constant.float, or of an integer."""
    found = _constant(value, "torch.constant.float", ir.FloatAttr)
    return integer_of(value) if found is None else found


def boolean_of(value: ir.Value) -> bool | None:
    """The value that a torch.constant.bool is; None for another value."""
    found = _constant(value, "torch.constant.bool", ir.IntegerAttr)
    return None if found is None else bool(found)


def string_of(value: ir.Value) -> str | None:
    """The text that a torch.constant.str is; None for another value."""
    return _constant(value, "torch.constant.str", ir.StringAttr)


def _constant(value: ir.Value, name: str, attribute: type):
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != name or "value" not in owner.attributes:
        return None
    return attribute(owner.attributes["value"]).value


def integer(value: int) -> ir.Value:
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    return _make("torch.constant.int", "!torch.int", value=attribute)


def integers(values: Sequence[int]) -> ir.Value:
    return listed([integer(value) for value in values])


def listed(values: Sequence[ir.Value]) -> ir.Value:
    """A list of integers that the program computes."""
    return ir.Operation.create(
        "torch.prim.ListConstruct", results=[ir.Type.parse("!torch.list<int>")], operands=list(values)
    ).result


def size(value: ir.Value, dim: int) -> ir.Value:
    """The size of ``value`` in dimension ``dim``, which the call decides."""
    return apply("aten.size.int", [value, integer(dim)], ir.Type.parse("!torch.int"))


def boolean(value: bool) -> ir.Value:
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(1), int(value))
    return _make("torch.constant.bool", "!torch.bool", value=attribute)


def real(value: float) -> ir.Value:
    return _make("torch.constant.float", "!torch.float", value=ir.FloatAttr.get(ir.F64Type.get(), value))


def string(value: str) -> ir.Value:
    return _make("torch.constant.str", "!torch.str", value=ir.StringAttr.get(value))


def none() -> ir.Value:
    return _make("torch.constant.none", "!torch.none")


def apply(name: str, operands: Sequence[ir.Value], type_: TensorType | ir.Type) -> ir.Value:
    """The result of the op torch.``name``."""
    made = type_.ir_type() if isinstance(type_, TensorType) else type_
    return ir.Operation.create(f"torch.{name}", results=[made], operands=list(operands)).result


def apply_named(name: str, operands: Sequence[ir.Value], type_: TensorType | ir.Type) -> ir.Value:
    """As `apply`; where the dialect has no such op, the torch.operator that an importer makes of it."""
    made = type_.ir_type() if isinstance(type_, TensorType) else type_
    if made.context.is_registered_operation(f"torch.{name}"):
        return apply(name, operands, made)
    named = {"name": ir.StringAttr.get(f"torch.{name}")}
    return ir.Operation.create(OPERATOR, results=[made], operands=list(operands), attributes=named).result


def apply_onnx(
    name: str, operands: Sequence[ir.Value], type_: TensorType | ir.Type, **attributes: ir.Attribute
) -> ir.Value:
    """The result of ONNX's op ``name``, as IREE's importer writes it."""
    made = type_.ir_type() if isinstance(type_, TensorType) else type_
    named = {f"{ONNX_ATTRIBUTE}{key}": value for key, value in attributes.items()}
    return ir.Operation.create(
        OPERATOR,
        results=[made],
        operands=list(operands),
        attributes={"name": ir.StringAttr.get(f"onnx.{name}"), **named},
    ).result


def as_scalar(value: ir.Value) -> ir.Value:
    """A tensor of one element without its dimensions."""
    type_ = TensorType.of(value)
    assert type_ is not None
    if not type_.shape:
        return value
    return apply("aten.reshape", [value, integers([])], TensorType((), type_.element))


def literal(number: str, element: str) -> ir.Value:
    """A tensor without dimensions; ``number`` is spelled as MLIR does."""
    value = ir.Attribute.parse(f"dense<{number}> : tensor<{element}>")
    return _make("torch.vtensor.literal", f"!torch.vtensor<[],{element}>", value=value)


def table(numbers: np.ndarray) -> ir.Value:
    """A constant tensor of f32; of si64 or si32 where ``numbers`` are int64 or int32."""
    element = {np.dtype(np.int64): "si64", np.dtype(np.int32): "si32"}.get(numbers.dtype, "f32")
    array = np.ascontiguousarray(numbers, np.float32 if element == "f32" else numbers.dtype)
    value = ir.DenseElementsAttr.get(array, signless=False)
    made = TensorType(array.shape, element).ir_type()
    return ir.Operation.create("torch.vtensor.literal", results=[made], attributes={"value": value}).result


def bits_as(value: ir.Value, made: TensorType) -> ir.Value:
    """The bits of ``value`` as a tensor of type ``made``, whose elements have the same width."""
    builtin, bits = _builtin(made), to_builtin(value)
    if bits.type != builtin:
        bits = _convert("arith.bitcast", bits, builtin)
    return from_builtin(bits, made)


def to_builtin(value: ir.Value) -> ir.Value:
    """``value`` as a tensor of MLIR's own, of signless elements."""
    given = TensorType.of(value)
    assert given is not None
    return _convert("torch_c.to_builtin_tensor", value, _builtin(given))


def from_builtin(value: ir.Value, made: TensorType) -> ir.Value:
    """The reverse; ``made`` may know more of the sizes than ``value``."""
    builtin = _builtin(made)
    given = value if value.type == builtin else _convert("tensor.cast", value, builtin)
    return _convert("torch_c.from_builtin_tensor", given, made.ir_type())


def _builtin(type_: TensorType) -> ir.Type:
    sizes = "".join(f"{'?' if size is None else size}x" for size in type_.shape)
    return ir.Type.parse(f"tensor<{sizes}{type_.element.lstrip('su')}>")


def _convert(name: str, operand: ir.Value, type_: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[type_], operands=[operand]).result


def cast(value: ir.Value, type_: ir.Type) -> ir.Value:
    """``value`` as ``type_``, which may know more or fewer of the sizes."""
    return value if value.type == type_ else apply("tensor_static_info_cast", [value], type_)


def concatenated(parts: Sequence[ir.Value], dim: int) -> ir.Value:
    types = [TensorType.of(part) for part in parts]
    sizes = [one.shape[dim] for one in types if one is not None]
    whole = None if None in sizes else sum(size for size in sizes if size is not None)
    assert types[0] is not None
    listed = ir.Operation.create(
        "torch.prim.ListConstruct",
        results=[ir.Type.parse("!torch.list<vtensor>")],
        operands=list(parts),
    ).result
    return apply("aten.cat", [listed, integer(dim)], types[0].with_size(dim, whole))


def converted(value: ir.Value, element: str) -> ir.Value:
    """``value`` with elements of type ``element``.

    A float becomes an unsigned byte by way of 32 bits: IREE 3.13 makes a signed one of it, which holds nothing above 127.
    """
    type_ = TensorType.of(value)
    assert type_ is not None
    if type_.element == element:
        return value
    if element == "ui8" and type_.element in (*FLOATS, "f64"):
        value = converted(value, "si32")
    no = boolean(False)
    made = TensorType(type_.shape, element)
    return apply("aten.to.dtype", [value, integer(NUMBERS[element]), no, no, none()], made)


def merged(value: ir.Value, first: int, last: int) -> ir.Value:
    """``value`` with the dimensions ``first`` to ``last``, both included, as one."""
    if first == last:
        return value
    type_ = TensorType.of(value)
    assert type_ is not None
    sizes = type_.shape[first : last + 1]
    whole = None if None in sizes else prod(size or 0 for size in sizes)
    made = TensorType((*type_.shape[:first], whole, *type_.shape[last + 1 :]), type_.element)
    return apply("aten.flatten.using_ints", [value, integer(first), integer(last)], made)


def sliced(value: ir.Value, dim: int, begin: int, end: int | None) -> ir.Value:
    """``value[begin:end]`` along ``dim``; ``end`` is at most 0, and None is the end."""
    type_ = TensorType.of(value)
    assert type_ is not None
    size = type_.shape[dim]
    left = None if size is None else max(0, size + (end or 0) - begin)
    bounds = [integer(dim), integer(begin), integer(_LAST if end is None else end), integer(1)]
    return apply("aten.slice.Tensor", [value, *bounds], type_.with_size(dim, left))


def part(value: ir.Value, dim: int, number: int, of: int) -> ir.Value:
    """Slice ``number`` of the ``of`` equal ones of ``value`` along ``dim``; ``value`` where its size is not known."""
    type_ = TensorType.of(value)
    size = type_.shape[dim] if type_ else None
    if of == 1 or size is None:
        return value
    each = size // of
    return sliced(value, dim, number * each, (number + 1) * each - size or None)


def _make(name: str, type_: str, **attributes: ir.Attribute) -> ir.Value:
    return ir.Operation.create(name, results=[ir.Type.parse(type_)], attributes=attributes).result
