"""Whether a command that IREE submits (phase stream) stays inside its resources, whatever a run-time check says.

A copy or a fill says what it accesses. A dispatch is followed into its kernel: each load and store has to lie inside its
tensor, the tensor inside its binding, and the ops between have to go over their operands with loops that fit. Sizes are
terms of the host's values, so that a kernel's size and the length of its binding are compared as one polynomial. No
assert counts as a fact. An op that is not known here is taken to go anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.linalg_ops import indexing_maps
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..bounds.conditions import Condition, all_of, at_most, equal, symbols
from ..bounds.extents import Extents
from ..bounds.shaped_values import i64s, is_argument, is_shaped, rank_of
from ..bounds.size_terms import Term, product
from ..storage.memory_rules import bytes_of_element
from ..storage.proof import follows
from ..storage.storage_rules import fits, rule_for
from ..storage.structured_rules import loop_extents, structured

LOAD, STORE = iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD, iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE
_TARGET = ("target_offset", "target_length", "target_size")
RANGES = {
    iree_ops.STREAM_CMD_COPY: (
        ("source_offset", "length", "source_size"),
        ("target_offset", "length", "target_size"),
    ),
    iree_ops.STREAM_CMD_FILL: (_TARGET,),
    iree_ops.STREAM_CMD_FLUSH: (_TARGET,),
    iree_ops.STREAM_CMD_INVALIDATE: (_TARGET,),
    iree_ops.STREAM_CMD_DISCARD: (_TARGET,),
}
"""What a command accesses: an offset, a length, and the size of the resource."""

WITHOUT_ACCESS = (
    "func.return",
    "linalg.index",
    "linalg.yield",
    "tensor.collapse_shape",
    "tensor.empty",
    iree_ops.STREAM_BINDING_SUBSPAN,
    iree_ops.UTIL_ASSUME_INT,
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
)
RESHAPED = ("tensor.expand_shape", "tensor.extract_slice")
SCALAR = ("arith.", "math.")
DIVISIONS = tuple(f"arith.{d}" for d in "ceildivsi ceildivui divsi divui floordivsi remsi remui".split())
POWERS = ("math.ipowi",)
"""Integers to a negative power: a division by zero, where the base is 0."""
CASTS = ("arith.index_cast", "arith.index_castui", "arith.trunci")


def stays_inside(command: ir.Operation, module: ir.Operation) -> bool:
    """Whether ``command``, an op in a `stream.cmd.execute` of ``module``, accesses nothing outside its resources."""
    terms = _Terms()
    if command.name == iree_ops.STREAM_CMD_DISPATCH:
        return _dispatch(terms, command, module)
    if command.name not in RANGES:
        return False
    view = view_of(command)
    return all(_covers(terms, *(getattr(view, name) for name in names)) for names in RANGES[command.name])


class _Terms(Extents):
    """Terms of the host's values, and of a kernel's in terms of those."""

    def give(self, value: ir.Value, known: Term) -> None:
        self._values[value] = known

    def give_shape(self, value: ir.Value, shape: list[Term]) -> None:
        for i, size in enumerate(shape):
            self._dimensions[(value, i)] = size


def _holds(terms: _Terms, condition: Condition) -> bool:
    return follows(condition, terms.facts_about(symbols(condition)))


def _covers(terms: _Terms, offset: ir.Value, length: ir.Value, size: ir.Value) -> bool:
    """Whether a resource of ``size`` holds ``length`` bytes from ``offset`` on."""
    if length == size and terms.value(offset).constant == 0:
        return True  # all of it, however that was computed
    return _holds(terms, _in_range(terms.value(offset), terms.value(length), terms.value(size)))


def _in_range(offset: Term, length: Term, size: Term) -> Condition:
    return all_of((at_most(0, offset), at_most(0, length), at_most(offset + length, size)))


def _dispatch(terms: _Terms, dispatch: ir.Operation, module: ir.Operation) -> bool:
    view = view_of(dispatch)
    rows = list(zip(view.resource_offsets, view.resource_lengths, view.resource_sizes, strict=True))
    if not all(_covers(terms, *row) for row in rows):
        return False
    for entry in view.entry_points:
        kernel = _kernel(module, ir.SymbolRefAttr(entry).value)
        # Each kernel has terms of its own: one kernel may be dispatched with other values elsewhere.
        if kernel is None or not _Kernel(kernel, [length for _, length, _ in rows]).stays_inside(
            list(view.uniform_operands)
        ):
            return False
    return True


def _kernel(module: ir.Operation, path: list[str]) -> ir.Operation | None:
    """The function that a dispatch of ``path`` (an executable and its export) runs; None where it isn't one block of MLIR."""
    if len(path) != 2:
        return None
    try:
        executable = ir.SymbolTable(module)[path[0]].operation
        export = ir.SymbolTable(executable)[path[1]].operation
        (inner,) = [
            row.operation
            for row in executable.regions[0].blocks[0].operations
            if row.operation.name == "builtin.module"
        ]
        reference = attribute(export, "function_ref")
        function = ir.SymbolTable(inner)[ir.FlatSymbolRefAttr(reference).value].operation
    except (KeyError, ValueError):
        return None
    return function if len(function.regions[0].blocks) == 1 else None


