"""Constants whose elements the module does not have: left out of a text (`__elided__`), gone, or fewer bytes than the type has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, prod

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.element_bytes import stands_in_resource
from fissile.passes.analysis.imports.onnx_values import OPERATOR, VALUE
from fissile.passes.iree import ops as iree_ops

_HELD_IN = {
    **dict.fromkeys(
        (
            "arith.constant",
            "stablehlo.constant",
            "torch.vtensor.literal",
            "ml_program.global",
            iree_ops.FLOW_TENSOR_CONSTANT,
        ),
        "value",
    ),
    iree_ops.UTIL_GLOBAL: "initial_value",
    "tosa.const": "values",
    OPERATOR: VALUE,
}
"""Op -> the attribute with its elements."""
_NAME = re.compile(r"dense_resource<(.*)> : ", re.DOTALL)
_ENTRY = re.compile(r'^\s*(\S.*): "0x([0-9A-Fa-f]*)"', re.MULTILINE)
ELIDED = "__elided__"
"""What MLIR prints for a resource that is too long for its options."""
_PRINTED = 2, 12
"""Characters of a resource in a module's text, as the limit of the printer counts them: for each byte, and for all."""
_ALIGNMENT = 4
"""Bytes before a resource's own."""
_SMALL, _MOST = 4096, 64 << 20
"""Bytes: constants up to the first are read (there may be many); of larger ones up to the second in sum, it is found out whether they are
there at all (45 ms for 64 MiB)."""


@dataclass(frozen=True)
class Lacking:
    """``op`` needs ``needed`` bytes of the resource ``name``, which has ``held``; None where it has no data."""

    op: ir.Operation
    name: str
    needed: int
    held: int | None

    @property
    def is_elided(self) -> bool:
        return self.name == ELIDED


@dataclass(frozen=True)
class _Held:
    op: ir.Operation
    value: ir.Attribute
    name: str
    needed: int
    packed: int
    """Bytes if there were as many elements in each as fit: that is another finding (FIS226)."""

    def lacks(self, size: int) -> bool:
        return size < self.needed and size != self.packed


def lacking_data(module: ir.Operation) -> list[Lacking]:
    """The constants of ``module`` without all of their elements, in program order.

    Whether a constant of more than 4 KiB has data at all is not looked at where those have more than 64 MiB together.
    """
    held = _resources(module)
    if not held:
        return []
    sizes = _short_sizes(held)
    absent = _absent([one for one in held if one.name not in sizes])
    return [
        Lacking(one.op, one.name, one.needed, sizes.get(one.name))
        for one in held
        if one.name in absent or one.lacks(sizes.get(one.name, one.needed))
    ]


def _resources(module: ir.Operation) -> list[_Held]:
    found: list[_Held] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = _HELD_IN.get(op.name)
        value = attribute(op, name) if name else None
        if value is not None and stands_in_resource(value):
            needed, packed = _bytes(value.type)
            named = _NAME.match(str(value))
            if needed and named:
                found.append(_Held(op, value, named[1], needed, packed))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _bytes(type_: ir.Type) -> tuple[int, int]:
    """Bytes of the elements of a tensor as a resource has them, and with several in each byte; 0 where that is not known."""
    if not isinstance(type_, ir.ShapedType) or not type_.has_static_shape:
        return 0, 0
    count, bits = prod(type_.shape), _element_bits(type_.element_type)
    needed = count * ceil(bits / 8)
    return needed, ceil(count * bits / 8) if bits > 1 else needed


def _element_bits(element: ir.Type) -> int:
    if isinstance(element, ir.ComplexType):
        return 2 * _element_bits(element.element_type)
    return getattr(element, "width", 64 if isinstance(element, ir.IndexType) else 0)


def _short_sizes(held: Sequence[_Held]) -> dict[str, int]:
    """Bytes of the resources that are too short for one of their constants, and of all that have at most 4 KiB.

    MLIR leaves out of a text what is longer than a limit, and does not print it first: what is still there is shorter.
    """
    by_size: dict[int, list[_Held]] = defaultdict(list)
    for one in held:
        by_size[max(one.needed, _SMALL)].append(one)
    found: dict[str, int] = {}
    for needed, group in by_size.items():
        found |= _sizes(group, needed if needed == _SMALL else needed - 1)
    return found


def _sizes(held: Sequence[_Held], most: int) -> dict[str, int]:
    """Bytes of each resource that has at most ``most``."""
    each, more = _PRINTED
    text = _module_of(held).get_asm(assume_verified=True, large_resource_limit=each * most + more)
    entries = _ENTRY.findall(text.rpartition("{-#")[2])
    return {name: max(0, len(digits) // 2 - _ALIGNMENT) for name, digits in entries}


def _absent(held: Sequence[_Held]) -> set[str]:
    """Of those, which have more than 4 KiB if they are there, the resources that are not: their bytecode is shorter."""
    found = {one.name for one in held if one.name == ELIDED}
    named = {one.name: one for one in held if one.name not in found}
    large = sum(one.needed for one in named.values() if one.needed > _SMALL)
    if large > _MOST:
        named = {name: one for name, one in named.items() if one.needed <= _SMALL}
    if not named or _written(named.values()) >= sum(max(one.needed, _SMALL) for one in named.values()):
        return found
    return found | {name for name, one in named.items() if _written([one]) < max(one.needed, _SMALL)}


def _written(held: Iterable[_Held]) -> int:
    counted = _Counted()
    _module_of([*held]).write_bytecode(counted)
    return counted.size


class _Counted:
    """A file that keeps no byte."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        return len(data)


def _module_of(held: Sequence[_Held]) -> ir.Operation:
    """A module with their elements alone."""
    context = held[0].op.context
    with context, ir.Location.unknown():
        module = ir.Module.create().operation
        module.attributes["values"] = ir.ArrayAttr.get([one.value for one in held])
    return module
