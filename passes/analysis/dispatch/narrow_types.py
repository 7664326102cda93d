"""Which element types do a target's storage buffers not hold, and what holds their values instead?

A narrow type is stored by its bits and computed in 32 bits: i8 and i16 as i32 (sign-extended), i1 as i32 (0
or 1), floats of 8 and 16 bits as f32, which holds each of their values exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from iree.compiler import ir

from fissile.dialect.attributes import attributes
from fissile.passes.iree.attributes import EXECUTABLE_TARGET, PACKED_STORAGE, read_target

WORD_BITS = 32
PACKED_BOOLEAN = "packed_i1"


@dataclass(frozen=True)
class NarrowType:
    """``name`` as MLIR spells it, ``value_bits`` of one value, ``storage_bits`` that IREE gives it in a
    buffer, ``word_bits`` of the integers that it is read and written as."""

    name: str
    value_bits: int
    storage_bits: int
    is_float: bool = False
    word_bits: int = WORD_BITS

    @property
    def per_word(self) -> int:
        """How many elements one word holds."""
        return self.word_bits // self.storage_bits

    @property
    def wide(self) -> str:
        """The 32-bit type that holds its values."""
        return "f32" if self.is_float else "i32"


NARROW_TYPES = {
    narrow.name: narrow
    for narrow in (
        # IREE stores booleans as bytes, unless their tensor says otherwise, and packs the other sub-byte types
        # (TypeUtils.cpp, needToPackSubByteElements).
        NarrowType("i1", 1, 8),
        NarrowType("packed_i1", 1, 1),
        NarrowType("i2", 2, 2),
        NarrowType("i4", 4, 4),
        NarrowType("i8", 8, 8),
        NarrowType("i16", 16, 16),
        NarrowType("f16", 16, 16, is_float=True),
        NarrowType("bf16", 16, 16, is_float=True),
        NarrowType("f8E4M3FN", 8, 8, is_float=True),
        NarrowType("f8E5M2", 8, 8, is_float=True),
        NarrowType("f8E3M4", 8, 8, is_float=True),
        NarrowType("f8E4M3FNUZ", 8, 8, is_float=True),
        NarrowType("f8E5M2FNUZ", 8, 8, is_float=True),
        NarrowType("f8E8M0FNU", 8, 8, is_float=True),
        NarrowType("f4E2M1FN", 4, 4, is_float=True),
    )
}
"""All types that can be packed, by name."""
BYTE_FLOATS = frozenset(
    name for name, narrow in NARROW_TYPES.items() if narrow.is_float and narrow.storage_bits == 8
)
BELOW_A_BYTE = frozenset(("i2", "i4"))
"""Integers that IREE lays out side by side in a byte, and whose elements it reads and writes singly."""
UNCOMMON = BYTE_FLOATS | {name for name, narrow in NARROW_TYPES.items() if narrow.storage_bits < 8}
"""8-bit floats and types below a byte: IREE 3.13 lays all of them out in memory, and most backends generate code for some."""


LAST_RESORT = UNCOMMON | {"bf16"}
"""What is packed where nothing else helps, too: a matmul that accumulates in bf16 has no vectors on a Vulkan target with 16-bit storage."""


def uncommon_types(op: ir.Operation, among: frozenset[str] | set[str] = UNCOMMON) -> frozenset[str]:
    """Those of ``among`` that ``op`` or its body computes with."""
    values = [*op.operands, *op.results]
    for region in op.regions:
        for block in region.blocks:
            values += [
                v for inner in block.operations for v in (*inner.operation.operands, *inner.operation.results)
            ]
    return frozenset(type_name(v.type) for v in values) & among


def type_name(type_: ir.Type) -> str:
    """``type_``, or the type of its elements, as NARROW_TYPES spells it."""
    if not isinstance(type_, ir.RankedTensorType):
        return str(type_)
    return PACKED_BOOLEAN if is_packed(type_) else str(type_.element_type)


def is_packed(tensor_type: ir.RankedTensorType) -> bool:
    """Whether the tensor's booleans take a bit each in storage (`#iree_encoding.packed_storage`)."""
    return str(tensor_type.element_type) == "i1" and str(tensor_type.encoding) == PACKED_STORAGE


class NarrowSet:
    """The narrow types of one module: which element types must not reach a storage buffer.

    ``has_bytes``: storage holds bytes, so 8-bit floats are read and written as those. ``in_place``: integers below a byte are read and
    written as they are.
    """

    def __init__(self, names: Iterable[str], has_bytes: bool = False, in_place: bool = False) -> None:
        self.names = frozenset(names)
        unknown = sorted(self.names - set(NARROW_TYPES))
        if unknown:
            raise ValueError(f"not a narrow type: {unknown[0]}")
        single = (BYTE_FLOATS if has_bytes else frozenset()) | (BELOW_A_BYTE if in_place else frozenset())
        types = {name: NARROW_TYPES[name] for name in self.names}
        self._types = {
            name: replace(narrow, word_bits=narrow.storage_bits) if name in single else narrow
            for name, narrow in types.items()
        }

    def __bool__(self) -> bool:
        return bool(self.names)

    def of(self, type_: ir.Type) -> NarrowType | None:
        """The narrow type that ``type_`` is, or that it is a tensor of; None where it is neither."""
        name = type_name(type_)
        if name == "i1" and PACKED_BOOLEAN in self.names and not isinstance(type_, ir.RankedTensorType):
            return NARROW_TYPES["i1"]
        return self._types.get(name)

    def wide_type(self, type_: ir.Type) -> ir.Type:
        """``type_`` with its narrow element type replaced by the wide one; other types as they are."""
        narrow = self.of(type_)
        if narrow is None:
            return type_
        wide = ir.Type.parse(narrow.wide, type_.context)
        if isinstance(type_, ir.RankedTensorType):
            return ir.RankedTensorType.get(type_.shape, wide, None if is_packed(type_) else type_.encoding)
        return wide


def missing_types(storage_bits: Iterable[int], backend: str) -> frozenset[str]:
    """The types that a target cannot take: ``storage_bits`` are the widths its storage buffers hold.

    No widths: the target does not say, and takes all. bf16 is emulated by no SPIR-V target of IREE 3.13.
    """
    widths = set(storage_bits)
    missing = set()
    if widths and 8 not in widths:
        missing |= {
            "i8",
            *(name for name, narrow in NARROW_TYPES.items() if narrow.value_bits < 8),
            *BYTE_FLOATS,
        }
    if widths and 16 not in widths:
        missing |= {"i16", "f16", "bf16"}
    if backend.endswith("-spirv"):
        missing.add("bf16")
    return frozenset(missing)


def missing_types_of(module: ir.Operation) -> frozenset[str]:
    """The types that at least one target of ``module`` (any phase after devices are assigned) cannot take."""
    missing: set[str] = set()
    for target in sorted(targets_of(module)):
        facts = read_target(target)
        missing |= missing_types(facts.storage_bits, facts.backend)
    return frozenset(missing)


def targets_of(module: ir.Operation) -> set[str]:
    """The executable targets that the module and its device globals name, as text."""
    holders = [module, *(op.operation for op in module.regions[0].blocks[0].operations)]
    texts = (str(held) for holder in holders for _name, held in attributes(holder))
    return {EXECUTABLE_TARGET + part for text in texts for part in text.split(EXECUTABLE_TARGET)[1:]}
