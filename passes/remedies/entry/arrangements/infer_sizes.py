"""The size that -1 stands for in a reshape that splits a dimension."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.assumed_sizes import VIEWS
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import type_of
from ..torch_ops import TensorType, apply
from .plans import LIST

_SIZE = "torch.aten.size.int"
_UNFLATTEN = "aten.unflatten.int"
_MINUS_ONE = -1


@dataclass(frozen=True)
class _Split:
    """Dimension ``dim`` of ``source`` becomes dimensions of the sizes ``sizes``, the others stay; ``made`` is the result's type."""

    source: ir.Value
    dim: int
    sizes: tuple[ir.Value, ...]
    made: TensorType

    @property
    def constants(self) -> list[int | None]:
        return [_constant(size) for size in self.sizes]

    @property
    def whole(self) -> int | None:
        return type_of(self.source).shape[self.dim]

    @property
    def left(self) -> int | None:
        """Which of ``sizes`` IREE writes -1 for: the program's -1, or the only one that is not constant."""
        if _MINUS_ONE in self.constants:
            return self.constants.index(_MINUS_ONE)
        return self.constants.index(None) if self.constants.count(None) == 1 else None

    @property
    def known(self) -> int:
        """The product of the sizes that are constants."""
        return prod(one for one in self.constants if one not in (None, _MINUS_ONE))

    @property
    def is_misread(self) -> bool:
        """Whether IREE writes -1 as a size, since several are unknown in the type, or crashes, since one of a known dimension is.

        Of a known dimension only a -1 is inferred: a size of the call may not fit, nor may constants.
        """
        unknown = self.made.shape[self.dim : self.dim + len(self.sizes)].count(None)
        if self.whole is None:
            return self.left is not None and unknown > 1
        return _MINUS_ONE in self.constants and unknown > 0 and self.whole % max(self.known, 1) == 0

    def inferred(self) -> ir.Value:
        """What -1 stands for: the size of the dimension divided by the others."""
        whole = self.whole
        others = [size for size, one in zip(self.sizes, self.constants, strict=True) if one is None]
        if whole is not None and not others:
            return torch.integer(whole // max(self.known, 1))
        divisor = torch.integer(self.known)
        for other in others:
            divisor = apply("aten.mul.int", [divisor, other], divisor.type)
        # Of no elements every size is right, and nothing is divided by 0.
        least = apply("prim.max.int", [divisor, torch.integer(1)], divisor.type)
        size = torch.size(self.source, self.dim) if whole is None else torch.integer(whole)
        return apply("aten.floordiv.int", [size, least], size.type)


@register_pass
@dataclass(frozen=True)
class InferSizes(FrontEndRemedy):
    """Computes the size that -1 stands for in a reshape that splits a dimension, and writes the sizes that are constants into its type.

    IREE 3.13 reads such an `aten.view` or `reshape` as `aten.unflatten`, with -1 for a size that it could infer, and of several unknown sizes takes
    that -1 to be a size (FIS164): the module of `x.view(batch, -1, 4)` is built, and fails when it is called, or the compiler crashes. Run it on
    the program as it was imported.
    """

    name: ClassVar[str] = "fissile-infer-sizes"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS164")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "computes the size that -1 stands for in an `aten.view`, `aten.reshape` or `aten.unflatten` that splits a dimension into several of unknown size (in the input)"
    )
    repairs: ClassVar[str] = (
        "such reshapes, in which IREE takes -1 to be a size: they fail when they are called, on every target (FIS164)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "computed the size that -1 stands for"
    advice: ClassVar[str] = "compute the size that -1 stands for"

    def fits(self, op: ir.Operation) -> bool:
        split = _split(op)
        return split is not None and split.is_misread

    def written(self, op: ir.Operation) -> list[ir.Value]:
        split = _split(op)
        assert split is not None  # `fits`
        sizes, at = list(op.operands[-1].owner.operands), split.left
        assert at is not None
        begin = split.dim if torch.front_end_name(op) == _UNFLATTEN else 0
        if split.constants[at] == _MINUS_ONE:
            sizes[split.dim - begin + at] = split.inferred()
        made = split.made
        for at, size in enumerate(sizes, begin):
            if made.shape[at] is None and (number := _constant(size)) is not None:
                made = made.with_size(at, number)
        operands = [*list(op.operands)[:-1], torch.listed(sizes)]
        return [torch.cast(apply(torch.front_end_name(op), operands, made), op.results[0].type)]


def _split(op: ir.Operation) -> _Split | None:
    """How ``op`` splits one dimension; None for another op, and where it does something else."""
    name = torch.front_end_name(op)
    if name not in (*VIEWS, _UNFLATTEN) or len(op.operands) != (3 if name == _UNFLATTEN else 2):
        return None
    given, made, listed = TensorType.of(op.operands[0]), TensorType.of(op.results[0]), op.operands[-1].owner
    if given is None or made is None or isinstance(listed, ir.Block) or listed.name != LIST:
        return None
    sizes = list(listed.operands)
    if [_constant(size) for size in sizes].count(_MINUS_ONE) > 1:
        return None
    x, rank = op.operands[0], len(given.shape)
    if name == _UNFLATTEN:
        dim = torch.integer_of(op.operands[1])
        if dim is None or not -rank <= dim < rank or len(made.shape) != rank + len(sizes) - 1:
            return None
        return _Split(x, dim % rank, tuple(sizes), made)
    if len(made.shape) != len(sizes) or len(sizes) <= rank:
        return None
    first = 0
    while first < rank and _is_size(sizes[first], x, first):
        first += 1
    last = 0
    while last < rank - first and _is_size(sizes[-1 - last], x, rank - 1 - last):
        last += 1
    if rank - first - last != 1:
        return None
    return _Split(x, first, tuple(sizes[first : len(sizes) - last]), made)


def _is_size(size: ir.Value, x: ir.Value, dim: int) -> bool:
    """Whether ``size`` is that of dimension ``dim`` of ``x``, as IREE sees it."""
    known, number = type_of(x).shape[dim], _constant(size)
    if known is not None or number is not None:
        return known == number
    op = size.owner
    if isinstance(op, ir.Block) or op.name != _SIZE or op.operands[0] != x:
        return False
    return torch.integer_of(op.operands[1]) == dim


def _constant(size: ir.Value) -> int | None:
    """The number that ``size`` is, also the known size of a tensor."""
    op = size.owner
    if isinstance(op, ir.Block) or op.name != _SIZE:
        return torch.integer_of(size)
    type_, dim = TensorType.of(op.operands[0]), torch.integer_of(op.operands[1])
    if type_ is None or dim is None or not -len(type_.shape) <= dim < len(type_.shape):
        return None
    return type_.shape[dim]
