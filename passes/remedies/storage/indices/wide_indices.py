"""Computes the indices of a check in 64 bits, whatever width the device's own indices have.

A dispatch for Vulkan computes `index` in 32 bits (IREE 3.13), the host in 64. An offset of 2**32 + 1 that the host hands to a dispatch is
1 there, and so is its sum with the number of a round: a check that repeats the sum as an `index` finds nothing wrong. An i64 stays one.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect import is_defined_inside
from fissile.passes.analysis.bounds.shaped_values import is_argument

_CASTS = {"arith.index_cast": arith.extsi, "arith.index_castui": arith.extui}
"""To an index; the cast to an i64 that is the same."""
_CHANGED = "arith."
"""Ops that take an i64 in the place of an `index`. Others keep theirs."""
_ENDS = ("scf.yield", "scf.condition")


def widen_indices(check: ir.Operation) -> None:
    """Turns the arithmetic on indices in the body of the structured op ``check``, whose results are no indices, into that of i64."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found |= (
            op.name.startswith(("arith.", "scf."))
            and op.name not in ("arith.constant", *_CASTS)
            and any(isinstance(result.type, ir.IndexType) for result in op.results)
        )
        return ir.WalkResult.ADVANCE

    block = check.regions[0].blocks[0]
    for op in block.operations:
        op.operation.walk(visit)
    if found:
        with check.context, check.location:
            _Widening(check).block(block)


