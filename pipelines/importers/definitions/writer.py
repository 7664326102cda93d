"""Nodes that take the place of one node of an ONNX model, and what is known of their values while they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import onnx

RUNTIME = "com.microsoft"
"""The domain of the ops that ONNX Runtime adds to the standard: its quantiser and its optimiser write them."""
FIRST_OPSET = 11
"""The first version of the standard whose ops the definitions use; later forms are written for the models that have them."""
_AXES_ARE_INPUTS = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13, "ReduceMean": 18, "ReduceMax": 18}
"""Op -> the version of the standard since which its axes are an input."""
_MOST_KNOWN = 4096
"""Elements of a constant whose values are passed to the inference of shapes."""


class NotDefined(Exception):
    """The node is used in a way that its definition does not cover."""


@dataclass
class Known:
    """What is known of a model's values: their types, and those that are constant. Names are unique in an ONNX graph."""

    opsets: list[onnx.OperatorSetIdProto]
    types: dict[str, onnx.TypeProto] = field(default_factory=dict)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    @property
    def opset(self) -> int:
        return next((o.version for o in self.opsets if o.domain in ("", "ai.onnx")), 0)

    def constant(self, tensor: onnx.TensorProto, name: str) -> None:
        from onnx import helper

        self.constants[name] = tensor
        self.types.setdefault(name, helper.make_tensor_type_proto(tensor.data_type, tensor.dims))

    def follow(self, node: onnx.NodeProto) -> None:
        """Adds the types of the results of ``node``, an op of the standard, where they follow from its operands."""
        import onnx
        from onnx import shape_inference

        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    self.constant(attribute.t, node.output[0])
            return
        if all(
            name in self.types and self.types[name].tensor_type.HasField("shape")
            for name in node.output
            if name
        ):
            return
        given = {name: self.types[name] for name in node.input if name in self.types}
        if len(given) != len({name for name in node.input if name}) or not onnx.defs.has(
            node.op_type, self.opset, node.domain
        ):
            return
        data = {
            name: self.constants[name]
            for name in node.input
            if name in self.constants and np.prod(self.constants[name].dims, dtype=np.int64) <= _MOST_KNOWN
        }
        schema = onnx.defs.get_schema(node.op_type, self.opset, node.domain)
        try:
            found = shape_inference.infer_node_outputs(schema, node, given, data, opset_imports=self.opsets)
        except (onnx.checker.ValidationError, shape_inference.InferenceError, RuntimeError, ValueError):
            return
        if node.op_type == "DynamicQuantizeLinear":  # the inference knows the element types alone
            found[node.output[0]].tensor_type.shape.CopyFrom(given[node.input[0]].tensor_type.shape)
            for name in node.output[1:]:
                found[name].tensor_type.shape.SetInParent()
        for name, type_ in found.items():
            if name not in self.types or not self.types[name].tensor_type.HasField("shape"):
                self.types[name] = type_


