"""Structured ops: the body on whole arrays, sums by a contraction or by one reduction over the loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.dispatch.linear_index import linear_index
from fissile.passes.iree import ops as iree_ops

from .elements import element_of_type, hold
from .registry import NoWitness, evaluates
from .views import index_of_loop, loop_ranges, maps_of, over_loops

MOST_AT_ONCE = 1 << 24
"""Elements of one array that a body is evaluated on; longer reductions are evaluated in parts."""

MOST_STEPS = 1 << 18
"""Parts of a reduction that are evaluated one after the other."""

MOST_PRODUCTS = 1 << 35
"""Multiplications of one contraction: about a minute."""

_REDUCERS = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "complex.add": np.add,
}


def structured_op(interpreter, op: ir.Operation, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a linalg op with a body (named ops have one as well)."""
    maps, kinds = maps_of(op), _iterators(op)
    outputs = len(op.results)
    arrays = [np.asarray(a) for a in operands]
    ranges = loop_ranges(maps, arrays)
    if 0 in ranges:
        return [np.array(a) for a in arrays[-outputs:]]
    if kinds is None:
        used = {
            loop
            for m in maps[-outputs:]
            for e in m.results
            for loop in (linear_index(e, m.n_dims) or _none(op)).steps
        }
        kinds = ["parallel" if loop in used else "reduction" for loop in range(len(ranges))]
    reduced = [loop for loop, kind in enumerate(kinds) if kind == "reduction"]
    return _Loops(interpreter, op, maps, arrays, outputs, ranges, reduced).results()


def _none(op):
    raise NoWitness(op.name)


def _iterators(op: ir.Operation) -> list[str] | None:
    if "iterator_types" not in op.attributes:
        return None
    return [
        "reduction" if "reduction" in str(kind) else "parallel" for kind in op.attributes["iterator_types"]
    ]


