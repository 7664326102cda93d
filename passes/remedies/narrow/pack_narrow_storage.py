"""Packs elements that a target's storage buffers cannot hold into 32-bit words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.errors import UsageError, closest
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.narrow_types import NARROW_TYPES, NarrowSet, missing_types_of
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.definition import option, register_pass

from ..chosen_ops import check_indices
from ..remedy import Exactness, Remedy
from .packed_program import pack_narrow_storage


@register_pass
@dataclass(frozen=True)
class PackNarrowStorage(Remedy):
    """Lets no dispatch bind a buffer of elements that the target's storage cannot hold (i8, f16 on default
    Vulkan).

    Arguments, results, constants and globals keep their types and bytes; they are read and written as 32-bit
    words. In between, narrow integers are computed in i32, wrapping as before, and 16-bit floats in f32,
    rounded after each op as before. IREE 3.13 accepts such programs without it and computes wrong addresses,
    or stops at `vector.bitcast`.

    ``types`` names the element types; without it they are read from the module's targets, and a module whose
    targets hold all types stays as it is. Of 8-bit floats and types below a byte a target may hold buffers and yet
    generate no code; with ``ops`` (indices of source ops) only those ops are changed. 8-bit floats are read and
    written as bytes where all targets hold bytes. With ``in-place`` i2 and i4 are read and written one at a time, as stock
    IREE does where storage holds bytes, and masked once they are in 32 bits. Run it after global optimisation, when the targets are known.
    Integer results are bit-identical. Results of f16 and bf16 arithmetic are correctly rounded;
    functions such as exp, a fused multiply-add and a softmax are at least as precise as in 16 bits.
    """

    name: ClassVar[str] = "fissile-pack-narrow-storage"
    cures: ClassVar[tuple[str, ...]] = (
        "FIS104",
        "FIS108",
        "FIS110",
        "FIS118",
        "FIS135",
        "FIS136",
        "FIS138",
        "FIS225",
    )
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "keeps the storage of narrow elements but reads and writes it as 32-bit words, and 8-bit floats as bytes if the "
        "target stores bytes; with `in-place`, i2 and i4 keep their buffers and are masked in 32 bits"
    )
    repairs: ClassVar[str] = (
        "wrong numbers and `vector.bitcast` on targets without 8/16-bit storage (FIS110); dequantised matmuls there "
        "that never finish compiling; i2 and i4 that Vulkan extends with their neighbours' bits (FIS135); vectors of "
        "them that begin within a byte (FIS138), or that threads write side by side on AMD (FIS225); packed booleans on AMD and NVIDIA (FIS136); 8-bit floats on CUDA and "
        "most AMD targets, and stored i4 and i2 (any target)"
    )
    numbers: ClassVar[str] = (
        "integers: bit-identical. f8, f16 and bf16 arithmetic: correctly rounded after each "
        "op, as before; `math` functions at least as precise; a fused multiply-add may differ by one "
        "rounding"
    )
    counterpart: ClassVar[str] = (
        "IREE emulates narrow elements with words itself (EmulateNarrowType), but that code addresses them wrongly on "
        "SPIR-V. On AMD a flag makes it emulate small floats; on NVIDIA there is none."
    )
    done: ClassVar[str] = "packed these buffers into 32-bit words; computed in 32 bits in between"
    advice: ClassVar[str] = "pack these buffers into 32-bit words; compute in 32 bits in between"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "iree_tensor_ext", "linalg", "math", "tensor")
    types: tuple[str, ...] = option(
        (), "element types to pack; empty: those that a target has no storage for"
    )

    ops: tuple[int, ...] = option((), "indices of the source ops to change; empty: all")
    in_place: bool = option(False, "read and write i2 and i4 as they are, and only compute in 32 bits")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for name in self.types:
            if name not in NARROW_TYPES:
                raise UsageError(
                    f"{self.name}: '{name}' is not a type that can be packed",
                    closest(name, list(NARROW_TYPES)),
                )
        missing = missing_types_of(op)
        narrow = NarrowSet(self.types or missing, has_bytes="i8" not in missing, in_place=self.in_place)
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        if narrow:
            pack_narrow_storage(op, narrow, [known[i] for i in self.ops] if self.ops else None)