class Writer:
    """Writes nodes in the place of ``node``. A missing operand or result is "", as in ONNX."""

    def __init__(self, node: onnx.NodeProto, known: Known) -> None:
        self.node, self.known = node, known
        self.nodes: list[onnx.NodeProto] = []
        if known.opset < FIRST_OPSET:
            raise NotDefined(f"opset {known.opset}")

    # The node

    def operand(self, index: int) -> str:
        return self.node.input[index] if index < len(self.node.input) else ""

    def result(self, index: int) -> str:
        return self.node.output[index] if index < len(self.node.output) else ""

    def attribute(self, name: str, default: Any) -> Any:
        from onnx import helper

        for attribute in self.node.attribute:
            if attribute.name == name:
                value = helper.get_attribute_value(attribute)
                return value.decode() if isinstance(value, bytes) else value
        return default

    def only(self, **defaults: object) -> None:
        """Raises NotDefined where an attribute of these has another value."""
        for name, value in defaults.items():
            if self.attribute(name, value) != value:
                raise NotDefined(f"{name} is {self.attribute(name, value)}")

    # What is known

    def dtype(self, name: str) -> int:
        """The element type of a value, as a number of TensorProto.DataType."""
        if name not in self.known.types:
            raise NotDefined(f"the element type of {name} is unknown")
        return self.known.types[name].tensor_type.elem_type

    def sizes(self, name: str) -> list[int | None]:
        """The sizes of a value, None where the call decides."""
        type_ = self.known.types.get(name)
        if type_ is None or not type_.tensor_type.HasField("shape"):
            raise NotDefined(f"the rank of {name} is unknown")
        return [dim.dim_value if dim.HasField("dim_value") else None for dim in type_.tensor_type.shape.dim]

    def rank(self, name: str) -> int:
        return len(self.sizes(name))

    def size(self, name: str, dim: int) -> int:
        """Raises NotDefined where the call decides it."""
        found = self.sizes(name)[dim]
        if found is None:
            raise NotDefined(f"size {dim} of {name} is unknown")
        return found

    def same_size(self, left: str, left_dim: int, right: str, right_dim: int) -> bool:
        """Whether two sizes are known to be the same: the same number, or the same name."""
        if left not in self.known.types or right not in self.known.types:
            return False
        one = self.known.types[left].tensor_type.shape.dim[left_dim]
        other = self.known.types[right].tensor_type.shape.dim[right_dim]
        if one.dim_value or other.dim_value:
            return one.dim_value == other.dim_value
        return bool(one.dim_param) and one.dim_param == other.dim_param

    def value(self, name: str) -> np.ndarray | None:
        from onnx import numpy_helper

        tensor = self.known.constants.get(name)
        return None if tensor is None else numpy_helper.to_array(tensor)

    # What is written

    def op(self, kind: str, *operands: str, **attributes: object) -> str:
        """The one result of a new node."""
        return self.ops(kind, operands, 1, **attributes)[0]

    def ops(self, kind: str, operands: Sequence[str], results: int, **attributes: Any) -> list[str]:
        from onnx import helper

        given = list(operands)
        while given and not given[-1]:
            given.pop()
        names = [f"{self.node.output[0]}/{self.node.name}/{len(self.nodes)}.{i}" for i in range(results)]
        made = helper.make_node(kind, given, names, **attributes)
        self.nodes.append(made)
        self.known.follow(made)
        return names

    def end(self, index: int, value: str) -> None:
        """Makes ``value`` the node's result ``index``, where that is used."""
        from onnx import helper

        if name := self.result(index):
            made = helper.make_node("Identity", [value], [name])
            self.nodes.append(made)
            self.known.follow(made)

    def array(self, value: np.ndarray | np.generic) -> str:
        from onnx import numpy_helper

        return self.op("Constant", value=numpy_helper.from_array(np.asarray(value, order="C")))

    def ints(self, *values: int) -> str:
        return self.array(np.array(values, np.int64))

    def number(self, value: float, like: str) -> str:
        """A scalar of the element type of ``like``."""
        from onnx import helper

        dtype = self.dtype(like)
        made = helper.make_tensor("", dtype, [], [value])
        return self.op("Constant", value=made)

    def cast(self, value: str, like: str) -> str:
        """``value`` in the element type of ``like``."""
        if self.dtype(value) == self.dtype(like):
            return value
        return self.op("Cast", value, to=self.dtype(like))

    # Ops whose form depends on the version of the standard

    def along(self, kind: str, value: str, axes: Sequence[int], **attributes: object) -> str:
        """`Squeeze`, `Unsqueeze` or a reduction over ``axes``."""
        if self.known.opset >= _AXES_ARE_INPUTS[kind]:
            return self.op(kind, value, self.ints(*axes), **attributes)
        return self.op(kind, value, axes=list(axes), **attributes)

    def mean(self, value: str) -> str:
        """Over the last dimension, which is kept."""
        return self.along("ReduceMean", value, [-1], keepdims=1)

    def split(self, value: str, sizes: Sequence[int], axis: int) -> list[str]:
        if self.known.opset >= 13:
            return self.ops("Split", [value, self.ints(*sizes)], len(sizes), axis=axis)
        return self.ops("Split", [value], len(sizes), axis=axis, split=list(sizes))

    def slice(self, value: str, first: int | str, end: int | str, axis: int) -> str:
        bounds = [one if isinstance(one, str) else self.ints(one) for one in (first, end)]
        return self.op("Slice", value, *bounds, self.ints(axis))

    def reshape(self, value: str, *sizes: int) -> str:
        """0 keeps a size, -1 takes what is left."""
        return self.op("Reshape", value, self.ints(*sizes))

    def size_of(self, value: str, dim: int) -> str:
        """A size of ``value`` as a tensor of one element: a constant where it is known."""
        known = self.sizes(value)[dim]
        if known is not None:
            return self.ints(known)
        return self.op("Gather", self.op("Shape", value), self.ints(dim % self.rank(value)), axis=0)

    def places(self, size: str) -> str:
        """0, 1, … below ``size``, a tensor of one element: [size]."""
        known = self.value(size)
        if known is not None and known.reshape(-1)[0] <= _MOST_KNOWN:
            return self.ints(*range(int(known.reshape(-1)[0])))
        end = self.along("Squeeze", size, [0])
        return self.op("Range", self.array(np.int64(0)), end, self.array(np.int64(1)))

    def transpose(self, value: str, *order: int) -> str:
        return self.op("Transpose", value, perm=list(order))

    def swapped(self, value: str) -> str:
        """``value`` with its last two dimensions swapped."""
        rank = self.rank(value)
        return self.transpose(value, *range(rank - 2), rank - 1, rank - 2)

    def sum(self, *values: str) -> str:
        """Of those that are there."""
        present = [value for value in values if value]
        total = present[0]
        for value in present[1:]:
            total = self.op("Add", total, value)
        return total


Definition = Callable[[Writer], None]
DEFINITIONS: dict[tuple[str, str], Definition] = {}
"""Domain and op type -> what writes its definition."""


def defines(*kinds: str, domain: str = RUNTIME) -> Callable[[Definition], Definition]:
    """Makes a function the definition of the ops ``kinds``."""

    def add(definition: Definition) -> Definition:
        for kind in kinds:
            DEFINITIONS[domain, kind] = definition
        return definition

    return add