class _Loops:
    """One structured op: its loops, and its operands as the body sees them."""

    def __init__(self, interpreter, op, maps, arrays, outputs: int, ranges, reduced) -> None:
        self.interpreter = interpreter
        self.op = op
        self.block = op.regions[0].blocks[0]
        self.inputs = list(zip(arrays[:-outputs], maps[:-outputs], strict=False))
        self.outputs = list(zip(arrays[-outputs:], maps[-outputs:], strict=False))
        self.ranges = ranges
        self.reduced = reduced
        self.free = [loop for loop in range(len(ranges)) if loop not in reduced]
        if math.prod(ranges[loop] for loop in self.free) > 4 * MOST_AT_ONCE:
            raise NoWitness(f"{op.name} on {math.prod(ranges[loop] for loop in self.free)} elements at once")

    def results(self) -> list[np.ndarray]:
        held = dict.fromkeys(self.reduced, 0)
        if self.reduced:
            for result in self.op.results:
                self.interpreter.summed(math.prod(self.ranges[loop] for loop in self.reduced), result.type)
        combine = self._combiner()
        sums = [over_loops(a, m, self.ranges, held) for a, m in self.outputs]
        if not self.reduced:
            whole = self._body({}, sums)
        elif combine is None:
            return self._one_by_one()
        elif (product := self._product(combine)) is not None:
            whole = [self._contracted(combine, product, sums[0])]
        else:
            whole = [self._reduced(combine, sums[0])]
        return [
            self._stored(value, map_, array) for value, (array, map_) in zip(whole, self.outputs, strict=True)
        ]

    # --- what the body is

    def _combiner(self) -> ir.Operation | None:
        """The op of ``yield combine(value, output)``, where the output is used nowhere else and order does not matter."""
        yielded = list(self.block.operations)[-1].operation.operands
        if not self.reduced or len(self.outputs) != 1 or isinstance(yielded[0].owner, ir.Block):
            return None
        if self._loops_of(self.outputs[0][1]) & set(self.reduced):
            return None
        combine, output = yielded[0].owner.operation, self.block.arguments[len(self.block.arguments) - 1]
        others = [operand for operand in combine.operands if operand != output]
        if combine.name not in _REDUCERS or len(others) != 1 or len(list(output.uses)) != 1:
            return None
        return combine

    def _product(self, combine: ir.Operation) -> ir.Operation | None:
        """The multiplication whose result is added and not used for anything else."""
        (value,) = (v for v in combine.operands if v != self.block.arguments[len(self.block.arguments) - 1])
        if combine.name not in ("arith.addf", "arith.addi") or isinstance(value.owner, ir.Block):
            return None
        product = value.owner.operation
        alone = product.name in ("arith.mulf", "arith.muli") and len(list(value.uses)) == 1
        return product if alone else None

    # --- how it is evaluated

    def _body(self, fixed: Mapping[int, int], sums: Sequence[np.ndarray]) -> list[np.ndarray]:
        given = [over_loops(a, m, self.ranges, fixed) for a, m in self.inputs]
        return self.interpreter.body(self.block, [*given, *sums], self.ranges, fixed)

    def _one_by_one(self) -> list[np.ndarray]:
        """Step by step over the reduction loops; an output may be indexed by them, and is then written at each step."""
        steps = math.prod(self.ranges[loop] for loop in self.reduced)
        if steps > MOST_STEPS:
            raise NoWitness(f"{self.op.name} with a reduction of {steps} steps whose order matters")
        results = [np.array(array, order="C") for array, _map in self.outputs]
        maps = [map_ for _array, map_ in self.outputs]
        for map_ in maps:
            self._writable(map_)
        for point in itertools.product(*(range(self.ranges[loop]) for loop in self.reduced)):
            fixed = dict(zip(self.reduced, point, strict=False))
            views = [over_loops(a, m, self.ranges, fixed) for a, m in zip(results, maps, strict=False)]
            for view, value in zip(views, self._body(fixed, views), strict=True):
                view[...] = value
        return results

    def _writable(self, map_) -> None:
        """Each point of the parallel loops has an element of its own, which a view finds."""
        terms = [linear_index(e, map_.n_dims) or _none(self.op) for e in map_.results]
        if any(step < 0 for term in terms for step in term.steps.values()) or not set(
            self.free
        ) <= self._loops_of(map_):
            raise NoWitness(f"an output indexed by {map_}")

    def _parts(self, size) -> list[dict[int, int]]:
        """Which reduction loops are taken index by index, so that ``size(fixed loops)`` stays below `MOST_AT_ONCE`."""
        windows = [
            loop
            for loop in self.reduced
            if any(
                len(term.steps) > 1 and loop in term.steps
                for _a, m in self.inputs
                for e in m.results
                if (term := linear_index(e, m.n_dims))
            )
        ]
        stepped = list(windows) if math.prod(self.ranges[loop] for loop in windows) <= 1024 else []
        for loop in sorted(set(self.reduced) - set(stepped), key=lambda i: self.ranges[i]):
            if size(stepped) <= MOST_AT_ONCE:
                break
            stepped.append(loop)
        steps = math.prod(self.ranges[loop] for loop in stepped)
        if size(stepped) > 4 * MOST_AT_ONCE or steps > MOST_STEPS:
            raise NoWitness(f"{self.op.name} over {math.prod(self.ranges)} loop steps")
        return [
            dict(zip(stepped, point, strict=False))
            for point in itertools.product(*(range(self.ranges[i]) for i in stepped))
        ]

    def _reduced(self, combine: ir.Operation, sums: np.ndarray) -> np.ndarray:
        ufunc, output = _REDUCERS[combine.name], self.block.arguments[len(self.block.arguments) - 1]
        (value,) = (v for v in combine.operands if v != output)
        element = element_of_type(value.type)

        def size(stepped):
            return math.prod(n for loop, n in enumerate(self.ranges) if loop not in stepped)

        for fixed in self._parts(size):
            full = self._values([value], [combine], fixed)[0]
            shape = [1 if loop in fixed else n for loop, n in enumerate(self.ranges)]
            axes = tuple(loop for loop in self.reduced if loop not in fixed)
            full = np.broadcast_to(full, shape)
            if element.kind == "integer" and element.bits > 1:
                full = full.astype(np.int64)
            folded = ufunc.reduce(full, axis=axes, keepdims=True) if axes else full
            sums = self.interpreter.settled(hold(ufunc(folded, sums), element), value.type)
        return sums

    def _contracted(self, combine: ir.Operation, product: ir.Operation, sums: np.ndarray) -> np.ndarray:
        (left, right), element, rank = (
            product.operands,
            element_of_type(combine.results[0].type),
            len(self.ranges),
        )
        if math.prod(self.ranges) > MOST_PRODUCTS:
            raise NoWitness(f"{self.op.name} with {math.prod(self.ranges)} multiplications")

        def size(stepped):
            return max(
                math.prod(self.ranges[loop] for loop in self._loops_of(m) if loop not in stepped)
                for _a, m in self.inputs
            )

        for fixed in self._parts(size):
            a, b = self._values([left, right], [combine, product], fixed)
            labels = [[loop for loop in range(rank) if x.shape[loop] > 1] for x in (a, b)]
            kept = [loop for loop in self.free if loop in labels[0] or loop in labels[1]]
            times = math.prod(
                self.ranges[loop]
                for loop in self.reduced
                if loop not in fixed and loop not in labels[0] and loop not in labels[1]
            )
            a, b = (
                x.reshape([x.shape[loop] for loop in own]) for x, own in zip((a, b), labels, strict=False)
            )
            total = _product_sum(a, labels[0], b, labels[1], kept, element, math.prod(self.ranges)) * times
            total = total.reshape([self.ranges[loop] if loop in kept else 1 for loop in range(rank)])
            sums = self.interpreter.settled(hold(total + sums, element), combine.results[0].type)
        return sums

    def _loops_of(self, map_) -> set[int]:
        return {loop for e in map_.results if (term := linear_index(e, map_.n_dims)) for loop in term.steps}

    def _values(
        self, wanted: list[ir.Value], skipped: list[ir.Operation], fixed: Mapping[int, int]
    ) -> list[np.ndarray]:
        """Values of the body, evaluated without the ops ``skipped``, which alone read the output."""
        given = [over_loops(a, m, self.ranges, fixed) for a, m in self.inputs]
        output = np.zeros([1] * len(self.ranges))
        found = self.interpreter.body(self.block, [*given, output], self.ranges, fixed, wanted, skipped)
        return [v.reshape([1] * (len(self.ranges) - v.ndim) + list(v.shape)) for v in found]

    def _stored(self, value: np.ndarray, map_, array: np.ndarray) -> np.ndarray:
        """``value`` written where the output's map says."""
        self._writable(map_)
        result = np.array(array, order="C")
        view = over_loops(result, map_, self.ranges, dict.fromkeys(self.reduced, 0))
        view[...] = value
        return result


