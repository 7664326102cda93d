"""Runs the code of a kernel for all its threads at once, op by op, in NumPy.

Every value has the threads' axis first, of size 1 where all threads have the same; then the axes of its vector. A branch that threads
take differently runs for each side with the others masked, as on a GPU: a masked thread computes, and stores nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.constants import constant_of
from fissile.pipelines.numerics.witness.elements import element_of_type, round_to
from fissile.pipelines.numerics.witness.registry import EVALUATORS, NoWitness

from .memory import Accesses, Buffer, Groups

MOST_OPS = 400_000
"""Ops that one simulation runs: half a minute."""
_ELEMENTWISE = ("arith.", "math.", "index.", "complex.")
_AFFINE = ("affine.apply", "affine.min", "affine.max")
_TERMINATORS = (
    "scf.yield",
    "func.return",
    "scf.condition",
    "linalg.yield",
    "scf.reduce.return",
    "scf.in_parallel",
    "vector.yield",
)

Simulator = Callable[[Any, ir.Operation, list], list]
SIMULATORS: dict[str, Simulator] = {}


def simulates(*names: str) -> Callable[[Simulator], Simulator]:
    """Registers a function ``(machine, op, operands) -> results`` for the ops of these names."""

    def register(function: Simulator) -> Simulator:
        for name in names:
            if name in SIMULATORS:
                raise ValueError(f"{name} has two simulators")
            SIMULATORS[name] = function
        return function

    return register


@dataclass(frozen=True)
class Launch:
    """The workgroups that are run, as rows of (x, y, z), out of a grid of ``counts``; threads of a workgroup and of a subgroup."""

    workgroups: np.ndarray
    counts: tuple[int, int, int]
    block: tuple[int, int, int]
    subgroup: int
    lockstep: int = 0
    """Threads of which a kernel may expect that each sees what the others wrote without a barrier; 0: those of a subgroup."""

    @property
    def per_workgroup(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def threads(self) -> int:
        return len(self.workgroups) * self.per_workgroup


@dataclass
class Machine:
    """One launch of a kernel. ``bindings`` are the buffers by number, ``constants`` what the host passes by ordinal."""

    launch: Launch
    bindings: Mapping[int, Buffer]
    constants: Mapping[int, int]
    faults: Counter = field(default_factory=Counter)
    """(what, where) -> how often."""
    values: dict = field(default_factory=dict)
    ops: int = 0
    loops_at: list = field(default_factory=list)
    """The indices of the linalg op whose body runs."""

    def __post_init__(self) -> None:
        threads = self.launch.threads
        self.active = np.ones(threads, bool)
        self.workgroup_of = np.repeat(np.arange(len(self.launch.workgroups)), self.launch.per_workgroup)
        self.thread_of = np.tile(np.arange(self.launch.per_workgroup), len(self.launch.workgroups))
        per_workgroup = -(-self.launch.per_workgroup // self.launch.subgroup)
        self.subgroup_of = self.workgroup_of * per_workgroup + self.thread_of // self.launch.subgroup
        together = self.launch.lockstep or self.launch.subgroup
        groups = -(-self.launch.per_workgroup // together)
        number = self.workgroup_of * groups + self.thread_of // together
        self.memory = Accesses(threads, Groups(number, groups), self.fault)

    def fault(self, what: str, where: str, count: int = 1) -> None:
        self.faults[what, where] += count

    # --- what evaluators of scalar ops ask of an interpreter

    declared = True

    def settled(self, array, type_: ir.Type) -> np.ndarray:
        element = element_of_type(type_)
        return np.asarray(array) if element.kind == "integer" else round_to(np.asarray(array), element)

    def rounded(self, array, type_: ir.Type) -> np.ndarray:
        return round_to(np.asarray(array), element_of_type(type_))

    def undefined(self, what: str) -> None:
        """Masked threads compute with anything."""

    # --- running

    def run(self, function: ir.Operation) -> None:
        with np.errstate(all="ignore"):
            self.block(function.regions[0].blocks[0], [])

    def block(self, block: ir.Block, arguments: Sequence) -> list:
        """Runs one block and returns what its terminator passes on."""
        self.values.update(zip(block.arguments, arguments, strict=True))
        for op in block.operations:
            op = op.operation
            if op.name in _TERMINATORS:
                return [self.values[v] for v in op.operands]
            self.evaluate(op)
        return []

    def evaluate(self, op: ir.Operation) -> None:
        self.ops += 1
        if self.ops > MOST_OPS:
            raise NoWitness(f"more than {MOST_OPS} ops")
        name = op.name
        operands = [self.values[v] for v in op.operands]
        if name in SIMULATORS:
            results = SIMULATORS[name](self, op, operands)
        elif name == "arith.constant":
            results = [np.asarray(constant_of(op, "value", op.results[0].type))[None]]
        elif name in _AFFINE or (name.startswith(_ELEMENTWISE) and name in EVALUATORS):
            results = [_with_threads(one, op) for one in EVALUATORS[name](self, op, operands)]
        else:
            raise NoWitness(f"op {name}")
        self.values.update(zip(op.results, results, strict=True))

    def under(self, mask: np.ndarray, run: Callable[[], list]) -> list:
        """``run`` for the threads of ``mask`` alone; [] where it is none."""
        outer = self.active
        self.active = outer & mask
        try:
            return run() if self.active.any() else []
        finally:
            self.active = outer

    def all_threads(self, value) -> np.ndarray:
        """``value`` with an entry for each thread."""
        array = np.asarray(value)
        return np.broadcast_to(array, (self.launch.threads, *array.shape[1:]))


def _with_threads(value, op: ir.Operation) -> np.ndarray:
    array = np.asarray(value)
    type_ = op.results[0].type
    rank = ir.ShapedType(type_).rank if isinstance(type_, ir.ShapedType) else 0
    return array if array.ndim > rank else array[None]


def chosen(mask: np.ndarray, taken, other):
    """By thread: ``taken`` where ``mask`` is set. Memrefs must be the same."""
    if not isinstance(taken, np.ndarray) or not isinstance(other, np.ndarray):
        if taken is not other:
            raise NoWitness("a buffer that threads choose")
        return taken
    rank = max(taken.ndim, other.ndim)
    return np.where(mask.reshape(mask.shape + (1,) * (rank - mask.ndim)), taken, other)


def numbers(op: ir.Operation, name: str) -> list[int]:
    """The integers of an attribute: DenseI64Array, DenseI32Array, an array or elements."""
    attribute = op.attributes[name]
    for kind in (ir.DenseI64ArrayAttr, ir.DenseI32ArrayAttr):
        if isinstance(attribute, kind):
            return list(kind(attribute))
    return [ir.IntegerAttr(one).value for one in ir.ArrayAttr(attribute)]


def segments(op: ir.Operation, operands: Sequence) -> list[list]:
    """``operands`` by the groups of the op's definition."""
    found, start = [], 0
    for size in numbers(op, "operandSegmentSizes"):
        found.append(list(operands[start : start + size]))
        start += size
    return found


def mixed(op: ir.Operation, name: str, dynamic: Sequence) -> list:
    """A list of numbers, partly in the attribute ``name`` and partly operands."""
    given = iter(dynamic)
    return [next(given) if n == ir.ShapedType.get_dynamic_size() else n for n in numbers(op, name)]


def vector_shape(type_: ir.Type) -> tuple[int, ...]:
    return tuple(ir.VectorType(type_).shape) if isinstance(type_, ir.VectorType) else ()
