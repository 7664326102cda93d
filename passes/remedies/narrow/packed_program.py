"""Rewrites a program so that no dispatch binds a buffer of narrow elements: the walk behind `fissile-pack-narrow-storage`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect import place_of
from fissile.dialect.operands import operand
from fissile.finding import Finding, ordered
from fissile.passes.analysis.dispatch.narrow_types import (
    NarrowSet,
    NarrowType,
)
from fissile.passes.analysis.dispatch.structure import structure_of
from fissile.passes.analysis.layout.partial_bytes import is_partial
from fissile.passes.definition import PassFailed
from fissile.passes.iree import ops as iree_ops

from ..generic_ops import build_generic, element_type
from .elementwise_on_words import ReadByWords, build_by_words, reads_by_words
from .masked_scatter import in_whole_words
from .packed_words import pack, unpack
from .widened_scalars import CannotWiden, ScalarWidener

MOVERS = (
    "tensor.empty",
    "tensor.extract_slice",
    "tensor.insert_slice",
    "tensor.concat",
    "tensor.insert",
    "tensor.from_elements",
    "tensor.splat",
)
"""Ops that move elements, or make room for them, whatever their type."""
RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast", "tensor.reshape")
"""Ops that leave the bytes as they are."""
RETYPED = ("linalg.softmax",)
"""Structured ops without a body that take any float type; in f32 they are more precise."""
BY_REGION = (
    iree_ops.LINALG_EXT_ARG_COMPARE,
    iree_ops.LINALG_EXT_GATHER,
    iree_ops.LINALG_EXT_SCAN,
    iree_ops.LINALG_EXT_SCATTER,
    iree_ops.LINALG_EXT_SORT,
    iree_ops.LINALG_EXT_TOPK,
)
"""Ops of IREE's own that move elements, or compare and combine them by their regions alone, whatever their type."""
COMPARING = (iree_ops.LINALG_EXT_ARG_COMPARE, iree_ops.LINALG_EXT_SORT, iree_ops.LINALG_EXT_TOPK)
"""Those of which a region yields whether its arguments are in order."""
SCATTER = iree_ops.LINALG_EXT_SCATTER
_EXTENSION = iree_ops.LINALG_EXT_OPS


def pack_narrow_storage(
    module: ir.Operation, narrow: NarrowSet, only: Iterable[ir.Operation] | None = None
) -> int:
    """Rewrites ``module`` in place, of its structured ops those in ``only``; returns the number of ops rewritten.

    Raises PassFailed (FIS114); after a failure the module is in an undefined state.
    """
    packing = _Packing(narrow, only)
    for block in [block for region in module.regions for block in region.blocks]:
        packing.walk(block)
    if packing.refused:
        raise PassFailed(ordered(packing.refused))
    return packing.finish()