def _product_sum(a, loops_a, b, loops_b, kept, element, count) -> np.ndarray:
    """The sum of products; integers in float64 as long as that is exact, which is far faster."""
    if element.kind == "integer":
        most = [float(np.abs(x.astype(np.float64)).max(initial=0)) for x in (a, b)]
        dtype = np.float64 if most[0] * most[1] * count < 2.0**52 else np.int64
        a, b = a.astype(dtype), b.astype(dtype)
    numbers = {loop: i for i, loop in enumerate(sorted({*loops_a, *loops_b}))}
    total = np.einsum(
        a,
        [numbers[i] for i in loops_a],
        b,
        [numbers[i] for i in loops_b],
        [numbers[i] for i in kept],
        optimize=True,
    )
    return np.asarray(total).astype(np.int64) if element.kind == "integer" else np.asarray(total)


@evaluates("linalg.index", iree_ops.LINALG_EXT_INDEX)
def _index(interpreter, op, operands):
    return [index_of_loop(ir.IntegerAttr(op.attributes["dim"]).value, *interpreter.loops)]


@evaluates("linalg.fill")
def _fill(interpreter, op, operands):
    value, out = operands
    return [np.full(out.shape, value, out.dtype)]


@evaluates("linalg.softmax")
def _softmax(interpreter, op, operands):
    axis, type_ = ir.IntegerAttr(op.attributes["dimension"]).value, op.results[0].type
    x = operands[0]
    interpreter.summed(x.shape[axis], type_)
    powers = interpreter.settled(np.exp(x - x.max(axis=axis, keepdims=True)), type_)
    return [interpreter.settled(powers / powers.sum(axis=axis, keepdims=True), type_)]
