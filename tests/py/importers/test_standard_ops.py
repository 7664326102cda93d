"""Ops of the ONNX standard that IREE rejects, crashes on or computes otherwise (FIS162, FIS421): repaired they compute what onnxruntime does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import Signature, parse_value

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
from onnx import helper, numpy_helper  # noqa: E402

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
DRIVERS = [driver for driver in FLAGS if driver in {one.name for one in runtimes.present()}]
RANDOM = np.random.default_rng(5)
REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")


class Model:
    """Nodes of their own inputs and constants."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes, self.constants, self.open = [], [], set()
        self.inputs: dict[str, np.ndarray] = {}
        self.results: list[str] = []
        self.kinds: set[str] = set()

    def add(self, name: str, op: str, values, constant=(), results=1, open_size=False, **attributes) -> None:
        names = []
        for number, value in enumerate(values):
            if value is None:
                names.append("")
                continue
            names.append(f"{name}_{number}")
            value = np.asarray(value)
            if number in constant:
                self.constants.append(numpy_helper.from_array(value, names[-1]))
            else:
                self.inputs[names[-1]] = value
        made = [f"{name}_r{number}" for number in range(results)]
        self.results += made
        self.kinds.add(op)
        self.open |= set(made) if open_size else set()
        self.nodes.append(helper.make_node(op, names, made, name=name, **attributes))

    def save(self, path) -> list[np.ndarray]:
        """Writes the model; what onnxruntime computes."""
        given = [_declared(name, value.dtype, value.shape) for name, value in self.inputs.items()]
        without = [helper.make_empty_tensor_value_info(name) for name in self.results]
        session = onnxruntime.InferenceSession(
            self._model(given, without).SerializeToString(), providers=["CPUExecutionProvider"]
        )
        wanted = session.run(self.results, self.inputs)
        made = [
            _declared(name, one.dtype, [None] * one.ndim if name in self.open else one.shape)
            for name, one in zip(self.results, wanted, strict=True)
        ]
        onnx.save(self._model(given, made), path)
        return wanted

    def _model(self, given, made):
        graph = helper.make_graph(self.nodes, "main", given, made, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


def _declared(name: str, dtype, shape):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)


def _value(array: np.ndarray, open_size: bool = False):
    kinds = {"f": f"f{8 * array.itemsize}", "i": f"i{8 * array.itemsize}", "b": "i1"}
    sizes = "".join("?x" if open_size else f"{size}x" for size in array.shape)
    return parse_value(f"tensor<{sizes}{kinds[array.dtype.kind]}>")


def floats(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-3, 3, shape).astype(np.float32)


