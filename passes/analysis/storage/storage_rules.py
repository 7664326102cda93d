"""Which ops have obligations, and which; one rule for each op, registered by its name.

A rule yields requirements in the order in which a person would check them. Sizes are in elements,
storage in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operands_named
from fissile.passes.iree import ops as iree_ops

from ..bounds.conditions import Condition, all_of, any_of, at_most, equal, less
from ..bounds.extents import Extents
from ..bounds.shaped_values import ELEMENTWISE, i64s, is_shaped, kept_dimensions, rank_of, static_dimension
from ..bounds.size_terms import INDEX_MAX, Term, product, symbols_of, term
from . import flow_rules, memory_rules, search_rules
from .division_rules import DIVISIONS, division
from .gather_rules import element_gather, element_scatter
from .obligations import STRUCTURED, Requirement, Rule
from .sentences import amount, elements, inside, regrouped, room, same_size, shape_text
from .structured_rules import elementwise, same_shape, select, structured

WITHOUT_OBLIGATIONS = (
    # Ops that take shapes as they are: their operands' obligations are the makers' own, or MLIR's verifier
    # compares
    # what they need.
    "cf.",
    "func.",
    iree_ops.UTIL_OPS,
    "scf.",
    "affine.",
    "complex.",
    "index.",
    "ub.",
    iree_ops.HAL_OPS,
    "fissile.",
    iree_ops.TENSOR_EXT_OPS,
    "bufferization.",
    "ml_program.",
    "tensor.collapse_shape",
    "tensor.splat",
    "tensor.from_elements",
    "tensor.bitcast",
    "tensor.yield",
    "memref.dealloc",
    "memref.get_global",
    "memref.global",
    "memref.collapse_shape",
    "memref.extract_strided_metadata",
    "memref.memory_space_cast",
    "memref.assume_alignment",
    "builtin.",
    iree_ops.FLOW_TENSOR_CONSTANT,
    iree_ops.FLOW_TENSOR_DYNAMIC_CONSTANT,
    iree_ops.FLOW_DISPATCH_REGION,
    iree_ops.FLOW_RETURN,
    "check.",
    "vector.transfer",
)


def rule_for(name: str) -> Rule | None:
    if name == "arith.select":
        return select
    if name in DIVISIONS:
        return division
    if name.startswith(ELEMENTWISE):
        return elementwise
    return _RULES.get(name) or (
        structured if name.startswith(STRUCTURED) and not name.endswith((".yield", ".index")) else None
    )


def covers(op: ir.Operation) -> bool:
    """Whether ``op`` is known to need no rule, or no more than it has: by its name, or since all its shapes are static."""
    if op.name.startswith(WITHOUT_OBLIGATIONS) or op.name in search_rules.RULES:
        return True
    shaped = [v for v in (*op.operands, *op.results) if is_shaped(v)]
    return all(ir.ShapedType(v.type).has_static_shape for v in shaped)


def fits(offset: Term, size: Term, stride: Term, capacity: Term, others: Sequence[Term] = ()) -> Condition:
    """``size`` elements from ``offset`` on, each ``stride`` further, lie in 0 … capacity - 1. No
    element, no harm: also where one of ``others``, the sizes in other dimensions, is 0. A stride of 0 names one element
    several times, which IREE's code reads and writes in bounds."""
    if stride.constant == 1:
        last = at_most(offset + size, capacity)
    else:
        end = offset + (size - 1) * stride
        last = all_of(
            (
                less(end, capacity),
                *(() if (stride.constant or -1) > 0 else (less(offset, capacity), at_most(0, end))),
            )
        )
    inside = all_of((at_most(0, offset), last))
    if size.constant == 0 or 0 in [other.constant for other in others]:
        return at_most(0, size)
    empty = [equal(s, 0) for s in dict.fromkeys((size, *others)) if s.constant is None]
    return all_of((at_most(0, size), any_of((*empty, inside))))


