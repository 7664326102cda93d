"""Operands of an op by the names that its definition (ODS) gives them, never by position.

IREE's Python package has no op classes for `iree_linalg_ext`, and those of linalg and arith are not loaded in fissile's processes (they
take as long to import as IREE's bindings), so the names stand here; `tests/py/passes/test_operands.py` holds them against the classes
and against ops that IREE parses.
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

_SEGMENTS = "operandSegmentSizes"

# "name" is one operand, "name?" at most one, "name*" any number.
_ODS = {
    "arith.muli": "lhs rhs",
    "arith.scaling_extf": "in scale",
    "arith.scaling_truncf": "in scale",
    "arith.select": "condition true_value false_value",
    "arith.xori": "lhs rhs",
    "hal.tensor.alias": "source source_dims* storage wait_fence?",
    "hal.tensor.barrier": "sources* signal_fence",
    "hal.tensor.export": "source source_dims*",
    "hal.tensor.import": "source target_dims* wait_fence? byte_offset?",
    "hal.interface.binding.subspan": "byte_offset? dynamic_dims*",
    "linalg.pack": "source dest padding_value? inner_tiles*",
    "linalg.unpack": "source dest inner_tiles*",
    "linalg.softmax": "input output",
    "linalg.transpose": "input init",
    "linalg.broadcast": "input init",
    "linalg.map": "inputs* init",
    "linalg.winograd_filter_transform": "filter output",
    "linalg.winograd_input_transform": "input output",
    "linalg.winograd_output_transform": "value output",
    "iree_linalg_ext.arg_compare": "input_value input_index? output_value output_index index_base?",
    "iree_linalg_ext.attention": "query key value scale mask? output",
    "iree_linalg_ext.custom_op": "inputs* outputs*",
    "iree_linalg_ext.exp_reduction": "inputs* outputs*",
    "iree_linalg_ext.fft": "stage real_coeff? imag_coeff? real imag",
    "iree_linalg_ext.gather": "source indices mask? output",
    "iree_linalg_ext.map_load": "source output",
    "iree_linalg_ext.map_store": "input output",
    "iree_linalg_ext.online_attention": "query key value scale mask? output max sum",
    "iree_linalg_ext.scan": "input output accumulator",
    "iree_linalg_ext.scatter": "updates indices mask? original",
    "iree_linalg_ext.sort": "inputs* outputs*",
    "iree_linalg_ext.topk": "values indices? output_values output_indices",
    "iree_linalg_ext.topk_v2": "values input_indices? output_values output_indices?",
    "iree_linalg_ext.winograd.filter_transform": "input output",
    "iree_linalg_ext.winograd.input_transform": "input output",
    "iree_linalg_ext.winograd.output_transform": "input output",
    "memref.expand_shape": "src output_shape*",
    "memref.reinterpret_cast": "source offsets* sizes* strides*",
    "memref.subview": "source offsets* sizes* strides*",
    "tensor.expand_shape": "src output_shape*",
    "tensor.extract": "tensor indices*",
    "tensor.extract_slice": "source offsets* sizes* strides*",
    "tensor.gather": "source indices",
    "tensor.insert": "scalar dest indices*",
    "tensor.insert_slice": "source dest offsets* sizes* strides*",
    "tensor.pad": "source low* high*",
    "tensor.parallel_insert_slice": "source dest offsets* sizes* strides*",
    "tensor.scatter": "source dest indices",
}
# im2col's other operands differ between versions; its first two do not.
_LEADING = {"iree_linalg_ext.im2col": ("input", "output")}
_STRUCTURED = "inputs* outputs*"

_INITS = {
    "linalg.pack": ("dest",),
    "linalg.unpack": ("dest",),
    "linalg.transpose": ("init",),
    "linalg.broadcast": ("init",),
    "linalg.map": ("init",),
    "iree_linalg_ext.scatter": ("original",),
    "iree_linalg_ext.scan": ("output", "accumulator"),
    "iree_linalg_ext.fft": ("real", "imag"),
    "iree_linalg_ext.online_attention": ("output", "max", "sum"),
    "iree_linalg_ext.topk": ("output_values", "output_indices"),
    "iree_linalg_ext.topk_v2": ("output_values", "output_indices"),
    "iree_linalg_ext.arg_compare": ("output_value", "output_index"),
}
_NO_INITS = ("linalg.index", "linalg.yield", "iree_linalg_ext.index", "iree_linalg_ext.yield")


def knows_operands(op: ir.Operation) -> bool:
    """Whether `operand` and `operands_named` can name the operands of ``op``, and it has as many as its definition allows."""
    return _segments(op) is not None


def operand(op: ir.Operation, name: str) -> ir.Value | None:
    """The operand of ``op`` that its definition calls ``name``; None where it is optional and left out.

    Raises KeyError where the op, or the name, is not known here.
    """
    found = operands_named(op, name)
    return found[0] if found else None


def operands_named(op: ir.Operation, name: str) -> list[ir.Value]:
    """All operands of ``op`` under ``name``. Raises KeyError where the op, or the name, is not known here."""
    values = list(op.operands)
    return [values[position] for position in positions_named(op, name)]


def positions_named(op: ir.Operation, name: str) -> range:
    """Where the operands under ``name`` stand, to replace them. Raises KeyError where the op, or the name, is not known here."""
    segments = _segments(op)
    if segments is None or name not in segments:
        raise KeyError(f"{op.name} has no operand '{name}' that is known here")
    return segments[name]


def init_positions(op: ir.Operation) -> range | None:
    """Where the destinations of a destination-style op stand, one for each of its results on tensors; None for other ops, and
    for ops that are not known here."""
    if op.name in _NO_INITS:
        return None
    segments = _segments(op)
    if segments is None:
        return None
    wanted = _INITS.get(op.name) or tuple(name for name in ("outputs", "output") if name in segments)
    found = [position for name in wanted for position in segments[name]]
    if not found or found != list(range(found[0], found[-1] + 1)):
        return None
    return range(found[0], found[-1] + 1)


def inits(op: ir.Operation) -> list[ir.Value]:
    """The destinations of a destination-style op, in the order of its results; empty for other and for unknown ops."""
    values = list(op.operands)
    return [values[position] for position in init_positions(op) or ()]


def init_of(op: ir.Operation, number: int) -> ir.Value | None:
    """The destination of result ``number``, which has its shape; None where ``op`` has none, or is not known here."""
    found = inits(op)
    return found[number] if number < len(found) else None


def inputs(op: ir.Operation) -> list[ir.Value]:
    """The operands of a linalg op with a body that are not its destinations."""
    values, behind = list(op.operands), init_positions(op)
    return values[: behind.start] if behind is not None else []


def _segments(op: ir.Operation) -> dict[str, range] | None:
    """Where the operands under each name stand; None where the op is not known, or does not have what its definition says."""
    count = len(op.operands)
    if leading := _LEADING.get(op.name):
        return {name: range(i, i + 1) for i, name in enumerate(leading)} if count >= len(leading) else None
    text = _ODS.get(op.name)
    if text is None and op.name.startswith("linalg.") and op.name not in _NO_INITS:
        text = _STRUCTURED
    if text is None:
        return None
    words = text.split()
    sizes = _given_sizes(op, len(words)) or _sizes(words, count, len(op.results))
    if sizes is None or sum(sizes) != count or any(size < 0 for size in sizes):
        return None
    segments, at = {}, 0
    for word, size in zip(words, sizes, strict=False):
        segments[word.rstrip("?*")] = range(at, at + size)
        at += size
    return segments


def _given_sizes(op: ir.Operation, words: int) -> list[int] | None:
    if _SEGMENTS not in op.attributes:
        return None
    given = list(ir.DenseI32ArrayAttr(op.attributes[_SEGMENTS]))
    return given if len(given) == words else None


def _sizes(words: Sequence[str], count: int, results: int) -> list[int] | None:
    """What the number of operands leaves for the one name that is not exactly one."""
    open_ = [i for i, word in enumerate(words) if word[-1] in "?*"]
    if words == _STRUCTURED.split():
        return [count - results, results]  # linalg.reduce: as many outputs as results
    if len(open_) > 1:
        return None
    sizes = [1] * len(words)
    if open_:
        sizes[open_[0]] = count - (len(words) - 1)
        if words[open_[0]].endswith("?") and sizes[open_[0]] > 1:
            return None
    return sizes


def read_inside(op: ir.Operation) -> list[ir.Value]:
    """What ``op`` and the ops in its regions read."""
    read: list[ir.Value] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        read.extend(inner.operands)
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return read