class _Kernel:
    """A kernel of one block, and the lengths of what its bindings are bound to."""

    def __init__(self, function: ir.Operation, lengths: list[ir.Value]) -> None:
        self._terms = _Terms()
        self._function = function
        arguments = list(function.regions[0].blocks[0].arguments)
        self._bindings = [a for a in arguments if str(a.type) == iree_ops.STREAM_BINDING]
        self._scalars = [a for a in arguments if str(a.type) != iree_ops.STREAM_BINDING]
        self._lengths = [self._terms.value(length) for length in lengths]

    def stays_inside(self, given: list[ir.Value]) -> bool:
        """Whether it does where its scalar arguments are ``given``."""
        if len(self._bindings) != len(self._lengths) or [a.type for a in self._scalars] != [
            v.type for v in given
        ]:
            return False
        of_argument = dict(zip(self._scalars, given, strict=True))
        for argument, value in of_argument.items():
            if isinstance(value.type, ir.IntegerType | ir.IndexType):
                self._terms.give(argument, self._terms.value(value))
        ops = list(_ops_inside(self._function))
        for op in ops:
            whole = _joined(self._terms, op, of_argument)
            if whole is not None:
                self._terms.give(op.results[0], self._terms.value(whole))
        return all(self._is_harmless(op) for op in ops)

    def _is_harmless(self, op: ir.Operation) -> bool:
        """In program order: what an op makes is known to those behind it."""
        if op.name == iree_ops.TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL:
            self._terms.give(op.results[0], self._terms.value(op.operands[0]))
            return True
        if op.name in (LOAD, STORE):
            return self._access(op)
        if op.name in RESHAPED:
            rule = rule_for(op.name)
            return rule is not None and self._meets(rule(self._terms, op))
        if op.name in WITHOUT_ACCESS:
            return True
        if op.name.startswith("linalg."):
            maps = indexing_maps(op)
            if not maps or None in loop_extents(self._terms, op, maps):
                return False
            return self._meets(structured(self._terms, op))
        if op.name == "arith.constant":
            return True
        if not op.name.startswith(SCALAR) or op.name in POWERS:
            return False
        if any(is_shaped(v) for v in (*op.operands, *op.results)):
            return False
        return op.name not in DIVISIONS or _holds(
            self._terms, at_most(1, self._terms.value(op.operands[1]))
        )  # else it may trap

    def _meets(self, requirements: Iterator) -> bool:
        return all(_holds(self._terms, requirement.condition) for requirement in requirements)

    def _access(self, op: ir.Operation) -> bool:
        """A load or a store of a part of a binding."""
        view = view_of(op)
        whole, moved = (view.source, op.results[0]) if op.name == LOAD else (view.target, view.value)
        shape = self._shape_in_binding(whole)
        sizes = self._terms.mixed(i64s(op, "static_sizes"), list(view.sizes))
        if shape is None or not len(shape) == len(sizes) == rank_of(moved):
            return False
        offsets = self._terms.mixed(i64s(op, "static_offsets"), list(view.offsets))
        strides = self._terms.mixed(i64s(op, "static_strides"), list(view.strides))
        if op.name == LOAD:
            self._terms.give_shape(moved, sizes)
        rows = zip(offsets, sizes, strides, shape, self._terms.shape(moved), strict=True)
        return all(
            _holds(self._terms, all_of((fits(offset, size, stride, capacity), equal(size, have))))
            for offset, size, stride, capacity, have in rows
        )

    def _shape_in_binding(self, whole: ir.Value) -> list[Term] | None:
        """The shape of a tensor that lies inside its binding; None where that is not known to be so."""
        if is_argument(whole) or whole.owner.operation.name != iree_ops.STREAM_BINDING_SUBSPAN:
            return None
        view, type_ = view_of(whole.owner.operation), _tensor_type(whole.type)
        width = None if type_ is None else bytes_of_element(type_.element_type)
        if type_ is None or width is None or view.binding not in self._bindings:
            return None
        static = [type_.get_dim_size(i) for i in range(type_.rank)]
        shape = self._terms.mixed(static, list(view.dynamic_dims))
        room = self._lengths[self._bindings.index(view.binding)]
        fitting = _in_range(self._terms.value(view.byte_offset), product((width, *shape)), room)
        return shape if _holds(self._terms, all_of((fitting, *(at_most(0, d) for d in shape)))) else None