def _slices(
    extents: Extents, op: ir.Operation, whole: ir.Value, verb: str, what: str
) -> Iterator[Requirement]:
    offsets = extents.mixed(i64s(op, "static_offsets"), operands_named(op, "offsets"))
    sizes = extents.mixed(i64s(op, "static_sizes"), operands_named(op, "sizes"))
    strides = extents.mixed(i64s(op, "static_strides"), operands_named(op, "strides"))
    for i, row in enumerate(zip(offsets, sizes, strides, strict=False)):
        capacity = extents.dimension(whole, i)
        offset, size, stride = row
        every = "" if stride.constant == 1 else f", every {stride},"
        yield Requirement(
            fits(offset, size, stride, capacity, [s for j, s in enumerate(sizes) if j != i]),
            f"{verb} {elements(size)} from {amount(offset)} on{every} in dimension {i}; {room(what, capacity)}",
        )


def _extract_slice(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    yield from _slices(extents, op, op.operands[0], "reads", "its source")


def _insert_slice(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    yield from _slices(extents, op, op.operands[1], "writes", "its destination")
    sizes = extents.mixed(i64s(op, "static_sizes"), operands_named(op, "sizes"))
    kept = kept_dimensions(i64s(op, "static_sizes"), op.operands[0].type)
    if kept is None:
        return
    for i, position in enumerate(kept):
        have = extents.dimension(op.operands[0], i)
        yield Requirement(
            equal(have, sizes[position]),
            f"inserts {elements(sizes[position])} in dimension {position}; its source has {amount(have)}",
        )


def _cast(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    if not (is_shaped(op.operands[0]) and is_shaped(op.results[0])):
        return
    for i in range(rank_of(op.results[0])):
        wanted = static_dimension(op.results[0].type, i)
        if wanted is not None:
            have = extents.dimension(op.operands[0], i)
            yield Requirement(
                equal(have, wanted),
                same_size(op.operands[0], i, have, term(wanted), f"{op.name} takes it to be so"),
                itself=True,
            )


def _not_negative(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    for i in range(rank_of(op.results[0])):
        size = extents.dimension(op.results[0], i)
        yield Requirement(
            at_most(0, size), f"makes {elements(size)} in dimension {i}; a size is not negative"
        )
    yield from _addressable(extents, op)


def _addressable(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """The bytes of a new tensor fit an index: IREE computes them with wrap-around, and would allocate
    too few.

    Dimensions of tensors that exist are not checked: their product is taken to be below the limit
    (docs/storage.md).
    """
    shape = extents.shape(op.results[0])
    width = memory_rules.bytes_of_element(ir.ShapedType(op.results[0].type).element_type)
    need = product((*shape, term(width or 1)))
    many = elements(shape[0]) if len(shape) == 1 else f"{shape_text(shape)} elements"
    if any(symbol.tensor is None for symbol in symbols_of(need).values()):
        yield Requirement(
            any_of((*(equal(s, 0) for s in shape if s.constant is None), at_most(need, INDEX_MAX))),
            f"makes {many} of {width or 1} byte{'s' * (width not in (None, 1))}; their bytes must fit an index",
        )


def _expand(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    sizes = extents.shape(op.results[0])
    sizes = [
        s if s.constant is not None else t
        for s, t in zip(
            sizes,
            extents.mixed(i64s(op, "static_output_shape"), operands_named(op, "output_shape")),
            strict=False,
        )
    ]
    for i, group in enumerate(op.attributes["reassociation"]):
        parts = [sizes[int(g)] for g in group]
        have = extents.dimension(op.operands[0], i)
        shown = " x ".join(str(p) for p in parts)
        yield Requirement(
            all_of((*(at_most(0, p) for p in parts), equal(product(parts), have))),
            f"splits dimension {i} into {shown}; it has {have}",
        )


def _reshape(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    shape, have = extents.shape(op.results[0]), extents.shape(op.operands[0])
    given = (
        [extents.value(v) for v in op.operands[1].owner.operation.operands]
        if not isinstance(op.operands[1].owner, ir.Block)
        and op.operands[1].owner.operation.name == "tensor.from_elements"
        else shape
    )
    yield Requirement(
        all_of(equal(a, b) for a, b in zip(shape, given, strict=False)),
        f"takes the shape to be {shape_text(shape)}; the shape operand says {shape_text(given)}",
    )
    yield Requirement(
        all_of((*(at_most(0, s) for s in shape), equal(product(shape), product(have)))),
        regrouped(op.operands[0], have, shape),
    )


def _pad(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    low = extents.mixed(i64s(op, "static_low"), operands_named(op, "low"))
    high = extents.mixed(i64s(op, "static_high"), operands_named(op, "high"))
    for i, (before, after) in enumerate(zip(low, high, strict=False)):
        have = extents.dimension(op.operands[0], i)
        yield Requirement(
            all_of((at_most(0, before), at_most(0, after))),
            f"pads dimension {i} by {before} before and {after} after; IREE writes outside of the result where one is negative",
        )
        total = before + have + after
        if any(symbol.tensor is None for symbol in symbols_of(total).values()):
            yield Requirement(
                at_most(total, INDEX_MAX), f"makes {elements(total)} in dimension {i}; an index holds it"
            )
        wanted = static_dimension(op.results[0].type, i)
        if wanted is not None:
            yield Requirement(
                equal(total, wanted), f"takes dimension {i} to be {wanted} after padding; it is {total}"
            )


def _concat(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    along = ir.IntegerAttr(op.attributes["dim"]).value
    first = extents.shape(op.operands[0])
    for number, operand in enumerate(list(op.operands)[1:], 1):
        for i, (a, b) in enumerate(zip(first, extents.shape(operand), strict=False)):
            if i != along:
                yield Requirement(
                    equal(a, b),
                    f"joins operand 0 with {amount(a)} and operand {number} with {elements(b)} in "
                    f"dimension {i}; they are equal",
                )
    for i, size in enumerate(first):
        wanted = static_dimension(op.results[0].type, i)
        if wanted is not None:
            have = size if i != along else sum((extents.dimension(v, i) for v in op.operands), term(0))
            yield Requirement(
                equal(have, wanted), f"takes dimension {i} of the result to be {wanted}; it is {have}"
            )


def _dimension(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    index, rank = extents.value(op.operands[1]), rank_of(op.operands[0])
    yield Requirement(all_of((at_most(0, index), less(index, rank))), f"asks for dimension {index} of {rank}")


def _indices(first: int, source: int, verb: str) -> Rule:
    def rule(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
        whole = op.operands[source]
        for i, operand in enumerate(list(op.operands)[first:]):
            index, capacity = extents.value(operand), extents.dimension(whole, i)
            yield Requirement(
                all_of((at_most(0, index), less(index, capacity))),
                inside(index, whole, i, capacity, op.name, verb),
                itself=True,
            )

    return rule


def _require(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    yield Requirement(extents.condition(op.operands[0]), text_of(op, "message"))


def _loop(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    step = extents.value(op.operands[2])
    yield Requirement(at_most(1, step), f"steps by {step}; a step is at least 1")


_RULES: dict[str, Rule] = {
    "tensor.extract_slice": _extract_slice,
    "memref.subview": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.parallel_insert_slice": _insert_slice,
    "tensor.cast": _cast,
    "memref.cast": _cast,
    "tensor.empty": _not_negative,
    "tensor.generate": _not_negative,
    "tensor.splat": _not_negative,
    "bufferization.alloc_tensor": _not_negative,
    "memref.alloc": _not_negative,
    "memref.alloca": _not_negative,
    iree_ops.FLOW_TENSOR_SPLAT: _not_negative,
    "tensor.expand_shape": _expand,
    "memref.expand_shape": _expand,
    "tensor.reshape": _reshape,
    "memref.reshape": _reshape,
    "tensor.pad": _pad,
    "tensor.concat": _concat,
    "tensor.dim": _dimension,
    "memref.dim": _dimension,
    "tensor.extract": _indices(1, 0, "reads"),
    "memref.load": _indices(1, 0, "reads"),
    "tensor.insert": _indices(2, 1, "writes"),
    "memref.store": _indices(2, 1, "writes"),
    "memref.view": memory_rules.view,
    "memref.reinterpret_cast": memory_rules.reinterpret,
    "memref.copy": memory_rules.copy,
    "fissile.alloc_tensor": memory_rules.alloc_tensor,
    "fissile.alloc_storage": memory_rules.alloc_storage,
    "fissile.require": _require,
    "scf.for": _loop,
    "linalg.softmax": same_shape,
    iree_ops.LINALG_EXT_GATHER: element_gather,
    iree_ops.LINALG_EXT_SCATTER: element_scatter,
    "tensor.gather": element_gather,
    "tensor.scatter": element_scatter,
    iree_ops.FLOW_TENSOR_ALLOCA: _not_negative,
    iree_ops.FLOW_TENSOR_EMPTY: _not_negative,
    **flow_rules.RULES,
    **search_rules.RULES,
}
