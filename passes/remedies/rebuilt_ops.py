"""What every remedy needs that builds a structured op anew: its body copied, its own attributes kept."""

from __future__ import annotations

from iree.compiler import ir


def copy_into(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Copies ``op`` to the insertion point, with ``values`` in place of its operands; its results are entered there."""
    new = op.clone()
    _remap(new, values)
    for before, after in zip(op.results, new.results):
        values[before] = after


def discardable_attributes(op: ir.Operation) -> list[ir.NamedAttribute]:
    """Attributes that are not the op's own: those of another dialect (`dialect.name`), or with a leading
    `_`."""
    named = [op.attributes[i] for i in range(len(op.attributes))]
    return [n for n in named if n.name.startswith("_") or "." in n.name and not n.name.startswith("linalg.")]


def element_type(kind: ir.Type) -> ir.Type:
    """The type of a tensor's elements; a scalar's own."""
    return kind.element_type if isinstance(kind, ir.RankedTensorType) else kind


def _remap(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    """Replaces the operands of ``op``, and of the ops in its regions, by what stands for them."""
    for position, operand in enumerate(op.operands):
        if operand in values:
            op.operands[position] = values[operand]
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _remap(inner.operation, values)
