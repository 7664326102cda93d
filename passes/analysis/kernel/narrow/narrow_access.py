"""What does SPIR-V code generation make of narrow elements on a target whose storage buffers hold 32-bit words only?

IREE 3.13 keeps such buffers as they are and emulates their accesses when it converts to SPIR-V (MLIR's
SPIRVTypeConverter, MemRefToSPIRV). Read off its code, and measured on lavapipe:

- one integer at a time is right: a shift and a mask of its word, two atomic operations to write it; lavapipe ends a loop
  with such a write after a few rounds if the loop stands in a branch that not all threads of a workgroup take;
- a buffer whose elements are vectors of narrow integers (SPIRVVectorizeLoadStore makes them) becomes one of vectors of i32:
  its addresses are wrong;
- a buffer of f16 becomes one of f32: its addresses are wrong, of scalars as well;
- a last word that the buffer does not fill lies outside of what is bound: it reads as 0, and a write to it is lost;
- in registers a narrow integer is an i32: one that was just loaded is sign-extended, after arithmetic its upper bits are
  anything; what reads them (a comparison, a division, a shift to the right) may compute something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from math import prod

from iree.compiler import ir

from fissile.dialect.operands import operands_named
from fissile.passes.iree import ops as iree_ops

from ...dispatch.dispatches import Binding, Dispatch
from ..bound_lengths import bound_lengths

WORD_BITS, WORD_BYTES = 32, 4
_HALVES = "each f16 of a buffer is addressed as if it had 4 bytes"
_SHAPE = re.compile(r"(?:[:<])((?:(?:\d+|\?)x)*)(?:[su]?i|b?f)\d\w*[,>]")
_BUFFERS = (iree_ops.HAL_INTERFACE_BINDING_SUBSPAN, "memref.alloc")
_LOW_BITS = frozenset(
    (
        # The low bits of the result depend on the low bits of the operands alone, or the op clears or copies the upper ones.
        "arith.addi",
        "arith.subi",
        "arith.muli",
        "arith.shli",
        "arith.andi",
        "arith.ori",
        "arith.xori",
        "arith.constant",
        "arith.select",
        "arith.extsi",
        "arith.extui",
        "arith.trunci",
        "arith.sitofp",
        "arith.uitofp",
        "arith.fptosi",
        "memref.load",
        "memref.store",
        "memref.subview",
        "memref.assume_alignment",
        "memref.dealloc",
        iree_ops.HAL_INTERFACE_BINDING_SUBSPAN,
        "memref.alloc",
        "scf.yield",
        "scf.for",
        "scf.if",
        "vector.broadcast",
        "vector.extract",
        "vector.insert",
        "vector.shape_cast",
        "vector.extract_strided_slice",
        "vector.insert_strided_slice",
        "vector.from_elements",
        "vector.to_elements",
        "vector.shuffle",
        "ub.poison",
    )
)
_SIGNED = frozenset(
    (
        "arith.cmpi",
        "arith.maxsi",
        "arith.minsi",
        "arith.divsi",
        "arith.remsi",
        "arith.shrsi",
        "math.absi",
    )
)
"""Right where all narrow operands are sign-extended. Unsigned comparisons are refused."""
_EXTENDED = frozenset(
    ("memref.load", "arith.constant", "arith.maxsi", "arith.minsi", "arith.shrsi", "arith.remsi")
)
"""Ops whose narrow results are sign-extended (the others, where their operands are)."""
_MOVES = frozenset(("vector.broadcast", "vector.extract", "vector.shape_cast", "arith.select"))
_ANY_DEPTH = 24
_STORES = frozenset(("memref.store",))
_LOOPS = frozenset(("scf.for", "scf.while"))


class Numbers(IntEnum):
    """What stock IREE's code for a dispatch computes of its narrow elements. The worse is the greater."""

    RIGHT = 0
    UNPROVED = 1
    WRONG_ON_SOME = 2
    """Of devices: on lavapipe."""
    WRONG = 3


@dataclass(frozen=True)
class NarrowAccess:
    """``why`` is a sentence, empty where the numbers are right."""

    numbers: Numbers = Numbers.RIGHT
    why: str = ""


RIGHT = NarrowAccess()
NOT_ASKED = NarrowAccess(Numbers.UNPROVED, "its code was not generated")


def missing_storage(dispatch: Dispatch) -> tuple[Binding, ...]:
    """The bindings of ``dispatch`` with elements that its target's storage buffers do not hold."""
    widths = dispatch.target.storage_bits
    return tuple(
        b
        for b in dispatch.bindings
        if widths and b.element_bits < WORD_BITS and _stored_bits(b) not in widths
    )


def bound_access(dispatch: Dispatch) -> NarrowAccess:
    """What the bindings show, whatever the code does."""
    missing = missing_storage(dispatch)
    tails = [b for b in missing if (size := _bytes(b)) is None or size % WORD_BYTES]
    lengths = bound_lengths(dispatch) if tails else {}
    halves = [NarrowAccess(Numbers.WRONG, _HALVES)] if any(b.element == "f16" for b in missing) else []
    return worst((RIGHT, *halves, *(_of_tail(binding, lengths.get(binding.number)) for binding in tails)))


