"""Sizes, axes and conditions that the definition of an ONNX op computes although they are known: computed here.

IREE's lowerings want axes and branches as constants. Only integers and booleans are folded, so that no number of the model's is
rounded elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

MOST_ELEMENTS = 4096
_SHAPES = ("Shape", "Size")


def fold(model: onnx.ModelProto) -> bool:
    """Replaces nodes of the main graph whose integers are known by constants, and an If whose branch is known by that branch; returns
    whether anything was. Shapes have been inferred."""
    import onnx
    from onnx import numpy_helper

    graph = model.graph
    known = {t.name: t for t in graph.initializer}
    shapes = {v.name: v.type.tensor_type for v in (*graph.input, *graph.value_info, *graph.output)}
    changed, nodes = False, []
    for node in graph.node:
        if node.op_type == "If" and node.input[0] in known:
            taken = bool(numpy_helper.to_array(known[node.input[0]]).reshape(-1)[0])
            nodes += _branch(node, "then_branch" if taken else "else_branch")
            changed = True
            continue
        value = _value(node, known, shapes, model)
        if value is None:
            nodes.append(node)
            continue
        known[node.output[0]] = value
        if node.op_type != "Constant":
            nodes.append(_constant(node, value))
            changed = True
        else:
            nodes.append(node)
    if changed:
        kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(kept)
    return changed


def _value(node, known: dict, shapes: dict, model: onnx.ModelProto):
    """The one result of ``node`` as a tensor; None where it is not known, large, or no integer."""
    import numpy as np
    from onnx import numpy_helper

    if len(node.output) != 1 or any(a.HasField("g") or a.graphs for a in node.attribute):
        return None
    if node.op_type in _SHAPES and node.input[0] not in known:
        known = known | _stand_in(node.input[0], shapes)
    if node.op_type == "Constant" or all(name in known for name in node.input if name):
        result = _evaluated(node, known, model)
        if result is None or not isinstance(result, np.ndarray | np.generic):
            return None
        result = np.asarray(result)
        if result.size <= MOST_ELEMENTS and result.dtype.kind in "iub":
            return numpy_helper.from_array(result, node.output[0])
    return None


def _stand_in(name: str, shapes: dict) -> dict:
    """A tensor of ``name``'s shape, whose elements nobody reads, where the shape is known and small."""
    import numpy as np
    from onnx import numpy_helper

    found = shapes.get(name)
    if found is None or not found.HasField("shape"):
        return {}
    if not all(dim.HasField("dim_value") for dim in found.shape.dim):
        return {}
    sizes = [dim.dim_value for dim in found.shape.dim]
    if np.prod(sizes, dtype=np.int64) > MOST_ELEMENTS * 256:
        return {}
    return {name: numpy_helper.from_array(np.zeros(sizes, np.bool_), name)}


def _evaluated(node, known: dict, model: onnx.ModelProto):
    from onnx import ValueInfoProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    inputs = {name: numpy_helper.to_array(known[name]) for name in node.input if name}
    arguments = [
        helper.make_tensor_value_info(name, known[name].data_type, list(known[name].dims)) for name in inputs
    ]
    graph = helper.make_graph([node], "one", arguments, [ValueInfoProto(name=node.output[0])])
    try:
        single = helper.make_model(graph, opset_imports=model.opset_import)
        results: list = list(ReferenceEvaluator(single).run(None, inputs))
        return results[0]
    except Exception:  # an op that the evaluator does not have stays as it is
        return None


def _constant(node, value):
    from onnx import helper

    made = helper.make_node("Constant", [], list(node.output), value=value)
    made.name = node.name
    return made


def _branch(node, name: str) -> list:
    """The nodes of the branch ``name`` of an If, and an Identity for each result."""
    from onnx import helper

    graph = next(attribute.g for attribute in node.attribute if attribute.name == name)
    ends = [
        helper.make_node("Identity", [inner.name], [outer])
        for inner, outer in zip(graph.output, node.output, strict=True)
    ]
    starts = [helper.make_node("Constant", [], [t.name], value=t) for t in graph.initializer]
    made = [*starts, *graph.node, *ends]
    for one in made:
        one.name = one.name or node.name
    return made