def _tensor_type(type_: ir.Type) -> ir.RankedTensorType | None:
    """The tensor that a kernel accesses as ``type_``; None where its elements do not lie one after the other."""
    found = re.fullmatch(rf"{re.escape(iree_ops.TENSOR_EXT_DISPATCH_TENSOR)}<\w+:(tensor<.*>)>", str(type_))
    if found is None:
        return None
    tensor = ir.RankedTensorType(ir.Type.parse(found[1], type_.context))
    return tensor if tensor.encoding is None else None


def _ops_inside(function: ir.Operation) -> Iterator[ir.Operation]:
    """In program order, an op before what is inside of it."""
    for region in function.regions:
        for block in region.blocks:
            for row in block.operations:
                yield row.operation
                yield from _ops_inside(row.operation)


def _joined(terms: _Terms, op: ir.Operation, given: dict[ir.Value, ir.Value]) -> ir.Value | None:
    """The 64-bit integer that the host passed in two halves, where ``op`` joins them: extui low | extui high << 32."""
    if op.name != "arith.ori" or op.results[0].type != ir.IntegerType.get_signless(64, op.context):
        return None
    for low, high in (list(op.operands), list(op.operands)[::-1]):
        shifted = _made_by(high, "arith.shli")
        if shifted is None or terms.value(shifted.operands[1]).constant != 32:
            continue
        halves = [_made_by(part, "arith.extui") for part in (low, shifted.operands[0])]
        passed = [given.get(half.operands[0]) for half in halves if half is not None]
        if len(passed) == 2 and all(v is not None and str(v.type) == "i32" for v in passed):
            return _whole(terms, *passed)
    return None


def _whole(terms: _Terms, low: ir.Value, high: ir.Value) -> ir.Value | None:
    """The 64-bit integer on the host that these are the halves of."""
    upper = _made_by(high, "arith.trunci")
    shifted = None if upper is None else _made_by(upper.operands[0], "arith.shrui")
    if shifted is None or terms.value(shifted.operands[1]).constant != 32:
        return None
    whole = shifted.operands[0]
    lower = _made_by(low, *CASTS)
    if lower is None or whole.type != ir.IntegerType.get_signless(64, whole.type.context):
        return None
    cast = _made_by(whole, *CASTS)
    return whole if lower.operands[0] in (whole, *(() if cast is None else cast.operands)) else None


def _made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    return value.owner.operation if not is_argument(value) and value.owner.operation.name in names else None
