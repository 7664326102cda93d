"""Results that IREE writes into the buffer of an argument (`iree.abi.output`, `tf.aliasing_output`) while the argument is still read.

IREE 3.13 imports the buffer once for the argument and once for the result, and takes the two for one tensor afterwards (CSE). The op that
makes the result writes straight into it (EmplaceAllocations), whether or not another op, or the same one, reads the argument later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operand, operands_named
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from ..host.on_host import ops_on_host
from ..program.private_calls import function_of
from .dependences import awaited_by
from .same_elements import reads_what_it_writes

_ALIAS = iree_ops.HAL_TENSOR_ALIAS
_VIEWS = (
    iree_ops.FLOW_TENSOR_RESHAPE,
    iree_ops.FLOW_TENSOR_BITCAST,
    iree_ops.FLOW_TENSOR_SLICE,
    iree_ops.FLOW_TENSOR_TIE_SHAPE,
    iree_ops.FLOW_TENSOR_TRANSFER,
    iree_ops.HAL_TENSOR_BARRIER,
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
)
"""Ops whose results may be the buffer of an operand, or a part of it."""
_READS_NOTHING = ("tensor.dim",)
_LOOPS, _PASSES_ON = ("scf.for", "scf.while"), ("scf.yield", "scf.condition")


@dataclass(frozen=True)
class DonatedStorage:
    """Result number ``alias`` (from 0, of those with storage) of ``function`` is written to the buffer of argument ``name`` by the op at
    ``written_at``, while the op at ``read_at`` may not have read it. ``sure``: these are two ops, and nothing orders them."""

    function: str
    alias: int
    name: str
    read_at: Place | None
    written_at: Place | None
    sure: bool


def aliases(function: ir.Operation) -> list[ir.Operation]:
    """The ops of ``function`` that give a result its storage, in program order."""
    return ops_of(function, _ALIAS)


def donates(module: ir.Operation) -> bool:
    """Whether a function of ``module`` writes a result into the buffer of an argument that it imports as a tensor."""
    return any(imports_of_storage(alias) for alias in ops_of(module, _ALIAS))


def overwritten_storage(module: ir.Operation) -> tuple[DonatedStorage, ...]:
    """All of ``module``, whose dispatches are formed and outlined, in program order."""
    if not (found := [one for one in ops_of(module, _ALIAS) if imports_of_storage(one)]):
        return ()
    position = {hash(op): i for i, op in enumerate(ops_on_host(module))}
    numbers: dict[str, int] = {}
    every = []
    for alias in ops_of(module, _ALIAS):
        function = function_of(alias)
        number = numbers[function] = numbers.get(function, -1) + 1
        if alias not in found:
            continue
        for name, reader, writer in _hazards(alias, position, module):
            read_at, written_at = place_of(reader), place_of(writer)
            every.append(DonatedStorage(function, number, name, read_at, written_at, reader != writer))
    return tuple(dict.fromkeys(every))


def imports_of_storage(alias: ir.Operation) -> list[ir.Operation]:
    """What imports the storage of ``alias`` as a tensor that something uses."""
    storage = operand(alias, "storage")
    uses = [use.owner.operation for use in storage.uses] if storage is not None else []
    return [op for op in uses if op.name == iree_ops.HAL_TENSOR_IMPORT and list(op.results[0].uses)]


def _hazards(
    alias: ir.Operation, position: dict[int, int], module: ir.Operation
) -> Iterator[tuple[str, ir.Operation, ir.Operation]]:
    """Name of the argument, reader and writer, of each reader that may come too late."""
    made = _through_views(alias.operands[0])
    for imported in imports_of_storage(alias):
        if made == imported.results[0]:
            continue  # it is returned as it came
        maker = None if isinstance(made.owner, ir.Block) else made.owner.operation
        places_it = maker is not None and maker.name == iree_ops.FLOW_DISPATCH
        writer = maker if places_it and maker is not None else alias
        before = awaited_by([writer], position)
        name = text_of(imported, "name") if "name" in imported.attributes else ""
        for use in imported.operands[0].uses:
            if use.owner.operation.name == iree_ops.UTIL_RETURN:
                yield name, use.owner.operation, writer
        for reader, values in _readers(imported.results[0], made):
            if reader == writer:
                if not reads_what_it_writes(module, reader, values, made):
                    yield name, reader, writer
            elif reader != alias and (reader.name == _ALIAS or hash(reader) not in before):
                yield name, reader, writer


def _readers(imported: ir.Value, made: ir.Value) -> list[tuple[ir.Operation, list[ir.Value]]]:
    """The ops that read ``imported``, each with the values by which it does; ``made`` is what is written there itself."""
    found: dict[int, tuple[ir.Operation, list[ir.Value]]] = {}
    pending, seen = [imported], {imported}
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            passed = list(user.results) if user.name in _VIEWS else _passed_on(user, value)
            new = [one for one in passed if one not in seen and one != made]
            pending += new
            seen.update(new)
            if user.name not in (*_VIEWS, *_PASSES_ON, *_READS_NOTHING):
                found.setdefault(hash(user), (user, []))[1].append(value)
    return list(found.values())


def _passed_on(op: ir.Operation, value: ir.Value) -> list[ir.Value]:
    """What may be ``value`` in, or behind, the loop or branch that ``op`` is or ends a block of: tensors of its type."""
    if op.name not in (*_PASSES_ON, *_LOOPS):
        return []
    around = op if op.name in _LOOPS else op.parent.operation
    arguments = [one for region in around.regions for block in region.blocks for one in block.arguments]
    return [one for one in (*around.results, *arguments) if one.type == value.type]


def _through_views(value: ir.Value) -> ir.Value:
    """The tensor that ``value`` is a reshape of."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == iree_ops.HAL_TENSOR_BARRIER:
            value = operands_named(op, "sources")[ir.OpResult(value).result_number]
        elif op.name in (
            iree_ops.FLOW_TENSOR_RESHAPE,
            iree_ops.FLOW_TENSOR_BITCAST,
            iree_ops.FLOW_TENSOR_TIE_SHAPE,
        ):
            value = op.operands[0]
        else:
            break
    return value