def losses() -> Model:
    model = Model(19)
    weights = np.array([0.2, 0.5, 1.0, 2.0], np.float32)
    sizes = {"rows": ((5, 4), np.int64), "series": ((2, 4, 3), np.int32), "images": ((2, 4, 3, 2), np.int64)}
    kinds = {"NegativeLogLikelihoodLoss": 1, "SoftmaxCrossEntropyLoss": 2}
    for (op, results), reduction, weighted in itertools.product(
        kinds.items(), ("none", "sum", "mean"), (False, True)
    ):
        ignored = (None, 1, -1, 1)[len(model.nodes) % 4]
        name, (shape, dtype) = list(sizes.items())[(len(model.nodes) + weighted) % 3]
        targets = (np.arange(np.prod(shape) // 4) * 3 % 4).astype(dtype).reshape(shape[0], *shape[2:])
        targets = np.where(targets == 2, -1, targets).astype(dtype) if ignored == -1 else targets
        values = [floats(*shape), targets, *([weights] * weighted)]
        attributes = {} if ignored is None else {"ignore_index": ignored}
        case = f"{op[:3]}_{name}_{len(model.nodes)}"
        model.add(case, op, values, (2,), 1 + len(model.nodes) % results, reduction=reduction, **attributes)
    return model


def lists_of_axes(opset: int) -> Model:
    """Axes as an attribute."""
    model = Model(opset)
    for op, keep in itertools.product(REDUCTIONS, (0, 1)):
        if op != "Sum" or opset < 13:
            x = np.abs(floats(2, 3, 4)) + 0.1
            model.add(f"{op}_{keep}", f"Reduce{op}", [x], axes=[-2], keepdims=keep)
            model.add(f"{op}_two_{keep}", f"Reduce{op}", [x], axes=[-1, 0], keepdims=keep)
        model.add(f"{op}_all_{keep}", f"Reduce{op}", [np.abs(floats(2, 3, 4)) + 0.1], keepdims=keep)
    for op, dtype in itertools.product(("Max", "Min", "Prod", "Mean"), ("int64", "int32")):
        x = RANDOM.integers(-4, 5, (2, 3, 4)).astype(dtype)
        if (op, dtype) != ("Mean", "int64"):  # onnxruntime has none
            model.add(f"{op}_{dtype}", f"Reduce{op}", [x], axes=[0, -1])
    return model


def operands_of_axes() -> Model:
    """Axes as an operand, and none."""
    model = Model(18)
    for op in REDUCTIONS:
        x, none = np.abs(floats(2, 3, 4)) + 0.1, np.zeros(0, np.int64)
        model.add(f"{op}_absent", f"Reduce{op}", [x], noop_with_empty_axes=1)
        model.add(f"{op}_empty", f"Reduce{op}", [x, none], (1,), noop_with_empty_axes=1)
        model.add(f"{op}_all", f"Reduce{op}", [x, none], (1,), keepdims=0)
        model.add(f"{op}_one", f"Reduce{op}", [x, np.array([1])], (1,), noop_with_empty_axes=1, keepdims=0)
    for op, dtype in itertools.product(("Sum", "Mean", "Max", "Min", "Prod", "L1", "SumSquare"), ("int32",)):
        x = RANDOM.integers(-4, 5, (2, 3, 4)).astype(dtype)
        model.add(f"{op}_{dtype}", f"Reduce{op}", [x, np.array([-1, 0])], (1,), keepdims=0)
        model.add(f"{op}_{dtype}_noop", f"Reduce{op}", [x], noop_with_empty_axes=1)
    return model


def layers() -> Model:
    model = Model(23)
    positions = np.array([[4, 0, 1, 2, 3], [1, 1, 6, 0, 2]])
    for interleaved, part in itertools.product((0, 1), (0, 4)):
        half = (part or 8) // 2
        tables = [floats(2, 5, half), floats(2, 5, half)]
        rows = [floats(7, half), floats(7, half), positions]
        same = {"interleaved": interleaved, "rotary_embedding_dim": part}
        case = f"rotary_{interleaved}_{part}"
        for name, more in (("tables", tables), ("positions", rows)):
            model.add(
                f"{case}_{name}", "RotaryEmbedding", [floats(2, 3, 5, 8), *more], (1,), num_heads=3, **same
            )
            model.add(
                f"{case}_{name}_together", "RotaryEmbedding", [floats(2, 5, 24), *more], num_heads=3, **same
            )
    for axis, shape in ((-1, (4,)), (1, (3, 4)), (0, (2, 3, 4)), (-2, (1,))):
        model.add(
            f"norm_{len(model.nodes)}",
            "RMSNormalization",
            [floats(2, 3, 4), floats(*shape)],
            axis=axis,
            epsilon=0.01,
        )
    model.add(
        "norm_of_half", "RMSNormalization", [floats(2, 4).astype(np.float16), floats(4).astype(np.float16)]
    )
    return model


def selections() -> Model:
    model = Model(19)
    nine = np.array([1, 0, 1, 1, 0, 1, 0, 0, 1], bool)
    for name, constant in (("known", (1,)), ("given", ())):
        same = {"constant": constant, "open_size": True}
        model.add(f"{name}_flat", "Compress", [floats(3, 4), nine], **same)
        model.add(f"{name}_last", "Compress", [floats(3, 4), nine[:4]], axis=-1, **same)
        model.add(f"{name}_short", "Compress", [np.arange(12).reshape(3, 4), nine[1:3]], axis=0, **same)
        model.add(f"{name}_none", "Compress", [floats(3, 4), np.zeros(3, bool)], axis=0, **same)
    return model


def powers() -> Model:
    model = Model(19)
    base = np.array([[-3, 2, 0, 7], [1, -1, 5, 9], [4, 100, -10, 16]])
    for dtype, power in itertools.product((np.int32, np.int64), (0.0, 2.0, 3.0, 0.5, 1.5)):
        x = (base if power.is_integer() else np.abs(base)).astype(dtype)
        model.add(f"{dtype.__name__}_{str(power).replace('.', '_')}", "Pow", [x, np.float32(power)], (1,))
    model.add("row", "Pow", [base.astype(np.int32), np.array([1, 2, 3, 0], np.float32)])
    column = np.array([[0.5], [-1], [2.5]], np.float32)
    model.add("column", "Pow", [np.abs(base).astype(np.int32) + 1, column])
    return model


def reshapes() -> Model:
    model = Model(19)
    model.add("empty", "Reshape", [np.zeros((0, 3, 4), np.float32), np.array([3, 0, 4])], (1,), allowzero=1)
    model.add("copied", "Reshape", [np.zeros((0, 3, 4), np.int32), np.array([0, 12])], (1,))
    model.add("whole", "Reshape", [floats(2, 3, 4), np.array([3, -1])], (1,), allowzero=1)
    return model


MODELS = {
    "losses": losses, "axes_11": lambda: lists_of_axes(11), "axes_13": lambda: lists_of_axes(13), "axes_18": operands_of_axes,
    "layers": layers, "selections": selections, "powers": powers, "reshapes": reshapes,
}  # fmt: skip


def wrong(found, wanted) -> str:
    """How they differ; empty where they do not."""
    if found.shape != wanted.shape:
        return f"shape {found.shape}, not {wanted.shape}"
    if wanted.dtype.kind in "iu":
        return "" if np.array_equal(found, wanted) else f"{found}, not {wanted}"
    bound = 2e-3 if wanted.dtype == np.float16 else 1e-4
    same = np.allclose(found.astype(np.float64), wanted.astype(np.float64), bound, bound)
    return "" if same else f"{found}, not {wanted}"


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_computes_what_onnxruntime_does(tmp_path, name, driver):
    model, source, output = MODELS[name](), tmp_path / "model.onnx", tmp_path / "model.vmfb"
    wanted = model.save(source)
    report = fissile.compile(source, output, FLAGS[driver], check=False)
    assert not report.errors, report.errors
    assert {one.severity.value for one in report.findings if one.code in ("FIS162", "FIS421")} == {"repaired"}
    [runtime] = runtimes.named([driver])
    given = list(model.inputs.values())
    results = [_value(one, name in model.open) for name, one in zip(model.results, wanted, strict=True)]
    signature = Signature("main", tuple(map(_value, given)), tuple(results))
    found = runtimes.run(output, signature, given, runtime)
    assert isinstance(found, list), found
    differ = {
        result: how
        for result, one, right in zip(model.results, found, wanted, strict=True)
        if (how := wrong(one, right))
    }
    assert not differ
