"""Scans of ONNX over sequences of unknown lengths, backwards, or along another dimension than the first, as loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.legacy_axes import opset_of
from fissile.passes.analysis.imports.unknown_sizes import integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import filled
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import size_of, type_of
from ..torch_ops import TensorType, apply

_SCAN, _TERMINATOR = "onnx.Scan", "torch.operator_terminator"
_BOOLEAN = "i1"
_WITHOUT_LENGTHS = 9
"""The opset from which on a Scan has no batch, and no lengths of its sequences."""


@dataclass(frozen=True)
class _Scan:
    """``states`` operands come first; the others are sequences along ``axes``, some of them from the end. So are the results."""

    op: ir.Operation
    states: int
    axes: tuple[int, ...]
    reverse: tuple[int, ...]
    made_axes: tuple[int, ...]
    made_reverse: tuple[int, ...]

    @property
    def sequences(self) -> list[ir.Value]:
        return list(self.op.operands)[self.states :]

    @property
    def made(self) -> list[ir.Value]:
        return list(self.op.results)[self.states :]

    @property
    def is_lowered(self) -> bool:
        """IREE 3.13 takes what is not known to be 1 element, and looks at no attribute but the number of sequences."""
        plain = not any((*self.axes, *self.reverse, *self.made_axes, *self.made_reverse))
        return plain and type_of(self.sequences[0]).shape[0] is not None

    @property
    def is_writable(self) -> bool:
        """Whether the sizes of the results are known but along their axes, or can be read from those of a step."""
        if any(type_of(made).element not in (*torch.NUMBERS, _BOOLEAN) for made in self.made):
            return False
        return not self.measures or not any(len(row.operation.regions) for row in self.rows[:-1])

    @property
    def rows(self) -> list[ir.OpView]:
        """The ops of the body; the last one names the results."""
        return list(self.op.regions[0].blocks[0].operations)

    @property
    def measures(self) -> bool:
        """Whether a result has a size that is not known, beside that along its axis."""
        shapes = [(type_of(made).shape, axis) for made, axis in zip(self.made, self.made_axes, strict=True)]
        return any(size is None and at != axis for shape, axis in shapes for at, size in enumerate(shape))


def misread(op: ir.Operation) -> bool:
    """Whether ``op`` is a Scan that IREE reads otherwise, whose results may be of unknown sizes."""
    scan = _scan_of(op)
    return scan is not None and not scan.is_lowered


@register_pass
@dataclass(frozen=True)
class LoopScans(FrontEndRemedy):
    """Writes an `onnx.Scan` that IREE reads otherwise as a loop that selects an element of each sequence and writes one of each result.

    IREE 3.13 runs a Scan forwards along the first dimension, whatever its attributes say, and one step of a sequence whose length is not known
    (FIS162). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-loop-scans"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces an `onnx.Scan` over an unknown length, backwards or along another dimension by a loop (in the input)"
    )
    repairs: ClassVar[str] = (
        "such scans, of which IREE ignores the direction and the axes, and computes one step where the length is not known: wrong numbers on every "
        "target (FIS162), or rejects them (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it as a loop over the steps"
    advice: ClassVar[str] = "write it as an onnx.Loop over the steps"

    def fits(self, op: ir.Operation) -> bool:
        scan = _scan_of(op)
        return scan is not None and not scan.is_lowered and scan.is_writable

    def written(self, op: ir.Operation) -> list[ir.Value]:
        scan = _scan_of(op)
        assert scan is not None  # `fits`
        length = size_of(scan.sequences[0], scan.axes[0])
        yes = torch.boolean(True)
        like: list[ir.Value | None] = list(_first_step(scan)) if scan.measures else [None] * len(scan.made)
        empty = [
            _empty(made, axis, length, one)
            for made, axis, one in zip(scan.made, scan.made_axes, like, strict=True)
        ]
        carried = [*list(op.operands)[: scan.states], *empty]
        types = [value.type for value in carried]
        loop = ir.Operation.create("torch.prim.Loop", types, [length, yes, *carried], regions=1)
        step = ir.Type.parse("!torch.int")
        block = loop.regions[0].blocks.append(step, *types)
        _fill(scan, block, length, yes)
        return [torch.cast(value, made.type) for value, made in zip(loop.results, op.results, strict=True)]


def _fill(scan: _Scan, block: ir.Block, length: ir.Value, yes: ir.Value) -> None:
    """Moves the body of ``scan`` into ``block``, between the selection of the elements and the writes of the results."""
    at, *now = block.arguments
    body = scan.op.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        backwards = _from_end(at, length) if any((*scan.reverse, *scan.made_reverse)) else at
        given = list(now[: scan.states])
        for value, axis, reverse in zip(scan.sequences, scan.axes, scan.reverse, strict=True):
            given.append(_element_at(value, axis, backwards if reverse else at))
        given = [torch.cast(one, old.type) for one, old in zip(given, body.arguments, strict=True)]
    for old, new in zip(body.arguments, given, strict=True):
        old.replace_all_uses_with(new)
    *rows, last = list(body.operations)
    for row in rows:
        block.append(row)
    computed = list(last.operands)
    with ir.InsertionPoint(block):
        states = [torch.cast(one, old.type) for one, old in zip(computed, now[: scan.states], strict=False)]
        results = []
        plan = zip(
            now[scan.states :], computed[scan.states :], scan.made_axes, scan.made_reverse, strict=True
        )
        for whole, part, axis, reverse in plan:
            place = backwards if reverse else at
            operands = [whole, part, torch.integer(axis), place]
            results.append(apply("aten.select_scatter", operands, whole.type))
        ir.Operation.create("torch.prim.Loop.condition", [], [yes, *states, *results])


def _from_end(at: ir.Value, length: ir.Value) -> ir.Value:
    behind = apply("aten.sub.int", [length, at], at.type)
    return apply("aten.sub.int", [behind, torch.integer(1)], at.type)


def _first_step(scan: _Scan) -> list[ir.Value]:
    """What the body makes of the first elements, of which only the sizes are read: what computes the elements is dead code."""
    values: dict[int, ir.Value] = {}
    given = scan.op.regions[0].blocks[0].arguments
    for value, axis, old in zip(scan.sequences, scan.axes, list(given)[scan.states :], strict=True):
        values[hash(old)] = torch.cast(_element_at(value, axis, torch.integer(0)), old.type)
    for old, state in zip(given, list(scan.op.operands)[: scan.states], strict=False):
        values[hash(old)] = torch.cast(state, old.type)
    *rows, last = scan.rows
    for row in rows:
        again = row.operation.clone()
        for at, operand in enumerate(again.operands):
            again.operands[at] = values.get(hash(operand), operand)
        values |= zip(map(hash, row.operation.results), again.results, strict=True)
    return [values.get(hash(one), one) for one in list(last.operands)[scan.states :]]


def _element_at(value: ir.Value, axis: int, place: ir.Value) -> ir.Value:
    shape = type_of(value).shape
    kind = TensorType((*shape[:axis], *shape[axis + 1 :]), type_of(value).element)
    return apply("aten.select.int", [value, torch.integer(axis), place], kind)


def _empty(made: ir.Value, axis: int, length: ir.Value, like: ir.Value | None) -> ir.Value:
    """A tensor of zeros like ``made``, of ``length`` elements along ``axis``; ``like`` has its sizes in the other dimensions."""
    type_ = type_of(made)
    sizes = []
    for at, one in enumerate(type_.shape):
        if at == axis:
            sizes.append(length)
        elif one is not None or like is None:
            sizes.append(torch.integer(one or 0))
        else:
            sizes.append(size_of(like, at - (at > axis)))
    if type_.element == _BOOLEAN:
        numbers = filled(sizes, TensorType(type_.shape, "si32"), 0.0)
        return apply("aten.ne.Scalar", [numbers, torch.integer(0)], type_)
    return filled(sizes, type_, 0.0)


def _scan_of(op: ir.Operation) -> _Scan | None:
    """What ``op`` says, if it is a Scan of an opset that has no lengths."""
    opset = opset_of(op)
    if torch.front_end_name(op) != _SCAN or opset is None or opset < _WITHOUT_LENGTHS or len(op.regions) != 1:
        return None
    count = number(op, "num_scan_inputs", 0)
    states = len(op.operands) - count
    made = len(op.results) - states
    if count < 1 or states < 0 or made < 0 or len(op.regions[0].blocks) != 1:
        return None
    operands, results = (list(map(TensorType.of, values)) for values in (op.operands, op.results))
    if None in operands or None in results:
        return None
    ranks = [[len(one.shape) for one in types[states:] if one] for types in (operands, results)]
    named = [
        _each(op, f"scan_{side}_{what}", total)
        for side, total in (("input", count), ("output", made))
        for what in ("axes", "directions")
    ]
    axes, reverse, made_axes, made_reverse = named
    if axes is None or reverse is None or made_axes is None or made_reverse is None:
        return None
    front, made_front = _from_front(axes, ranks[0]), _from_front(made_axes, ranks[1])
    if front is None or made_front is None:
        return None
    rows = list(op.regions[0].blocks[0].operations)
    if not rows or rows[-1].operation.name != _TERMINATOR or len(rows[-1].operands) != len(op.results):
        return None
    return _Scan(op, states, front, tuple(reverse), made_front, tuple(made_reverse))


def _from_front(axes: list[int], ranks: list[int]) -> tuple[int, ...] | None:
    """None where a tensor does not have the dimension."""
    pairs = list(zip(axes, ranks, strict=True))
    if any(not -rank <= axis < rank for axis, rank in pairs):
        return None
    return tuple(axis % rank for axis, rank in pairs)


def _each(op: ir.Operation, name: str, count: int) -> list[int] | None:
    """A number for each sequence, 0 if none is given."""
    found = integers(op, name)
    if found is None:
        return [0] * count
    return found if len(found) == count else None
