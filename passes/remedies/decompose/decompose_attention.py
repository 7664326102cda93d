"""Decomposes an attention: two contractions and a softmax, each of which can be a dispatch of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import e, log2, prod
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math, tensor

from fissile.dialect import BoundaryOp
from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operands_named
from fissile.passes.analysis.dispatch.attention_configuration import is_packed_i1
from fissile.passes.analysis.dispatch.attention_roles import (
    ATTENTIONS,
    INDEX,
    ONLINE_ATTENTION,
    AttentionRoles,
    index_position,
)
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops

from ..generic_ops import build_generic, element_type
from ..narrow.packed_words import Size, booleans_of_bytes, sizes_of
from ..rebuilt_ops import copy_into
from ..remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

NUMERICS = "computed in f32 and rounded once, where IREE rounds f16 and bf16 in between; sums may be added up in another order"
"""How exact the parts are."""

_YIELD = iree_ops.LINALG_EXT_YIELD
_LEAST_F32 = -3.4028234663852886e38
"""Where the maxima of an attention start, as IREE's own: a row that is masked as a whole is NaN either way."""
_LOG2_E = log2(e)


@register_pass
@dataclass(frozen=True)
class DecomposeAttention(OpRemedy):
    """Replaces iree_linalg_ext.attention and .online_attention by scores, their row maxima, powers, row sums and weighted values.

    IREE 3.13 makes one dispatch of an attention. SPIR-V code generation has no schedule for it, of any size; llvm-cpu
    computes wrong numbers where the head dimension is tiled (FIS133), and llvm-cpu and the GPUs where its region reads an
    index of a tiled loop (FIS134). ``ops`` chooses source ops by index; without it, all. With ``boundaries`` a
    `fissile.boundary` keeps the parts in dispatches of their own; without it dispatch creation may join them again.

    The scores, [batch, rows, columns], become a tensor, and so do bf16 operands in f32, and a packed mask in i32. As in
    IREE's decomposition the scores that the region sees are to the base 2 (times log2 e), and so are the maxima that an
    online attention takes and returns. All of it is computed in f32 (f64 for f64 operands) and rounded once to the
    result's type, where IREE rounds scaled queries and probabilities to their operands' type first: of f16 and bf16 the
    result is nearer to the exact one. Sums may be added up in another order.

    An attention whose operands are indexed by more than single loops, or whose region has an op without a counterpart,
    is FIS114.
    """

    name: ClassVar[str] = "fissile-decompose-attention"
    order: ClassVar[int] = 60
    cures: ClassVar[tuple[str, ...]] = ("FIS103", "FIS107", "FIS108", "FIS133", "FIS134")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "decomposes an attention, plain or online, into scores, maxima, powers, sums and weighted values"
    )
    repairs: ClassVar[str] = (
        "every `iree_linalg_ext.attention` and `.online_attention` on Vulkan, for which SPIR-V has no schedule; wrong "
        "numbers on llvm-cpu if the head dimension is above 128 or dynamic (FIS133); wrong numbers if the region reads "
        "an index or running sums continue (FIS134); crashes and rejections on GPUs: a dynamic head dimension, one key, "
        "a packed i1 mask"
    )
    numbers: ClassVar[str] = (
        "*not* identical: everything is computed in f32 and rounded once, so f16 and bf16 are closer to the exact "
        "result; sums may be reordered"
    )
    counterpart: ClassVar[str] = (
        "DecomposeAttention takes only online attentions that are already tiled inside a dispatch, so the parts stay in "
        "it, and SPIR-V's pipelines do not run it."
    )
    done: ClassVar[str] = "decomposed {ops} into scores, maxima, powers, sums and weighted values"
    advice: ClassVar[str] = "decompose {ops} into scores, maxima, powers, sums and weighted values"
    refusal: ClassVar[str] = "{op} cannot be decomposed as an attention: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "iree_tensor_ext", "linalg", "math", "tensor")
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option((), "indices of the source ops to decompose; empty: every attention")
    boundaries: bool = option(True, "keep the parts in dispatches of their own")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if op.name not in ATTENTIONS:
            return Match("it is not an attention")
        roles = AttentionRoles(op)
        if not all(m.is_projected_permutation for m in roles.maps.values()):
            return Match("an operand is indexed by more than single loops")
        if not all(
            isinstance(element_type(roles.operands[name].type), ir.FloatType)
            for name in ("query", "key", "value")
        ):
            return Match("its operands are no floats")
        if op.name == ONLINE_ATTENTION and any(
            element_type(result.type) != _wide(roles) for result in op.results
        ):
            return Match(f"its running results are not of {_wide(roles)}")
        if any(index_position(index) >= len(roles.scores) for index in roles.indices):
            return Match("its region reads the index of a loop that the scores do not have")
        for inner in op.regions[0].blocks[0].operations:
            name = inner.operation.name
            if (
                inner.operation.regions
                or name.startswith(iree_ops.LINALG_EXT_OPS)
                and name not in (INDEX, _YIELD)
            ):
                return Match(f"its region has {name}")
        return FITS

    def chooses(self, op: ir.Operation) -> bool:
        return op.name in ATTENTIONS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for attention in ops:
            decompose_attention(attention, self.boundaries)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        scores = [size for op in ops if (size := scores_bytes(op)) is not None]
        known = f"{sum(scores)} bytes of scores" if len(scores) == len(ops) else "scores of dynamic size"
        return f"{known} written to memory twice, as scores and as powers"

    def facts(self, ops: Sequence[ir.Operation]) -> tuple[tuple[str, str], ...]:
        return (("numerics", NUMERICS),)


