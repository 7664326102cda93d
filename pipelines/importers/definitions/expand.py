"""A model in which nodes are replaced by their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from . import (  # noqa: F401 (each adds its definitions)
    attention,
    blocks,
    convolutions,
    fused,
    grouped_attention,
    normalisation,
    pools,
    quantised,
    resize,
)
from .writer import DEFINITIONS, Known, NotDefined, Writer

if TYPE_CHECKING:
    import onnx


def definable(model: onnx.ModelProto) -> dict[str, str]:
    """The op types of ``model`` that have a definition, with the name of the first node of theirs that IREE's importer cannot use: it has a
    constant of 4 bits, or a result without a type, and that not only because an operand has none; "" where there is none. Shapes have been
    inferred.
    """
    found: dict[str, str] = {}
    opset = Known(list(model.opset_import)).opset
    for graph, typed in _graphs(model.graph, set()):
        narrow = {tensor.name for tensor in graph.initializer if _is_narrow(tensor)}
        for node in graph.node:
            if (node.domain, node.op_type) in DEFINITIONS:
                follows = _is_registered(node, opset) and any(
                    name and name not in typed for name in node.input
                )
                untyped = not follows and any(name and name not in typed for name in node.output)
                untyped |= not narrow.isdisjoint(node.input)
                found[node.op_type] = found.get(node.op_type) or (node.name if untyped else "")
    return found


def unregistered(model: onnx.ModelProto) -> bool:
    """Whether ``model`` has an op in the standard's domain that its version of the standard lacks and that has a definition."""
    opset = Known(list(model.opset_import)).opset
    return any(
        node.domain == "" and ("", node.op_type) in DEFINITIONS and not _is_registered(node, opset)
        for graph, _typed in _graphs(model.graph, set())
        for node in graph.node
    )


def _is_registered(node: onnx.NodeProto, opset: int) -> bool:
    """Whether the standard has the op in version ``opset``."""
    import onnx

    return node.domain == "" and onnx.defs.has(node.op_type, opset, "")


def expand(model: onnx.ModelProto, kinds: Iterable[str]) -> set[str]:
    """Replaces the nodes of ``kinds``, in nested graphs too, by their definitions where these cover them; returns of which kinds one was."""
    wanted = set(kinds)
    return _expand(model.graph, Known(list(model.opset_import)), lambda node: node.op_type in wanted)


def _expand(graph: onnx.GraphProto, known: Known, wanted: Callable[[onnx.NodeProto], bool]) -> set[str]:
    import onnx

    for tensor in graph.initializer:
        known.constant(tensor, tensor.name)
    for value in (*graph.input, *graph.value_info, *graph.output):
        if value.type.tensor_type.elem_type:
            known.types.setdefault(value.name, value.type)
    nodes: list[onnx.NodeProto] = []
    changed: set[str] = set()
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                changed |= _expand(attribute.g, known, wanted)
        definition = DEFINITIONS.get((node.domain, node.op_type)) if wanted(node) else None
        written = _written(definition, node, known) if definition else None
        if written is None:
            known.follow(node)
            nodes.append(node)
        else:
            nodes += written
            changed.add(node.op_type)
    used = {name for node in nodes for name in node.input} if changed else set()
    for tensor in [one for one in graph.initializer if changed and _is_narrow(one) and one.name not in used]:
        graph.initializer.remove(tensor)
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(kept)
    return changed


def _written(definition, node: onnx.NodeProto, known: Known) -> list[onnx.NodeProto] | None:
    """The nodes that take the place of ``node``, with its name; None where the definition does not cover it."""
    try:
        writer = Writer(node, known)
        definition(writer)
    except (NotDefined, ArithmeticError, LookupError, TypeError, ValueError):
        return None  # a node with attributes or operands that its op does not allow is IREE's to reject
    for made in writer.nodes:
        made.name = node.name
    return writer.nodes


def _is_narrow(tensor: onnx.TensorProto) -> bool:
    """Whether its elements have 4 bits, which IREE's importer does not take."""
    return tensor.data_type in (tensor.INT4, tensor.UINT4)


def _graphs(graph: onnx.GraphProto, outside: set[str]):
    """``graph`` and the graphs inside it, each with the names of the values that have a type there."""
    typed = outside | {
        value.name
        for value in (*graph.input, *graph.value_info, *graph.output)
        if value.type.tensor_type.elem_type
    }
    typed |= {tensor.name for tensor in graph.initializer}
    yield graph, typed
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g, typed)
