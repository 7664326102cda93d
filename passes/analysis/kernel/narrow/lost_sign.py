"""Sign extensions that SPIR-V code generation turns into zero extensions.

IREE 3.13 reads a vector of narrow integers that is wider than one 32-bit word as words, and rewrites the sign extension of
the bytes in them into a mask and a logical shift (llvm-project #199243, open): the sign is lost. Vectors of one word
and conversions to float are right. Measured: an int8 matmul on a device with 8-bit storage, 4091 of 4096 values wrong.
"""

from __future__ import annotations

from math import prod

from iree.compiler import ir

WORD_BITS = 32
_THROUGH = (
    "vector.extract_strided_slice",
    "vector.shape_cast",
    "vector.extract",
    "vector.broadcast",
    "vector.transpose",
    "vector.insert_strided_slice",
    "vector.shuffle",
)
_READS = ("vector.transfer_read", "vector.load", "vector.maskedload")


def lost_signs(function_or_module: ir.Operation) -> tuple[str, ...]:
    """Element types whose sign is lost: of vectors read as more than one word that reach an `arith.extsi`.

    Reads IR after vectorisation and before the conversion to SPIR-V.
    """
    found: dict[str, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "arith.extsi":
            for read in _reads_behind(op.operands[0]):
                vector_type = ir.VectorType(read.results[0].type)
                width = ir.IntegerType(vector_type.element_type).width
                if (
                    width < WORD_BITS and width * prod(vector_type.shape) > WORD_BITS
                ):  # whole words keep their sign
                    found[str(vector_type.element_type)] = None
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    return tuple(found)


def _reads_behind(value: ir.Value) -> list[ir.Operation]:
    pending, seen, reads = [value], set(), []
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block):
            continue
        op = owner.operation
        if hash(op) in seen:
            continue
        seen.add(hash(op))
        if op.name in _READS and isinstance(op.results[0].type, ir.VectorType):
            reads.append(op)
        elif op.name in _THROUGH:
            pending.extend(op.operands)
    return reads
