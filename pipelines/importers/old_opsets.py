"""What the converter of the onnx package takes as it is in a model of an old opset, and has to be written otherwise before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import onnx_nodes

if TYPE_CHECKING:
    import onnx

_ALONG_ONE = 13
"""The opset from which on Hardmax works along one dimension; up to then it merges those from axis on."""
_SHAPE_IS_INPUT = 5
"""The opset from which on the shape of a Reshape is an input."""


def write_rows(model: onnx.ModelProto, opset: int) -> None:
    """Writes each Hardmax of ``model`` as one of a matrix, between a Flatten and a Reshape, where it merges dimensions.

    Along the rows of a matrix it is the same in all opsets. Raises ValueError where that cannot be written.
    """
    if opset >= _ALONG_ONE or not any(one.op_type == "Hardmax" for one in onnx_nodes.all_nodes(model.graph)):
        return
    if opset < _SHAPE_IS_INPUT:
        raise ValueError("a Hardmax of an opset whose Reshape has no sizes that the call decides")
    _write_rows(model.graph)


def _write_rows(graph: onnx.GraphProto) -> None:
    from onnx import helper

    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                _write_rows(inner)
        if node.op_type != "Hardmax":
            nodes.append(node)
            continue
        axis = next((one.i for one in node.attribute if one.name == "axis"), 1)
        [value], [result] = node.input, node.output
        rows, sizes, made = (f"{result}/{node.name}/{part}" for part in ("rows", "sizes", "made"))
        nodes += [
            helper.make_node("Flatten", [value], [rows], name=node.name, axis=axis),
            helper.make_node("Shape", [value], [sizes], name=node.name),
            helper.make_node("Hardmax", [rows], [made], name=node.name, axis=1),
            helper.make_node("Reshape", [made, sizes], [result], name=node.name),
        ]
    kept = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(kept)
