"""What a linalg program computes, by NumPy in float64: a reference without IREE's code generation.

IREE's parser reads the program; every number comes from here. Integers have the program's own width and wrap,
floats are float64 until the program rounds them to a narrower type or to an integer. An op that is not here
raises `NotEvaluated`; nothing is guessed. Elementwise bodies are evaluated on whole arrays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
from iree.compiler import ir
from iree.compiler.api import Session

from bench.linalg_windows import WINDOWS, contracted, strided

MATMULS = {
    "linalg.matmul": "mk,kn->mn",
    "linalg.batch_matmul": "bmk,bkn->bmn",
    "linalg.matvec": "mk,k->m",
    "linalg.vecmat": "k,kn->n",
    "linalg.dot": "k,k->",
}
_REDUCERS = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
}
_NARROW_FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
_erf = np.frompyfunc(math.erf, 1, 1)


class NotEvaluated(Exception):
    """The program has an op, a type or a map that this reference does not know."""


def dtype_of(kind: ir.Type) -> np.dtype:
    """NumPy's type for the elements of ``kind``: float64 for floats, the program's own width for integers."""
    if isinstance(kind, ir.ShapedType):
        kind = ir.ShapedType(kind).element_type
    text = str(kind)
    if isinstance(kind, ir.IndexType):
        return np.dtype(np.int64)
    if isinstance(kind, ir.IntegerType) and text in ("i1", "i8", "i16", "i32", "i64"):
        return np.dtype(np.bool_ if text == "i1" else f"int{text[1:]}")
    if text in ("f16", "bf16", "f32", "f64"):
        return np.dtype(np.float64)
    raise NotEvaluated(f"type {text}")


def _rounded(array: np.ndarray, kind: ir.Type) -> np.ndarray:
    narrow = _NARROW_FLOATS.get(str(kind))
    return array if narrow is None else array.astype(narrow).astype(np.float64)


_BODY: dict[str, Callable] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.negf": np.negative,
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.select": np.where,
    "math.roundeven": np.rint,
    "math.exp": np.exp,
    "math.sqrt": np.sqrt,
    "math.tanh": np.tanh,
    "math.log": np.log,
    "math.absf": np.abs,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.rsqrt": lambda x: 1.0 / np.sqrt(x),
    "math.erf": lambda x: np.asarray(_erf(x), np.float64),
}
_CONVERSIONS: dict[str, Callable[[np.ndarray, ir.Type], np.ndarray]] = {
    "arith.sitofp": lambda x, kind: _rounded(x.astype(np.float64), kind),
    "arith.extf": lambda x, kind: x,
    "arith.truncf": _rounded,
    "arith.fptosi": lambda x, kind: np.trunc(x).astype(np.int64).astype(dtype_of(kind)),
    "arith.extsi": lambda x, kind: x.astype(dtype_of(kind)),
    "arith.trunci": lambda x, kind: x.astype(dtype_of(kind)),
    "arith.index_cast": lambda x, kind: x.astype(dtype_of(kind)),
}
_COMPARE_FLOATS = {
    1: np.equal,
    2: np.greater,
    3: np.greater_equal,
    4: np.less,
    5: np.less_equal,
    13: np.not_equal,
}
_COMPARE_INTEGERS = {
    0: np.equal,
    1: np.not_equal,
    2: np.less,
    3: np.less_equal,
    4: np.greater,
    5: np.greater_equal,
}


class Program:
    """One MLIR file; call it with one array per argument to get the list of its results."""

    def __init__(self, path: Path) -> None:
        self._session = Session()
        with self._session.context:
            self._module = ir.Module.parse(Path(path).read_text())
        functions = [op.operation for op in self._module.body.operations if op.operation.name == "func.func"]
        if len(functions) != 1:
            raise NotEvaluated(f"{len(functions)} functions")
        self._block = functions[0].regions[0].blocks[0]

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        values = {
            argument: np.asarray(array).astype(dtype_of(argument.type))
            for argument, array in zip(self._block.arguments, inputs, strict=True)
        }
        with self._session.context, np.errstate(all="ignore"):
            for op in self._block.operations:
                op = op.operation
                if op.name == "func.return":
                    return [values[operand] for operand in op.operands]
                results = evaluate(op, values)
                values.update(zip(op.results, results, strict=True))
        raise NotEvaluated("a function that does not return")

    def work(self) -> int:
        """Loop iterations of all its structured ops: multiply-and-adds for a convolution or matmul."""
        with self._session.context:
            return sum(_iterations(op.operation) for op in self._block.operations)


def evaluate(op: ir.Operation, values: dict) -> list[np.ndarray]:
    """The results of one op outside of any body."""
    operands = [values[operand] for operand in op.operands]
    if op.name == "tensor.empty":
        kind = ir.RankedTensorType(op.results[0].type)
        if not kind.has_static_shape:
            raise NotEvaluated("a tensor of dynamic size")
        return [np.zeros(kind.shape, dtype_of(kind))]
    if op.name == "linalg.fill":
        return [np.full(operands[1].shape, operands[0], operands[1].dtype)]
    if op.name in MATMULS:
        return [operands[2] + contracted(MATMULS[op.name], *operands[:2], operands[2].dtype)]
    if op.name in WINDOWS:
        return [strided(op.name, operands, _numbers(op, "strides"), _numbers(op, "dilations"))]
    if op.name == "linalg.softmax":
        axis = ir.IntegerAttr(op.attributes["dimension"]).value
        powers = np.exp(operands[0] - operands[0].max(axis=axis, keepdims=True))
        return [powers / powers.sum(axis=axis, keepdims=True)]
    if op.name == "linalg.generic":
        return _generic(op, values)
    return [_scalar(op, values)]


def _numbers(op: ir.Operation, name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in np.array(ir.DenseElementsAttr(op.attributes[name])))


def _scalar(op: ir.Operation, values: dict) -> np.ndarray:
    """One arith or math op, on an element or on arrays of elements."""
    if op.name == "arith.constant":
        return _constant(op)
    operands = [values[operand] for operand in op.operands]
    if op.name in _BODY:
        return _BODY[op.name](*operands)
    kind = op.results[0].type if len(op.results) else None
    if op.name in _CONVERSIONS:
        return _CONVERSIONS[op.name](operands[0], kind)
    if op.name in ("arith.cmpf", "arith.cmpi"):
        table = _COMPARE_FLOATS if op.name == "arith.cmpf" else _COMPARE_INTEGERS
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if predicate in table:
            return table[predicate](*operands)
    raise NotEvaluated(op.name)


def _constant(op: ir.Operation) -> np.ndarray:
    value, kind = op.attributes["value"], op.results[0].type
    if isinstance(value, ir.DenseElementsAttr):
        dense = ir.DenseElementsAttr(value)
        if dense.is_splat:
            return np.full(ir.ShapedType(kind).shape, dense.get_splat_value().value, dtype_of(kind))
        return np.array(dense).astype(dtype_of(kind))
    return np.asarray(value.value, dtype_of(kind))


def _generic(op: ir.Operation, values: dict) -> list[np.ndarray]:
    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(op.attributes["indexing_maps"])]
    reduced = [
        i for i, a in enumerate(ir.ArrayAttr(op.attributes["iterator_types"])) if "reduction" in str(a)
    ]
    arrays = [values[operand] for operand in op.operands]
    outputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1]
    ranges = _ranges(op)
    # Each output as the body sees it: over the parallel loops only, in the loops' order.
    sums = [
        _over_loops(a, m, ranges, dict.fromkeys(reduced, 0))
        for a, m in zip(arrays[-outputs:], maps[-outputs:])
    ]
    block, inputs = op.regions[0].blocks[0], list(zip(arrays[:-outputs], maps[:-outputs]))
    whole = _reduced_whole(block, inputs, sums, reduced, ranges, values)
    if whole is None:
        for point in itertools.product(*(range(ranges[i]) for i in reduced)):
            fixed = dict(zip(reduced, point))
            given = [_over_loops(a, m, ranges, fixed) for a, m in inputs]
            sums = _body(block, [*given, *sums], ranges, fixed, values)
        whole = sums
    free = [i for i in range(len(ranges)) if i not in reduced]
    return [
        _stored(value, m, free, ranges, array)
        for value, m, array in zip(whole, maps[-outputs:], arrays[-outputs:])
    ]


def _reduced_whole(block, inputs, sums, reduced, ranges, values) -> list[np.ndarray] | None:
    """``yield combine(value, output)``: the value over all loops, then one reduction; None if not so."""
    yielded = list(block.operations)[-1].operation.operands
    if not reduced or len(yielded) != 1 or isinstance(yielded[0].owner, ir.Block):
        return None
    combine, output = yielded[0].owner.operation, block.arguments[len(block.arguments) - 1]
    others = [operand for operand in combine.operands if operand != output]
    if combine.name not in _REDUCERS or len(others) != 1 or len(list(output.uses)) != 1:
        return None
    if any(len(_projected(m) or ()) != len(m.results) for _a, m in inputs) or math.prod(ranges) > 1 << 26:
        return None
    inner = {**values, **dict(zip(block.arguments, (_over_loops(a, m, ranges, {}) for a, m in inputs)))}
    for op in list(block.operations)[:-1]:
        if op.operation != combine:
            inner[op.operation.results[0]] = _inside(op.operation, inner, ranges, {})
    full = np.broadcast_to(inner[others[0]], ranges)
    ufunc = _REDUCERS[combine.name]
    folded = ufunc.reduce(full, axis=tuple(reduced), keepdims=True, dtype=full.dtype)
    return [ufunc(folded, sums[0])]


def _body(block: ir.Block, arguments: Sequence, ranges, fixed, values) -> list[np.ndarray]:
    inner = {**values, **dict(zip(block.arguments, arguments, strict=True))}
    for op in block.operations:
        op = op.operation
        if op.name == "linalg.yield":
            return [inner[operand] for operand in op.operands]
        inner[op.results[0]] = _inside(op, inner, ranges, fixed)
    raise NotEvaluated("a body that does not yield")


def _inside(op: ir.Operation, inner: dict, ranges: Sequence[int], fixed: dict[int, int]) -> np.ndarray:
    if op.name != "linalg.index":
        return _scalar(op, inner)
    loop = ir.IntegerAttr(op.attributes["dim"]).value
    shape = [1] * len(ranges)
    if loop in fixed:
        return np.full(shape, fixed[loop], np.int64)
    shape[loop] = ranges[loop]
    return np.arange(ranges[loop]).reshape(shape)


def _stored(value, map_, free, ranges, array) -> np.ndarray:
    order = _projected(map_)
    if order is None or sorted(order) != free:
        raise NotEvaluated(f"an output indexed by {map_}")
    full = np.broadcast_to(value, [n if i in free else 1 for i, n in enumerate(ranges)])
    full = full.reshape([ranges[i] for i in free]).transpose([free.index(i) for i in order])
    return np.array(full, array.dtype, order="C")  # which keeps no dimensions as none


def _over_loops(array: np.ndarray, map_, ranges: Sequence[int], fixed: dict[int, int]) -> np.ndarray:
    """``array`` as a view with one axis per loop (size 1 where it does not vary), loops of ``fixed`` held."""
    slices, loops = [], []
    for expression in map_.results:
        terms, start = _linear(expression)
        start += sum(step * fixed[loop] for loop, step in terms.items() if loop in fixed)
        moving = {loop: step for loop, step in terms.items() if loop not in fixed}
        if len(moving) > 1 or any(step <= 0 for step in moving.values()):
            raise NotEvaluated(f"index {expression}")
        if not moving:
            slices.append(start)
            continue
        ((loop, step),) = moving.items()
        slices.append(slice(start, start + step * (ranges[loop] - 1) + 1, step))
        loops.append(loop)
    if len(set(loops)) != len(loops):
        raise NotEvaluated(f"a diagonal: {map_}")
    view = array[tuple(slices)]
    view = view.transpose(sorted(range(len(loops)), key=loops.__getitem__))
    return view.reshape([ranges[i] if i in loops else 1 for i in range(len(ranges))])


def _linear(expression) -> tuple[dict[int, int], int]:
    """``sum(step * loop) + constant``."""
    if isinstance(expression, ir.AffineConstantExpr):
        return {}, expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position: 1}, 0
    if isinstance(expression, ir.AffineAddExpr):
        (left, a), (right, b) = _linear(expression.lhs), _linear(expression.rhs)
        return {loop: left.get(loop, 0) + right.get(loop, 0) for loop in left | right}, a + b
    if isinstance(expression, ir.AffineMulExpr):
        (left, a), (right, b) = _linear(expression.lhs), _linear(expression.rhs)
        if not right or not left:
            terms, factor, constant = (left, b, a) if not right else (right, a, b)
            return {loop: step * factor for loop, step in terms.items()}, constant * factor
    raise NotEvaluated(f"index {expression}")


def _projected(map_) -> list[int] | None:
    """The loops of a map whose results are loops and nothing else."""
    if all(isinstance(e, ir.AffineDimExpr) for e in map_.results):
        return [e.position for e in map_.results]
    return None


def _ranges(op: ir.Operation) -> list[int]:
    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(op.attributes["indexing_maps"])]
    ranges: dict[int, int] = {}
    for operand, map_ in zip(op.operands, maps, strict=True):
        for axis, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr):
                ranges[expression.position] = ir.RankedTensorType(operand.type).shape[axis]
    if len(ranges) != maps[0].n_dims:
        raise NotEvaluated("a loop that indexes no operand alone")
    return [ranges[i] for i in range(maps[0].n_dims)]


def _iterations(op: ir.Operation) -> int:
    if op.name == "linalg.generic":
        return math.prod(_ranges(op))
    if op.name in MATMULS or op.name in WINDOWS:
        result, window = (ir.RankedTensorType(op.operands[i].type).shape for i in (2, 1))
        if op.name in WINDOWS:
            return math.prod(result) * WINDOWS[op.name].steps_of(window)
        return math.prod(result) * ir.RankedTensorType(op.operands[0].type).shape[-1]
    return 0