def generated_access(function_or_module: ir.Operation) -> NarrowAccess:
    """What the code shows, after IREE emulated types below a byte and gave buffers vectors as elements, before the conversion."""
    found = RIGHT

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        if op.name in _STORES and _skipped_loop(op) and (element := _narrow_integer(op)) is not None:
            found = worst(
                (
                    found,
                    NarrowAccess(
                        Numbers.WRONG_ON_SOME,
                        f"lavapipe ends a loop early that writes {element} and that some threads of a workgroup skip",
                    ),
                )
            )
        if op.name in _BUFFERS:
            found = worst((found, _of_buffer(ir.MemRefType(op.results[0].type).element_type)))
        elif (
            op.name not in _LOW_BITS and (narrow := _narrow_value(op)) is not None and not _reads_extended(op)
        ):
            found = worst(
                (
                    found,
                    NarrowAccess(
                        Numbers.UNPROVED, f"{op.name} on {narrow} reads upper bits that are not defined"
                    ),
                )
            )
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _skipped_loop(op: ir.Operation) -> bool:
    """Whether ``op`` is run by a loop inside a branch."""
    parent, in_loop = op.parent, False
    while parent is not None:
        name = parent.operation.name
        if in_loop and name == "scf.if":
            return True
        in_loop = in_loop or name in _LOOPS
        parent = parent.operation.parent
    return False


def _narrow_integer(store: ir.Operation) -> ir.Type | None:
    """The narrow integer that ``store`` writes one at a time; None where it writes something else."""
    element = ir.MemRefType(store.operands[1].type).element_type
    bits = _bits(element)
    return element if isinstance(element, ir.IntegerType) and bits is not None and bits < WORD_BITS else None


def worst(found: Iterable[NarrowAccess]) -> NarrowAccess:
    """The first of the worst."""
    return max(found, key=lambda access: access.numbers)


def _stored_bits(binding: Binding) -> int:
    return max(8, binding.element_bits)


def _shape(binding: Binding) -> list[str]:
    found = _SHAPE.search(binding.type)
    return found.group(1).split("x")[:-1] if found else ["?"]


def _bytes(binding: Binding) -> int | None:
    """The bytes of a binding's tensor. Of a dynamic one a whole number of words where its static sizes make one, else None."""
    sizes = _shape(binding)
    bits = prod(int(size) for size in sizes if size != "?") * binding.element_bits
    return None if "?" in sizes and bits % WORD_BITS else -(-bits // 8)


def _of_tail(binding: Binding, bound: int | None) -> NarrowAccess:
    """The last word of a tensor that does not fill it, of which ``bound`` bytes are bound."""
    tail = f"the last word of a buffer of {'x'.join([*_shape(binding), binding.element])} reads as 0, and writes to it are lost"
    size = _bytes(binding)
    if size is None:
        return NarrowAccess(Numbers.UNPROVED, f"where its bytes are no multiple of {WORD_BYTES}, {tail}")
    if bound is None or binding.offset is None:
        return NarrowAccess(Numbers.UNPROVED, f"where no more bytes are bound than its {size}, {tail}")
    if binding.offset + -(-size // WORD_BYTES) * WORD_BYTES <= bound:
        return RIGHT
    return NarrowAccess(Numbers.WRONG, f"{tail}: its {size} bytes are no multiple of {WORD_BYTES}")


def _of_buffer(element: ir.Type) -> NarrowAccess:
    inner = ir.VectorType(element).element_type if isinstance(element, ir.VectorType) else element
    bits = _bits(inner)
    if bits is None or bits >= WORD_BITS:
        return RIGHT
    if isinstance(inner, ir.F16Type):
        return NarrowAccess(Numbers.WRONG, _HALVES)
    if isinstance(element, ir.VectorType):
        return NarrowAccess(Numbers.WRONG, f"vectors of {inner} are addressed as if each {inner} had 4 bytes")
    if isinstance(inner, ir.FloatType):
        return NarrowAccess(Numbers.UNPROVED, f"nothing is known of buffers of {inner}")
    return RIGHT


def _narrow_value(op: ir.Operation) -> ir.Type | None:
    """The narrow type that ``op`` computes with. Booleans are none: they have a type of their own in SPIR-V."""
    for value in (*op.operands, *op.results):
        type_ = value.type
        element = type_.element_type if isinstance(type_, (ir.VectorType, ir.MemRefType)) else type_
        element = ir.VectorType(element).element_type if isinstance(element, ir.VectorType) else element
        bits = _bits(element)
        if bits is not None and 1 < bits < WORD_BITS:
            return element
    return None


def _reads_extended(op: ir.Operation) -> bool:
    return op.name in _SIGNED and all(_is_extended(value) for value in op.operands)


def _is_extended(value: ir.Value, depth: int = 0) -> bool:
    """Whether the register that holds the narrow integer ``value`` holds its sign-extension."""
    owner = value.owner
    if isinstance(owner, ir.Block) or depth > _ANY_DEPTH:
        return False
    op = owner.operation
    below = list(op.operands)
    if op.name == "arith.select":
        below = [*operands_named(op, "true_value"), *operands_named(op, "false_value")]
    return op.name in _EXTENDED or op.name in _MOVES and all(_is_extended(v, depth + 1) for v in below)


def _bits(type_: ir.Type) -> int | None:
    return type_.width if isinstance(type_, (ir.IntegerType, ir.FloatType)) else None