def decompose_attention(op: ir.Operation, boundaries: bool = True) -> None:
    """Replaces the attention ``op``, which matches, in place."""
    with ir.InsertionPoint(op), op.location:
        parts = _Decomposition(AttentionRoles(op), boundaries)
        results = parts.online() if op.name == ONLINE_ATTENTION else (parts.whole(),)
    for before, after in zip(op.results, results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()


def scores_bytes(op: ir.Operation) -> int | None:
    """The bytes of the scores of attention ``op``, which become a tensor; None where a size is dynamic."""
    roles = AttentionRoles(op)
    extents = [extent for loop in roles.scores if (extent := roles.extent(loop)) is not None]
    return prod(extents) * _wide(roles).width // 8 if len(extents) == len(roles.scores) else None


def _wide(roles: AttentionRoles) -> ir.Type:
    """The type that everything is computed in."""
    context = roles.op.context
    return (
        ir.F64Type.get(context)
        if str(element_type(roles.operands["query"].type)) == "f64"
        else ir.F32Type.get(context)
    )


class _Decomposition:
    """The parts of one attention, built at the insertion point."""

    def __init__(self, roles: AttentionRoles, boundaries: bool) -> None:
        self._roles = roles
        self._boundaries = boundaries
        self._wide = _wide(roles)
        self._build = _Builder(_sizes(roles), self._wide)

    def whole(self) -> ir.Value:
        """The result of an attention."""
        roles, rows, to = self._roles, self._roles.rows, self._roles.loops_of("output")
        powers, largest = self._powers(_LEAST_F32, rows)
        total = self._cut(self._build([(powers, roles.scores)], rows, 0.0, arith.addf))
        weighted = self._weighted(powers, 0.0)
        result = element_type(roles.op.results[0].type)
        return self._build(
            [(weighted, to), (total, rows)],
            to,
            None,
            lambda x, s, _: _converted(arith.divf(x, s), result),
            result,
        )

    def online(self) -> tuple[ir.Value, ir.Value, ir.Value]:
        """The results of an online attention: weighted values, maxima and sums, each with what was before rescaled."""
        roles = self._roles
        before = {name: (roles.operands[name], roles.loops_of(name)) for name in ("output", "max", "sum")}
        powers, largest = self._powers(before["max"][0], before["max"][1])
        rows = before["max"][1]
        factor = None

        def rescaled(name: str) -> ir.Value | float:
            """What was before, times the power that the maximum has moved by; zeros stay zeros."""
            nonlocal factor
            value, loops = before[name]
            if _is_zero(value):
                return 0.0
            if factor is None:
                factor = self._cut(
                    self._build(
                        [before["max"], (largest, rows)],
                        rows,
                        None,
                        lambda old, new, _: math.exp2(arith.subf(old, new)),
                    )
                )
            return self._cut(
                self._build([(value, loops), (factor, rows)], loops, None, lambda x, f, _: arith.mulf(x, f))
            )

        total = self._build([(powers, roles.scores)], before["sum"][1], rescaled("sum"), arith.addf)
        return self._weighted(powers, rescaled("output")), largest, total

    def _powers(self, start: float | ir.Value, rows: list[int]) -> tuple[ir.Value, ir.Value]:
        """Two to the power of each score less its row's maximum, and the maxima, which ``start`` takes part in."""
        scores = self._scores()
        largest = self._cut(self._build([(scores, self._roles.scores)], rows, start, arith.maximumf))
        powers = self._build(
            [(scores, self._roles.scores), (largest, rows)],
            self._roles.scores,
            None,
            lambda x, m, _: math.exp2(arith.subf(x, m)),
        )
        return self._cut(powers), largest

    def _scores(self) -> ir.Value:
        roles = self._roles
        operands = [self._read("query"), self._read("key")]
        products = self._build(
            operands, roles.scores, 0.0, lambda q, k, out: arith.addf(arith.mulf(q, k), out)
        )
        given = [(products, roles.scores), (roles.operands["scale"], [])]
        if mask := roles.operands.get("mask"):
            given.append((booleans_of_bytes(mask) if is_packed_i1(mask) else mask, roles.loops_of("mask")))
        return self._cut(
            self._build(given, roles.scores, None, lambda *of: _score(roles, self._wide, *of[:-1]))
        )

    def _weighted(self, powers: ir.Value, start: float | ir.Value) -> ir.Value:
        return self._build(
            [(powers, self._roles.scores), self._read("value")],
            self._roles.loops_of("output"),
            start,
            lambda p, v, out: arith.addf(arith.mulf(p, v), out),
        )

    def _read(self, name: str) -> tuple[ir.Value, list[int]]:
        """An operand of a contraction. IREE folds the extension of bf16 into the contraction, and SPIR-V has no bf16."""
        operand, loops = self._roles.operands[name], self._roles.loops_of(name)
        if str(element_type(operand.type)) == "bf16":
            operand = self._cut(self._build([(operand, loops)], loops, None, lambda x, _: x))
        return operand, loops

    def _cut(self, value: ir.Value) -> ir.Value:
        return BoundaryOp(value).operation.results[0] if self._boundaries else value


def _sizes(roles: AttentionRoles) -> dict[int, Size]:
    """The extent of each loop, read off the operands at the insertion point."""
    found: dict[int, Size] = {}
    for name in ("query", "key", "value", "output"):
        for loop, size in zip(roles.loops_of(name), sizes_of(roles.operands[name]), strict=False):
            if not isinstance(found.get(loop), int):
                found[loop] = size
    return found


def _is_zero(value: ir.Value) -> bool:
    """Whether the tensor ``value`` is filled with the constant 0."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "linalg.fill":
        return False
    filler = operands_named(owner.operation, "inputs")[0].owner
    if isinstance(filler, ir.Block) or filler.operation.name != "arith.constant":
        return False
    constant = filler.operation.attributes["value"]
    return isinstance(constant, ir.FloatAttr) and constant.value == 0.0


class _Builder:
    """Builds generic ops from operands with the attention's loops that index them; floats enter bodies as ``wide``."""

    def __init__(self, sizes: dict[int, Size], wide: ir.Type) -> None:
        self._sizes = sizes
        self._wide = wide

    def __call__(
        self,
        inputs: Sequence[tuple[ir.Value, Sequence[int]]],
        loops: Sequence[int],
        start: float | ir.Value | None,
        body: Callable[..., ir.Value],
        result: ir.Type | None = None,
    ) -> ir.Value:
        """A tensor indexed by ``loops``, summed or maximised over the others from ``start`` on (None: there are none)."""
        result = result or self._wide
        used = [*loops, *sorted({d for _, own in inputs for d in own} - set(loops))]
        position = {loop: i for i, loop in enumerate(used)}
        maps = [
            ir.AffineMap.get(len(used), 0, [ir.AffineDimExpr.get(position[d]) for d in own])
            for own in (*(own for _, own in inputs), loops)
        ]
        init = (
            start
            if isinstance(start, ir.Value)
            else tensor.EmptyOp([self._sizes[d] for d in loops], result).result
        )
        if isinstance(start, float):
            init = linalg.fill(arith.constant(result, start), outs=[init])
        values = [value for value, _ in inputs]
        op, block = build_generic(values, [init], maps, [d in loops for d in used])
        with ir.InsertionPoint(block):
            taken = [
                _converted(a, self._wide) if isinstance(a.type, ir.FloatType) else a
                for a in block.arguments[:-1]
            ]
            linalg.YieldOp([body(*taken, block.arguments[-1])])
        return op.results[0]


def _score(
    roles: AttentionRoles, wide: ir.Type, product: ir.Value, scale: ir.Value, mask: ir.Value | None = None
) -> ir.Value:
    """One score to the base 2: scaled, through the op's region, masked. Of 8-bit floats IREE scales behind the region."""
    region = roles.op.regions[0].blocks[0]
    log2_e = arith.constant(wide, _LOG2_E)
    factor = arith.mulf(scale, log2_e)
    late = ir.FloatType(element_type(roles.operands["query"].type)).width <= 8
    scaled = product if late else arith.mulf(product, factor)
    values = {argument: _converted(scaled, argument.type) for argument in region.arguments}
    *inside, last = [inner.operation for inner in region.operations]
    for inner in inside:
        if inner.name == INDEX:
            values[inner.results[0]] = linalg.IndexOp(index_position(inner)).result
        else:
            copy_into(inner, values)
    yielded = last.operands[0]
    score = _converted(values.get(yielded, yielded), wide)
    if late:
        score = arith.mulf(score, factor)
    if mask is None:
        return score
    if isinstance(mask.type, ir.FloatType):
        return arith.addf(score, arith.mulf(mask, log2_e))
    boolean = ir.IntegerType.get_signless(1)
    kept = mask if mask.type == boolean else arith.trunci(boolean, mask)
    return arith.select(kept, score, arith.constant(wide, float("-inf")))


def _converted(value: ir.Value, type_: ir.Type) -> ir.Value:
    """A float of another float type."""
    if value.type == type_:
        return value
    wider = ir.FloatType(type_).width > ir.FloatType(value.type).width
    return (arith.extf if wider else arith.truncf)(type_, value)