class _Packing:
    def __init__(self, narrow: NarrowSet, only: Iterable[ir.Operation] | None = None) -> None:
        self._narrow = narrow
        self._only = None if only is None else {hash(op) for op in only}
        self._wide: dict[ir.Value, ir.Value] = {}
        self._packed: dict[ir.Value, ir.Value] = {}
        self._computed: set[ir.Value] = set()
        self._replaced: list[ir.Operation] = []
        self.refused: list[Finding] = []

    def walk(self, block: ir.Block) -> None:
        for op in [op.operation for op in block.operations]:
            try:
                with ir.InsertionPoint(op), op.location:
                    self._visit(op)
            except CannotWiden as stuck:
                self.refused.append(_refusal(stuck.op, op))

    def finish(self) -> int:
        """Erases what was replaced."""
        for op in reversed(self._replaced):
            if any(True for result in op.results for _ in result.uses):
                raise AssertionError(f"a replaced {op.name} is still used")  # erasing it would crash
            op.erase()
        return len(self._replaced)

    # --- which form an op takes its operands in

    def _visit(self, op: ir.Operation) -> None:
        narrow = [v for v in (*op.operands, *op.results) if self._is_narrow(v)]
        if not narrow and not op.regions:
            return
        if op.name == "tensor.dim":
            if op.operands[0] in self._computed:
                op.operands[0] = self.wide(op.operands[0])
        elif op.name == iree_ops.UTIL_OPTIMIZATION_BARRIER and any(is_partial(v.type) for v in narrow):
            self._retype(op)
        elif self._only is not None and hash(op) not in self._only:
            self._keep(op)
        elif narrow and (op.name in MOVERS or op.name in RETYPED):
            self._retype(op)
        elif op.name.startswith("linalg."):
            self._structured(op, bool(narrow))
        elif narrow and op.name.startswith(_EXTENSION):
            self._by_region(op)
        elif narrow and op.name == "tensor.pad":
            self._pad(op)
        elif narrow and op.name in ("tensor.extract", "tensor.bitcast", "arith.bitcast"):
            self._scalar_or_cast(op)
        elif op.name in RESHAPES:
            if op.operands[0] in self._computed:
                self._retype(op)
        else:
            self._keep(op)

    def _keep(self, op: ir.Operation) -> None:
        """``op`` stays and reads stored forms; what stands in its regions is visited."""
        for position, value in enumerate(op.operands):
            if value in self._computed:
                op.operands[position] = self.narrow(value)
        for region in op.regions:
            for block in region.blocks:
                self.walk(block)

    def _is_narrow(self, value: ir.Value) -> bool:
        return isinstance(value.type, ir.RankedTensorType) and self._narrow.of(value.type) is not None

    def _type_of(self, type_: ir.Type) -> NarrowType:
        """The narrow type of what `_is_narrow`."""
        found = self._narrow.of(type_)
        assert found is not None
        return found

    def wide(self, value: ir.Value) -> ir.Value:
        """The 32-bit form of a narrow tensor; what comes from storage is unpacked where it is defined."""
        if value not in self._wide:
            with _after(value):
                self._wide[value] = unpack(value, self._type_of(value.type))
        return self._wide[value]

    def narrow(self, value: ir.Value) -> ir.Value:
        """The stored form of a narrow tensor that is computed."""
        if value not in self._packed:
            with _after(self._wide[value]):
                self._packed[value] = pack(self._wide[value], self._type_of(value.type), value.type)
        return self._packed[value]

    def _operand(self, value: ir.Value) -> ir.Value:
        return self.wide(value) if self._is_narrow(value) else value

    def _replace(self, op: ir.Operation, results: Iterable[ir.Value]) -> None:
        for old, result in zip(op.results, results, strict=False):
            if self._is_narrow(old):
                self._wide[old] = result
                self._computed.add(old)
            else:
                old.replace_all_uses_with(result)
        self._replaced.append(op)

    # --- the ops

    def _retype(self, op: ir.Operation) -> None:
        """The same op on the wide forms of its tensors."""
        if op.name in RETYPED and not all(_is_float(v.type) for v in op.operands):
            raise CannotWiden(op)
        operands = [
            self._operand(v) if isinstance(v.type, ir.RankedTensorType) else self._scalar(v)
            for v in op.operands
        ]
        results = [self._narrow.wide_type(v.type) for v in op.results]
        attributes = {
            named.name: named.attr for named in (op.attributes[i] for i in range(len(op.attributes)))
        }
        self._replace(op, ir.Operation.create(op.name, results, operands, attributes).results)

    def _scalar(self, value: ir.Value) -> ir.Value:
        """The 32-bit form of a scalar outside of any body."""
        if self._narrow.of(value.type) is None:
            return value
        widener = self._widener()
        return widener.leave(value)

    def _widener(self) -> ScalarWidener:
        return ScalarWidener(self._narrow, self.wide)

    def _structured(self, op: ir.Operation, narrow: bool) -> None:
        reads = [inner.operands[0] for inner in _ops_in(op) if inner.name == "tensor.extract"]
        if not narrow and not any(self._is_narrow(v) for v in reads):
            return
        if op.name == "linalg.fill":
            value, output = self._scalar(op.operands[0]), self._operand(op.operands[1])
            self._replace(op, [linalg.fill(value, outs=[output])])
            return
        structure = structure_of(op)
        if structure is None:
            raise CannotWiden(op)
        if structure.all_parallel and (stored := self._stored(op)):
            if plan := reads_by_words(op, structure.maps, stored):
                self._by_words(op, structure.maps, plan)
                return
        operands = [self._operand(v) for v in op.operands]
        outputs = len(op.results)
        inputs, inits = operands[: len(operands) - outputs], operands[len(operands) - outputs :]
        new, block = build_generic(inputs, inits, structure.maps, structure.parallel)
        with ir.InsertionPoint(block):
            linalg.YieldOp(self._body(op, block.arguments))
        self._replace(op, new.operation.results)

    def _stored(self, op: ir.Operation) -> dict[int, NarrowType]:
        """The inputs that come from storage as they are, by position: nothing has unpacked them yet.

        A tensor of no dimensions has no word of several elements: it is unpacked for itself.
        """
        inputs = list(op.operands)[: len(op.operands) - len(op.results)]
        return {
            i: self._type_of(v.type)
            for i, v in enumerate(inputs)
            if self._is_narrow(v)
            and v not in self._computed
            and ir.RankedTensorType(v.type).rank
            and self._type_of(v.type).per_word > 1
        }

    def _by_words(self, op: ir.Operation, maps: Sequence[ir.AffineMap], plan: ReadByWords) -> None:
        operands = [v if i in plan.words else self._operand(v) for i, v in enumerate(op.operands)]
        types = [self._narrow.wide_type(v.type) for v in op.results]
        self._replace(
            op, build_by_words(op, maps, plan, operands, types, lambda elements: self._body(op, elements))
        )

    def _body(self, op: ir.Operation, arguments) -> list[ir.Value]:
        """Copies the body of a structured op in 32 bits; returns what it yields."""
        old_block = op.regions[0].blocks[0]
        widener = self._widener()
        for old, argument in zip(old_block.arguments, arguments, strict=False):
            widener.enter(old, argument)
        body = [inner.operation for inner in old_block.operations]
        widener.block(body[:-1])
        # What a tensor that stays as it is holds (a boolean beside packed ones) stays as well.
        return [
            widener.leave(v) if self._is_narrow(r) else widener.value(v)
            for v, r in zip(body[-1].operands, op.results, strict=True)
        ]

    def _by_region(self, op: ir.Operation) -> None:
        """The same op on the wide forms of its tensors, its regions computing in 32 bits."""
        if op.name not in BY_REGION:
            raise CannotWiden(op)
        attributes = {
            named.name: named.attr for named in (op.attributes[i] for i in range(len(op.attributes)))
        }
        operands = [self._operand(v) for v in op.operands]
        if op.name == SCATTER and (mask := operand(op, "mask")) is not None and self._is_narrow(mask):
            operands = in_whole_words(op, operands)
        new = ir.Operation.create(
            op.name,
            [self._narrow.wide_type(v.type) for v in op.results],
            operands,
            attributes,
            regions=len(op.regions),
        )
        for old_region, region in zip(op.regions, new.regions, strict=False):
            for old in old_region.blocks:
                block = region.blocks.append(*[self._narrow.wide_type(a.type) for a in old.arguments])
                widener = self._widener()
                body = [inner.operation for inner in old.operations]
                with ir.InsertionPoint(block):
                    for argument, wide in zip(old.arguments, block.arguments, strict=False):
                        widener.enter(argument, wide)
                    widener.block(body[:-1])
                    # A comparison stays the boolean that it is; anything else is an element.
                    yielded = widener.value if op.name in COMPARING else widener.leave
                    ir.Operation.create(body[-1].name, [], [yielded(v) for v in body[-1].operands])
        self._replace(op, new.results)

    def _pad(self, op: ir.Operation) -> None:
        operands = [self._operand(v) for v in op.operands]
        attributes = {
            named.name: named.attr for named in (op.attributes[i] for i in range(len(op.attributes)))
        }
        new = ir.Operation.create(
            op.name, [self._narrow.wide_type(op.results[0].type)], operands, attributes, regions=1
        )
        block = new.regions[0].blocks.append(
            *[argument.type for argument in op.regions[0].blocks[0].arguments]
        )
        with ir.InsertionPoint(block):
            tensor.YieldOp(self._body(op, block.arguments)[0])
        self._replace(op, new.results)

    def _scalar_or_cast(self, op: ir.Operation) -> None:
        if op.name == "tensor.extract":
            type_ = op.results[0].type
            value = ir.Operation.create(
                op.name, [self._narrow.wide_type(type_)], [self.wide(op.operands[0]), *list(op.operands)[1:]]
            ).results[0]
            cast = arith.truncf if self._type_of(type_).is_float else arith.trunci
            narrowed = cast(type_, value)
            op.results[0].replace_all_uses_with(narrowed)
            self._replaced.append(op)
        elif op.operands[0] in self._computed:
            op.operands[0] = self.narrow(op.operands[0])  # a reinterpretation of the stored bytes