class _Widening:
    def __init__(self, check: ir.Operation) -> None:
        self._check = check
        self._i32, self._i64 = (ir.IntegerType.get_signless(bits) for bits in (32, 64))
        self._wide: dict[ir.Value, ir.Value] = {}
        """By index; those that are an i64 by now stand for themselves."""

    def block(self, block: ir.Block) -> None:
        for op in list(block.operations):
            op = op.operation
            if op.name in _CASTS and isinstance(op.results[0].type, ir.IndexType):
                self._from_integer(op)
            elif op.name in _CASTS and isinstance(op.operands[0].type, (ir.IndexType, ir.IntegerType)):
                self._to_integer(op)
            elif op.name in _ENDS:
                self._end(op)
            elif len(op.regions) and self._hands_on(op):
                self._rebuilt(op)
            elif op.name.startswith(_CHANGED):
                self._changed(op)
            else:
                self._kept(op)
                for region in op.regions:
                    for inner in region.blocks:
                        self.block(inner)

    def _of(self, value: ir.Value, at: ir.InsertionPoint) -> ir.Value:
        """``value``, an index, as an i64."""
        if value not in self._wide:
            outside = not is_defined_inside(value, self._check)
            if outside:
                at = ir.InsertionPoint(self._check)
            elif is_argument(value):
                at = ir.InsertionPoint.at_block_begin(value.owner)
            self._wide[value] = arith.index_cast(self._i64, value, ip=at)
        return self._wide[value]

    def _is_wide(self, value: ir.Value) -> bool:
        return value in self._wide and self._wide[value] == value

    def _from_integer(self, op: ir.Operation) -> None:
        given = op.operands[0]
        same = given.type == self._i64
        wide = given if same else _CASTS[op.name](self._i64, given, ip=ir.InsertionPoint(op))
        op.results[0].replace_all_uses_with(wide)
        self._wide[wide] = wide
        op.erase()

    def _to_integer(self, op: ir.Operation) -> None:
        at, type_ = ir.InsertionPoint(op), op.results[0].type
        given = op.operands[0]
        wide = self._of(given, at) if isinstance(given.type, ir.IndexType) else given
        wide = wide if type_ == self._i64 else arith.trunci(type_, wide, ip=at)
        op.results[0].replace_all_uses_with(wide)
        op.erase()

    def _kept(self, op: ir.Operation, first: int | None = None) -> None:
        """Its ``first`` operands, by default all, are an index again where they were one."""
        for number, value in enumerate(list(op.operands)[:first]):
            if self._is_wide(value):
                op.operands[number] = arith.index_cast(ir.IndexType.get(), value, ip=ir.InsertionPoint(op))
        for result in op.results if first is None else ():
            if isinstance(result.type, ir.IndexType):
                self._of(result, ir.InsertionPoint.after(op))

    def _changed(self, op: ir.Operation) -> None:
        at = ir.InsertionPoint(op)
        for number, value in enumerate(op.operands):
            if isinstance(value.type, ir.IndexType):
                op.operands[number] = self._of(value, at)
        if op.name == "arith.constant" and isinstance(op.results[0].type, ir.IndexType):
            number = ir.IntegerAttr(op.attributes["value"]).value
            op.attributes["value"] = ir.IntegerAttr.get(self._i64, number)
        for value in op.results:
            if isinstance(value.type, ir.IndexType):
                value.set_type(self._i64)
                self._wide[value] = value

    # Regions hand an index on as two i32: IREE's emulation of i64 on a device without it (3.13) takes none across them.

    def _hands_on(self, op: ir.Operation) -> bool:
        handed = [*op.results, *(a for r in op.regions for b in r.blocks for a in _handed(op, b))]
        return any(isinstance(value.type, ir.IndexType) for value in handed)

    def _rebuilt(self, op: ir.Operation) -> None:
        at, bounds = ir.InsertionPoint(op), 3 if op.name == "scf.for" else 0
        self._kept(op, bounds)
        given = [*list(op.operands)[:bounds], *self._split(list(op.operands)[bounds:], at)]
        made = ir.Operation.create(
            op.name,
            self._types(op.results),
            given,
            attributes={a.name: a.attr for a in op.attributes},
            regions=len(op.regions),
            ip=at,
        )
        for region, new in zip(op.regions, made.regions, strict=True):
            for source in list(region.blocks):
                kept = list(source.arguments)[: len(source.arguments) - len(_handed(op, source))]
                block = new.blocks.append(*(a.type for a in kept), *self._types(_handed(op, source)))
                end = ir.InsertionPoint(block)
                for old, argument in zip(kept, list(block.arguments), strict=False):
                    old.replace_all_uses_with(argument)
                self._join(_handed(op, source), list(block.arguments)[len(kept) :], end)
                for inner in list(source.operations):
                    inner.operation.detach_from_parent()
                    end.insert(inner.operation)
                self.block(block)
        self._join(list(op.results), list(made.results), ir.InsertionPoint.after(made))
        op.erase()

    def _end(self, op: ir.Operation) -> None:
        if any(v in self._wide or isinstance(v.type, ir.IndexType) for v in op.operands):
            at = ir.InsertionPoint(op)
            ir.Operation.create(op.name, [], self._split(list(op.operands), at), ip=at)
            op.erase()

    def _types(self, values: Sequence[ir.Value]) -> list[ir.Type]:
        return [
            t for v in values for t in ([self._i32] * 2 if isinstance(v.type, ir.IndexType) else [v.type])
        ]

    def _split(self, values: Sequence[ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
        """The lower and the upper half of each index."""
        found = []
        for value in values:
            if not (isinstance(value.type, ir.IndexType) or self._is_wide(value)):
                found.append(value)
                continue
            wide = self._of(value, at)
            upper = arith.shrsi(wide, arith.constant(self._i64, 32, ip=at), ip=at)
            found += [arith.trunci(self._i32, half, ip=at) for half in (wide, upper)]
        return found

    def _join(self, old: Sequence[ir.Value], new: Sequence[ir.Value], at: ir.InsertionPoint) -> None:
        """Puts ``new``, in which an index has two values, in the place of ``old``."""
        values = iter(new)
        for value in old:
            made = next(values)
            if isinstance(value.type, ir.IndexType):
                lower, upper = (arith.extui(self._i64, half, ip=at) for half in (made, next(values)))
                upper = arith.shli(upper, arith.constant(self._i64, 32, ip=at), ip=at)
                made = arith.ori(lower, upper, ip=at)
                self._wide[made] = made
            value.replace_all_uses_with(made)


def _handed(op: ir.Operation, block: ir.Block) -> list[ir.Value]:
    """The arguments of a block of ``op`` but the number of an scf.for's round."""
    return list(block.arguments)[1 if op.name == "scf.for" else 0 :]
