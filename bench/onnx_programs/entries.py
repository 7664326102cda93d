"""The table of programs, and the tensors that they are called with. Everything is seeded.

A program is written as ONNX's text format has it: ``"float[b,s,32] x => y"`` and its nodes. A letter is a size that the call decides.
Weights are given by name: an array, or sizes of random numbers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

SIZES = {"a": 3, "b": 3, "c": 4, "d": 2, "e": 5, "h": 12, "k": 4, "m": 5, "n": 9, "s": 9, "t": 7, "w": 14}
"""Letter -> its size in the call that is compared."""
ELEMENTS = {
    "bool": np.bool_, "double": np.float64, "float": np.float32, "float16": np.float16, "int32": np.int32, "int64": np.int64, "int8": np.int8,
    "uint8": np.uint8,
}  # fmt: skip
OPSET = 19
INT = np.int64
ARGUMENT = re.compile(r"(\w+)\[([\w,]*)\] (\w+)")
_PROGRAMS: dict[str, tuple] = {}
_RANDOM = np.random.default_rng(0)


def ints(*values: int) -> np.ndarray:
    """A constant list of sizes, axes or positions."""
    return np.array(values, INT)


def r(*shape: int, element: str = "float") -> np.ndarray:
    """Random numbers around 0; integers over the range of 8 bits, signed ones of 7, otherwise from 0 to 6.

    ONNX Runtime saturates the sum of two products of unsigned and signed 8 bits on processors without VNNI: its answer is wrong there.
    """
    return drawn(_RANDOM, shape, element)


def drawn(generator: np.random.Generator, shape: Sequence[int], element: str) -> np.ndarray:
    if element == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if element == "int8":
        return generator.integers(-64, 64, shape).astype(np.int8)
    if element == "uint8":
        return generator.integers(0, 256, shape).astype(np.uint8)
    if element in ("int32", "int64"):
        return generator.integers(0, 7, shape).astype(ELEMENTS[element])
    return generator.standard_normal(shape).astype(ELEMENTS[element])


def _named(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def of(name: str, head: str, body: str, opset: int = OPSET, given: dict | None = None, **weights) -> None:
    """``head``: the inputs and, behind an arrow, the names of the results; ``given``: arguments that are not drawn."""
    assert name not in _PROGRAMS, name
    _PROGRAMS[name] = (head, body, opset, given or {}, weights)


def programs() -> Iterator[tuple[str, onnx.ModelProto, list[np.ndarray], list[np.ndarray]]]:
    """Name, model, arguments, and what onnxruntime computes, or the standard's own evaluator of what onnxruntime does not take."""
    for name in _PROGRAMS:
        if (found := program(name)) is not None:
            yield name, *found


def program(name: str) -> tuple[onnx.ModelProto, list[np.ndarray], list[np.ndarray]] | None:
    """The same of one; None where neither computes it, or the installed onnx does not know the types of its results."""
    import onnxruntime
    from onnx.reference import ReferenceEvaluator

    onnxruntime.set_default_logger_severity(4)
    try:
        model, arguments = model_of(name)
    except ValueError:
        return None
    call = dict(zip((one.name for one in model.graph.input), arguments, strict=True))
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        results = session.run(None, call)
    except Exception:  # what it raises has no base of its own
        try:
            results = ReferenceEvaluator(model).run(None, call)
        except Exception:  # whatever it raises
            return None
    return model, arguments, [np.asarray(one) for one in results]


def names() -> list[str]:
    return list(_PROGRAMS)


def model_of(name: str, opset: int = 0) -> tuple[onnx.ModelProto, list[np.ndarray]]:
    """The model, in ``opset`` if that is not 0, and the arguments. Raises what the onnx package raises of a model that is none there."""
    head, body, own, given, weights = _PROGRAMS[name]
    model = _model(head, body, opset or own, weights)
    return model, [argument(one, given) for one in ARGUMENT.findall(head.partition("=>")[0])]


def argument(written: Sequence[str], given: dict) -> np.ndarray:
    """An argument (element type, sizes, name) of ``given``, or drawn: one name has the same numbers in any order of the programs."""
    element, sizes, name = written
    if name in given:
        return np.asarray(given[name], ELEMENTS[element])
    shape = [int(SIZES.get(one, 0) or one) for one in sizes.split(",") if one]
    return drawn(_named(name), shape, element)


def graph_of(head: str, body: str, weights: dict[str, onnx.TensorProto]) -> onnx.GraphProto:
    """The graph main of a program; its results have no types yet."""
    inputs, _, results = head.partition("=>")
    text = (
        f"main ({inputs}) => ({', '.join(f'float {one.strip()}' for one in results.split(','))}) {{ {body} }}"
    )
    graph = parser.parse_graph(text)
    graph.initializer.extend(weights.values())
    outputs = [one.name for one in graph.output]
    del graph.output[:]
    graph.output.extend(onnx.ValueInfoProto(name=one) for one in outputs)
    return graph


def weight(name: str, value) -> onnx.TensorProto:
    """An array, or random numbers of the sizes ``value``."""
    return numpy_helper.from_array(
        drawn(_named(name), value, "float") if isinstance(value, tuple) else np.asarray(value), name
    )


def _model(head: str, body: str, opset: int, weights: dict) -> onnx.ModelProto:
    graph = graph_of(head, body, {name: weight(name, value) for name, value in weights.items()})
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    known = onnx.shape_inference.infer_shapes(model, data_prop=True, strict_mode=True)
    for one, found in zip(model.graph.output, known.graph.output, strict=True):
        one.CopyFrom(found)
        if one.type.tensor_type.elem_type == TensorProto.UNDEFINED:
            raise ValueError(f"{one.name}: its type is not known")
    return model
