"""Runs a function of a module op by op, in NumPy; what it does not know ends in `NoWitness`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..any_order import AnyOrder
from . import attention, control, extended, packs, scalars, structured, tensors  # noqa: F401 (each fills the registry)
from .constants import attribute_value
from .elements import element_of_type, hold, round_to
from .registry import EVALUATORS, NoWitness
from .structured import structured_op

_TERMINATORS = {
    "linalg.yield",
    iree_ops.LINALG_EXT_YIELD,
    "tensor.yield",
    "scf.yield",
    iree_ops.UTIL_RETURN,
    "func.return",
    "scf.condition",
    "cf.br",
    "cf.cond_br",
    "scf.reduce.return",
}
_RETURNS = (iree_ops.UTIL_RETURN, "func.return")
_PASS_ON = (
    iree_ops.HAL_TENSOR_EXPORT,
    iree_ops.HAL_TENSOR_BARRIER,
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
)
"""Ops of one tensor that leave it as it is."""
MOST_LOOP_STEPS = 100_000
"""Steps of all scf loops and branches of one run."""


class Interpreter:
    """One run of a module. ``declared`` rounds the result of every op to its type; otherwise floats stay float64
    until the program itself converts them to a narrower type.
    """

    def __init__(self, module: ir.Operation, declared: bool = False) -> None:
        self.declared = declared
        self.module = module
        self.functions: dict[str, ir.Operation] = {}
        self.globals: dict[str, object] = {}
        self.values: dict = {}
        self.loops: tuple[Sequence[int], Mapping[int, int]] = ((), {})
        self.masked = 0
        self.steps = 0
        self.roundings: dict[str, int] = {}
        """How many roundings one result may have behind it, by element type: one per op, and one per term of a sum."""
        self.sums: dict[str, int] = {}
        """The longest sum by element type."""
        self.loose: dict[ir.Value, tuple[ir.Operation, int]] = {}
        """What may come in any order: the op that chose it, and the dimension."""
        self.returned: list[AnyOrder] = []
        self._depth = 0
        self._symbols(module)

    def _symbols(self, module: ir.Operation) -> None:
        initializers = []
        for op in module.regions[0].blocks[0].operations:
            op = op.operation
            if op.name in (iree_ops.UTIL_FUNC, "func.func") and op.regions[0].blocks:
                self.functions[text_of(op, "sym_name")] = op
            elif op.name == iree_ops.UTIL_GLOBAL:
                self.globals[text_of(op, "sym_name")] = op
            elif op.name == iree_ops.UTIL_INITIALIZER:
                initializers.append(op)
        for op in initializers:
            self.region(op.regions[0], [])

    def call(self, name: str, arguments: Sequence) -> list:
        """The results of the function ``name``, as they are held."""
        if name not in self.functions:
            raise NoWitness(f"@{name}, which has no body")
        function = self.functions[name]
        saved, self.values = self.values, {}
        self._depth += 1
        try:
            return self.region(function.regions[0], arguments)
        finally:
            self.values = saved
            self._depth -= 1

    def region(self, region: ir.Region, arguments: Sequence) -> list:
        """Runs from the first block on, along branches, until something is returned."""
        block = region.blocks[0]
        while True:
            terminator, values, target = self.block(block, arguments)
            if terminator not in ("cf.br", "cf.cond_br"):
                return values
            self.step()
            block, arguments = target, values

    def block(self, block: ir.Block, arguments: Sequence) -> tuple[str, list, ir.Block | None]:
        """Runs one block: the name of its terminator, the values that it passes on, and to which block."""
        self.values.update(zip(block.arguments, arguments, strict=True))
        for op in block.operations:
            op = op.operation
            if op.name not in _TERMINATORS:
                self.evaluate(op)
                continue
            operands = [self.values[v] for v in op.operands]
            self._end_in_any_order(op)
            if op.name == "cf.br":
                return op.name, operands, op.successors[0]
            if op.name == "cf.cond_br":
                taken, first = bool(operands[0]), len(op.successors[0].arguments)
                passed = operands[1 : 1 + first] if taken else operands[1 + first :]
                return op.name, passed, op.successors[0 if taken else 1]
            return op.name, operands, None
        raise NoWitness("a block that ends in no terminator")

    def evaluate(self, op: ir.Operation) -> None:
        operands = [self.values[operand] for operand in op.operands]
        if self.loose and (loose := next((v for v in op.operands if v in self.loose), None)) is not None:
            if op.name not in _PASS_ON:
                raise NoWitness(f"{op.name} of a topk whose results may come in any order")
            self.loose[op.results[0]] = self.loose[loose]
        if op.name in EVALUATORS:
            results = EVALUATORS[op.name](self, op, operands)
        elif op.name.startswith("linalg.") and len(op.regions) == 1:
            results = structured_op(self, op, operands)
        else:
            raise NoWitness(f"op {op.name}")
        self.values.update(zip(op.results, results, strict=True))

    def _end_in_any_order(self, op: ir.Operation) -> None:
        """Notes which results of the function may come in any order."""
        chosen = (
            {i: self.loose[v] for i, v in enumerate(op.operands) if v in self.loose} if self.loose else {}
        )
        if chosen and (op.name not in _RETURNS or self._depth != 1):
            raise NoWitness(f"{op.name} of a topk whose results may come in any order")
        for by in dict.fromkeys(chosen.values()):
            self.returned.append(AnyOrder(tuple(i for i, other in chosen.items() if other == by), by[1]))

    def body(
        self,
        block: ir.Block,
        arguments: Sequence,
        ranges: Sequence[int],
        fixed: Mapping[int, int],
        wanted: Sequence[ir.Value] | None = None,
        skipped: set | None = None,
    ) -> list[np.ndarray]:
        """A body on arrays with one axis per loop: what it yields, or the values ``wanted`` without the ops ``skipped``."""
        outer, self.loops = self.loops, (ranges, fixed)
        try:
            if wanted is None:
                return self.block(block, arguments)[1]
            self.values.update(zip(block.arguments, arguments, strict=True))
            for op in list(block.operations)[:-1]:
                if op.operation not in (skipped or ()):
                    self.evaluate(op.operation)
            return [np.asarray(self.values[value]) for value in wanted]
        finally:
            self.loops = outer

    # --- numbers

    def rounded(self, array, type_: ir.Type) -> np.ndarray:
        """Converted to ``type_`` by the program itself."""
        text = element_of_type(type_).text
        self.roundings[text] = self.roundings.get(text, 0) + 1
        return round_to(np.asarray(array), element_of_type(type_))

    def settled(self, array, type_: ir.Type) -> np.ndarray:
        """The result of an op of type ``type_``: rounded to it where every op rounds."""
        element = element_of_type(type_)
        array = np.asarray(array)
        if element.kind == "integer":
            return array
        self.roundings[element.text] = self.roundings.get(element.text, 0) + 1
        # 8 bits and below are storage formats: what a program computes in them is meant to be rounded.
        if self.declared or element.bits <= 8:
            return round_to(array, element)
        return array.astype(element.held, copy=False)

    def summed(self, length: int, type_: ir.Type) -> None:
        """Notes a sum of ``length`` terms in ``type_``, whose order a compiler may choose."""
        element = element_of_type(type_)
        if element.kind != "integer":
            self.sums[element.text] = max(self.sums.get(element.text, 0), length)
            self.roundings[element.text] = self.roundings.get(element.text, 0) + length

    def undefined(self, what: str) -> None:
        """Called where the program's answer is not defined; inside a branch that may not be taken that is no harm."""
        if not self.masked:
            raise NoWitness(what)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_LOOP_STEPS:
            raise NoWitness(f"more than {MOST_LOOP_STEPS} steps of loops")

    def global_value(self, name: str):
        """The value of a global, from its declaration at first."""
        held = self.globals.get(name)
        if isinstance(held, ir.Operation):
            if "initial_value" not in held.attributes:
                raise NoWitness(f"@{name}, which has no initial value")
            type_ = ir.TypeAttr(held.attributes["type"]).value
            held = self.globals[name] = attribute_value(held.attributes["initial_value"], type_)
        if held is None:
            raise NoWitness(f"@{name}, which is not declared")
        return held


def as_held(array: np.ndarray, type_: ir.Type) -> np.ndarray:
    """An argument of type ``type_``."""
    return hold(np.asarray(array), element_of_type(type_))
