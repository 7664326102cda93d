"""The nodes of an ONNX model as places: numbered in the order of the file, in nested graphs too, each with one line of text.

IREE's importer gives an op its node's name as location. `number_nodes` replaces the names by numbers, and `place_nodes` the
locations by `"NAME"("MODEL":NUMBER:1)`: every diagnostic of IREE carries the place on, and `dialect/places.py` reads the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iree.compiler import ir

if TYPE_CHECKING:
    import onnx

_KEY = "fissile node "
_MOST_SHOWN = 4
"""Inputs and outputs of a node that its line names."""


def number_nodes(model: onnx.ModelProto) -> list[str]:
    """Names each node of ``model`` by its number, from 1; returns their lines. Node N has line N - 1."""
    lines = []
    for number, node in enumerate(all_nodes(model.graph), 1):
        lines.append(_line(number, node))
        node.name = f"{_KEY}{number}"
    return lines


def number_of(name: object) -> int:
    """The number of a node that is called ``name``; 0 where it is not numbered."""
    number = name.removeprefix(_KEY) if isinstance(name, str) and name.startswith(_KEY) else ""
    return int(number) if number.isdigit() else 0


def node_names(model: onnx.ModelProto) -> list[str]:
    """The name of each node, in the same order; of its first output where it has none."""
    return [node.name or next(iter(node.output), "") for node in all_nodes(model.graph)]


def op_types(model: onnx.ModelProto) -> list[str]:
    """The op type of each node, in the same order."""
    return [node.op_type for node in all_nodes(model.graph)]


def renumber_inlined(model: onnx.ModelProto, before: Sequence[onnx.NodeProto]) -> None:
    """Gives nodes that stand for a node of ``before``, the numbered main graph, that node's number.

    The inliner puts a function's nodes, without names, where its call stood, in order; the last of them make the outputs of the call.
    """
    kept = {node.name for node in model.graph.node if node.name}
    missing = [node for node in before if node.name not in kept]
    wanted: set[str] = set()
    current = None
    for node in model.graph.node:
        if node.name:
            continue
        if not wanted and missing:
            current = missing.pop(0)
            wanted = {name for name in current.output if name}
        if current is not None:
            for inner in (node, *(n for graph in _graphs(node) for n in all_nodes(graph))):
                inner.name = current.name
        wanted -= set(node.output)


def place_nodes(module: ir.Operation, file: str, names: Sequence[str]) -> None:
    """Gives each op that was imported from a numbered node the location ``file``:NUMBER:1, inside the node's name."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        location = op.location
        if isinstance(location, ir.NameLoc) and (name := location.name_str).startswith(_KEY):
            number = int(name[len(_KEY) :])
            place = ir.Location.file(file, number, 1, op.context)
            named = names[number - 1]
            op.location = ir.Location.name(named, place, op.context) if named else place
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)


def all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """The nodes of ``graph``, and those of the graphs inside each behind it."""
    for node in graph.node:
        yield node
        for nested in _graphs(node):
            yield from all_nodes(nested)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _line(number: int, node: onnx.NodeProto) -> str:
    """`node 12 '/layer1/act': Celu(x) -> y`."""
    named = f" '{node.name}'" if node.name else ""
    return f"node {number}{named}: {node.op_type}({_listed(node.input)}) -> {_listed(node.output)}"


def _listed(names: Sequence[str]) -> str:
    shown = [name or "none" for name in names[:_MOST_SHOWN]]
    return ", ".join(shown + ["…"] * (len(names) > _MOST_SHOWN))
