"""Which source ops of a dispatch feed which, and how many bytes cross when one is cut off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iree.compiler import ir

from ..memory.footprint import element_bits
from .provenance import source_ops
from .structure import loop_extents, structure_of


def read_once(producer: ir.Operation) -> bool:
    """Whether one structured op reads the result of ``producer``, and each element of it in one turn of its loops alone.

    Then nothing is computed twice where it is folded. A matrix is read so by one vector, and not by a matrix of two columns.
    """
    uses = [use for result in producer.results for use in result.uses]
    if len(uses) != 1:
        return False
    consumer = uses[0].owner.operation
    structure = structure_of(consumer)
    if structure is None or uses[0].operand_number >= len(structure.maps):
        return False
    read = structure.maps[uses[0].operand_number]
    if not read.is_projected_permutation:
        return False
    loops = {expression.position for expression in map(ir.AffineDimExpr, read.results)}
    return all(
        extent == 1 for loop, extent in enumerate(loop_extents(consumer, structure)) if loop not in loops
    )


class ProducerGraph:
    """The source ops of one module and the paths between them, looking through reshapes, slices and pads."""

    def __init__(self, module: ir.Operation) -> None:
        self.ops: Sequence[ir.Operation] = source_ops(module)
        index = {hash(op): i for i, op in enumerate(self.ops)}
        self._consumers: list[set[int]] = [set() for _ in self.ops]
        self._inputs: set[int] = set()
        for i, op in enumerate(self.ops):
            pending = [result for result in op.results]
            seen: set[int] = set()
            while pending:
                value = pending.pop()
                for use in value.uses:
                    user = use.owner.operation
                    if hash(user) in index:
                        self._consumers[i].add(index[hash(user)])
                        if use.operand_number < len(user.operands) - len(user.results):
                            self._inputs.add(i)
                    elif hash(user) not in seen:
                        seen.add(hash(user))
                        pending.extend(user.results)

    def consumers(self, index: int) -> list[int]:
        """The source ops that take a result of source op ``index``, in program order."""
        return sorted(self._consumers[index])

    def is_input(self, index: int) -> bool:
        """Whether a source op takes a result of source op ``index`` as an input: not as what its own result begins with."""
        return index in self._inputs

    def reaches(self, start: int, goals: Iterable[int]) -> bool:
        """Whether the result of source op ``start`` reaches another source op among ``goals``."""
        wanted = set(goals) - {start}
        pending, seen = [start], {start}
        while pending:
            for consumer in self._consumers[pending.pop()]:
                if consumer in wanted:
                    return True
                if consumer not in seen:
                    seen.add(consumer)
                    pending.append(consumer)
        return False

    def result_bytes(self, index: int) -> int | None:
        """Bytes of all tensor results of a source op; None where a dimension is dynamic."""
        return bytes_of_results(self.ops[index])


def bytes_of_results(op: ir.Operation) -> int | None:
    """Bytes of all tensor results of ``op``; None where a dimension is dynamic."""
    count = 0
    for result in op.results:
        type_ = result.type
        if not isinstance(type_, ir.RankedTensorType):
            continue
        if not type_.has_static_shape:
            return None
        bits = element_bits(type_.element_type)
        for size in type_.shape:
            bits *= size
        count += -(-bits // 8)
    return count