def _after(value: ir.Value):
    """An insertion point right behind the definition of ``value``."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _Located(ir.InsertionPoint.at_block_begin(owner), ir.Location.unknown(value.context))
    return _Located(ir.InsertionPoint.after(owner.operation), owner.operation.location)


class _Located:
    """An insertion point and a location as one context."""

    def __init__(self, point: ir.InsertionPoint, location: ir.Location) -> None:
        self._point, self._location = point, location

    def __enter__(self) -> None:
        self._location.__enter__()
        self._point.__enter__()

    def __exit__(self, *exc) -> None:
        self._point.__exit__(*exc)
        self._location.__exit__(*exc)


def _ops_in(op: ir.Operation) -> list[ir.Operation]:
    return [inner.operation for region in op.regions for block in region.blocks for inner in block.operations]


def _is_float(type_: ir.Type) -> bool:
    return isinstance(element_type(type_), ir.FloatType)


def _refusal(inner: ir.Operation, outer: ir.Operation) -> Finding:
    place = place_of(inner) or place_of(outer)
    what = inner.name if inner == outer else f"{inner.name} in {outer.name}"
    return Finding(
        "FIS114",
        f"narrow elements cannot be packed: no 32-bit form of {what} is known",
        subject=outer.name,
        places=(place,) if place else (),
    )
