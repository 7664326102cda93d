"""Gradients that autograd writes into a training step: FIS180, FIS169, and ops that IREE rejects (FIS421), as numerical differences have them."""

from __future__ import annotations

import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
RANDOM = np.random.default_rng(3)
NAMED = (
    "leaky_relu_backward", "hardtanh_backward", "mse_loss_backward", "native_batch_norm", "native_batch_norm_backward", "native_layer_norm_backward", "avg_pool2d_backward",
    "_adaptive_avg_pool2d_backward", "nll_loss2d_backward", "embedding_dense_backward", "convolution_backward", "log_sigmoid_backward",
    "binary_cross_entropy_backward", "tanh_backward", "_weight_norm_interface", "diagonal_scatter", "logcumsumexp",
)  # fmt: skip
"""The ops that the torch dialect has a name for."""
BORDERS = np.array([-1.0, 0.0, 1.0, 6.0, 7.0, -0.5, 3.0, 0.0], np.float32)
SLOPE = np.array([1.0, 2.0, -3.0, 4.0, 5.0, -6.0, 7.0, -8.0], np.float32)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def type_of(array):
    element = {np.dtype(np.int64): "si64", np.dtype(bool): "i1"}.get(array.dtype, "f32")
    return f"!torch.vtensor<[{','.join(map(str, array.shape))}],{element}>"


class Program:
    """A function that returns what the ops give that are `called`; its arguments are the arrays."""

    def __init__(self):
        self.arrays, self.lines, self.returned, self.expected = [], [], [], []

    def operand(self, value):
        """The name and the type of an operand: an array, a number, a list of numbers, None, or what an earlier op gave."""
        if isinstance(value, tuple):
            return value
        if isinstance(value, np.ndarray):
            self.arrays.append(value)
            return f"%x{len(self.arrays) - 1}", type_of(value)
        name = f"%n{len(self.lines)}"
        if isinstance(value, list):
            given = [self.operand(one) for one in value]
            name, kind = f"%n{len(self.lines)}", "bool" if isinstance(value[0], bool) else "int"
            types = ", ".join(type_ for _, type_ in given)
            words = ", ".join(word for word, _ in given)
            self.lines.append(f"{name} = torch.prim.ListConstruct {words} : ({types}) -> !torch.list<{kind}>")
            return name, f"!torch.list<{kind}>"
        if value is None:
            self.lines.append(f"{name} = torch.constant.none")
            return name, "!torch.none"
        kind = {bool: "bool", int: "int", float: "float"}[type(value)]
        spelled = f"{value:e}" if kind == "float" else str(value).lower()
        self.lines.append(f"{name} = torch.constant.{kind} {spelled}")
        return name, f"!torch.{kind}"

    def called(self, op, operands, *expected):
        """The results, of which the ``expected`` ones are compared; None for one that is not."""
        given = [self.operand(one) for one in operands]
        types = [one if isinstance(one, str) else type_of(one) for one in expected]
        name, words = f"%r{len(self.lines)}", ", ".join(word for word, _ in given)
        spelled = f'"torch.aten.{op}"' if op in NAMED else f'torch.operator "torch.aten.{op}"'
        count = f":{len(types)}" if len(types) > 1 else ""
        signature = f"({', '.join(type_ for _, type_ in given)}) -> ({', '.join(types)})"
        self.lines.append(f"{name}{count} = {spelled}({words}) : {signature}")
        results = [(f"{name}#{n}" if count else name, type_) for n, type_ in enumerate(types)]
        for result, array in zip(results, expected, strict=True):
            if not isinstance(array, str):
                self.returned.append(result)
                self.expected.append(array)
        return results

    def text(self):
        arguments = ", ".join(f"%x{n}: {type_of(array)}" for n, array in enumerate(self.arrays))
        types = ", ".join(type_ for _, type_ in self.returned)
        body = "".join(f"  {line}\n" for line in self.lines)
        words = ", ".join(word for word, _ in self.returned)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}  return {words} : {types}\n}}\n"


def differences(function, slope, *values, of=0):
    """The gradient of the sum of ``slope`` times what ``function`` gives, by the argument ``of``."""
    wide = [one.astype(np.float64) for one in values]
    found = np.zeros(values[of].shape)
    for at in np.ndindex(values[of].shape):
        sides = []
        for step in (1e-5, -1e-5):
            moved = [one.copy() for one in wide]
            moved[of][at] += step
            sides.append(np.sum(slope.astype(np.float64) * function(*moved)))
        found[at] = (sides[0] - sides[1]) / 2e-5
    return found.astype(np.float32)


def answer(tmp_path, program, runtime, vmfb):
    source = tmp_path / "main.mlir"
    [device] = runtimes.named([runtime])
    found = runtimes.run(vmfb, signatures_of_source(source)["main"], program.arrays, device)
    assert isinstance(found, list), found
    return found


def check(tmp_path, program, runtime, codes):
    """Stock IREE rejects ``program`` where ``codes`` has FIS421; returns what stock computes otherwise."""
    source, ours, stock = (tmp_path / name for name in ("main.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(program.text())
    report = fissile.compile(source, ours, [*FLAGS[runtime], "--guard=off"], check=False)
    assert report.exit_code == 0, report.findings
    assert codes <= {one.code for one in report.findings}, report.findings
    for got, wanted in zip(answer(tmp_path, program, runtime, ours), program.expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=2e-3)
    refused = compile_stock(source, stock, FLAGS[runtime], timeout=300.0)
    if "FIS421" in codes:
        assert refused is not None
        return None
    assert refused is None
    return answer(tmp_path, program, runtime, stock)


def relus():
    program = Program()
    leaky = np.where(BORDERS > 0, SLOPE, 0.25 * SLOPE)
    program.called("leaky_relu_backward", [SLOPE, BORDERS, 0.25, False], leaky)
    program.called(
        "hardtanh_backward", [SLOPE, BORDERS, 0.0, 6.0], np.where((BORDERS > 0) & (BORDERS < 6), SLOPE, 0)
    )
    return program


def elementwise():
    program = Program()
    x, slope = drawn(2, 6), drawn(2, 6)

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def gated(x):
        return x[:, :3] * sigmoid(x[:, 3:])

    program.called("silu_backward", [slope, x], differences(lambda x: x * sigmoid(x), slope, x))
    mish = differences(lambda x: x * np.tanh(np.log1p(np.exp(x))), slope, x)
    program.called("mish_backward", [slope, x], mish)
    half = drawn(2, 3)
    program.called("glu_backward", [half, x, 1], differences(gated, half, x))
    program.called("log_sigmoid_backward", [slope, x, np.exp(-np.abs(x))], slope * sigmoid(-x))
    large = np.array([-4, -3, 3, 4, 0, 1], np.float32)
    program.called("hardswish_backward", [slope[0], large], slope[0] * np.float32([0, 0, 1, 1, 0.5, 5 / 6]))
    program.called(
        "hardsigmoid_backward", [slope[0], large], slope[0] * np.float32([0, 0, 0, 0, 1 / 6, 1 / 6])
    )
    near = np.array([0.5, -0.5, 0.6, -0.6, 0, np.nan], np.float32)
    program.called("softshrink_backward", [slope[0], near, 0.5], slope[0] * np.float32([0, 0, 1, 1, 0, 0]))
    row = np.tanh(drawn(6))
    program.called("tanh_backward", [slope, row], slope * (1 - row**2))
    direction, length = drawn(3, 4), drawn(3, 1)
    norm = np.sqrt((direction**2).sum(1, keepdims=True))
    program.called("_weight_norm_interface", [direction, length, 0], direction * length / norm, norm)
    y, one = drawn(2, 6), np.array(2.0, np.float32)
    program.called("mse_loss_backward", [one, x, y, 1], differences(lambda x: np.mean((x - y) ** 2), one, x))
    apart = x - y
    program.called("huber_loss_backward", [one, x, y, 2, 0.5], 2 * np.clip(apart, -0.5, 0.5))
    program.called("smooth_l1_loss_backward", [slope, x, y, 0, 0.5], slope * np.clip(apart / 0.5, -1, 1))
    chance, right = sigmoid(x), (y > 0).astype(np.float32)
    binary = differences(lambda p: -np.mean(right * np.log(p) + (1 - right) * np.log(1 - p)), one, chance)
    program.called("binary_cross_entropy_backward", [one, chance, right, None, 1], binary)
    return program


def norms():
    program = Program()
    x, slope, weight, bias = drawn(3, 2, 4), drawn(3, 2, 4), drawn(2), drawn(2)
    all_of_them = [True, True, True]

    def batch(x, weight, bias):
        normal = (x - x.mean((0, 2), keepdims=True)) / np.sqrt(x.var((0, 2), keepdims=True) + 1e-5)
        return normal * weight[:, None] + bias[:, None]

    root = (1 / np.sqrt(x.var((0, 2)) + 1e-5)).astype(np.float32)
    forward = [x, weight, bias, drawn(2), np.ones(2, np.float32), True, 0.1, 1e-5]
    means = (0.9 * forward[3] + 0.1 * x.mean((0, 2))).astype(np.float32)
    spreads = (0.9 + 0.1 * x.var((0, 2), ddof=1)).astype(np.float32)
    name, result = "_native_batch_norm_legit_functional", batch(x, weight, bias).astype(np.float32)
    found = program.called(name, forward, result, x.mean((0, 2)), root, means, spreads)
    slopes = [differences(batch, slope, x, weight, bias, of=at) for at in range(3)]
    given = [slope, x, weight, None, None, found[1], found[2], True, 1e-5, all_of_them]
    program.called("native_batch_norm_backward", given, *slopes)

    held = [forward[3], np.ones(2, np.float32)]
    frozen = (x - held[0][:, None]) / np.sqrt(1 + 1e-5) * weight[:, None] + bias[:, None]
    empty, given = "!torch.vtensor<[0],f32>", [x, weight, bias, *held, False, 0.1, 1e-5]
    found = program.called("native_batch_norm", given, frozen, empty, empty)
    by_x = (slope * weight[:, None] / np.sqrt(1 + 1e-5)).astype(np.float32)
    given = [slope, x, weight, *held, *found[1:], False, 1e-5, all_of_them]
    program.called("native_batch_norm_backward", given, by_x, type_of(weight), slope.sum((0, 2)))

    def layer(x, weight, bias):
        normal = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)
        return normal * weight + bias

    weight, bias = drawn(2, 4), drawn(2, 4)
    mean = x.mean((1, 2), keepdims=True)
    root = (1 / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)).astype(np.float32)
    slopes = [differences(layer, slope, x, weight, bias, of=at) for at in range(3)]
    program.called(
        "native_layer_norm_backward", [slope, x, [2, 4], mean, root, weight, bias, all_of_them], *slopes
    )
    return program


def images():
    program = Program()
    image = drawn(1, 2, 5, 4)

    def pooled(x):
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        rows = [[padded[:, :, i : i + 3, j : j + 3].sum((2, 3)) / 9 for j in (0, 2)] for i in (0, 2, 4)]
        return np.moveaxis(np.array(rows), (0, 1), (2, 3))

    slope = drawn(1, 2, 3, 2)
    window = [[3, 3], [2, 2], [1, 1], False, True, None]
    program.called("avg_pool2d_backward", [slope, image, *window], differences(pooled, slope, image))

    def halves(x):
        rows = [
            [x[:, :, i, j].mean((2, 3)) for j in (slice(0, 2), slice(2, 4))]
            for i in (slice(0, 3), slice(2, 5))
        ]
        return np.moveaxis(np.array(rows), (0, 1), (2, 3))

    slope = drawn(1, 2, 2, 2)
    program.called("_adaptive_avg_pool2d_backward", [slope, image], differences(halves, slope, image))
    slope = drawn(1, 2, 8, 7)
    for name, mode in (("reflection", "reflect"), ("replication", "edge")):

        def padded(x, mode=mode):
            return np.pad(x, ((0, 0), (0, 0), (1, 2), (2, 1)), mode=mode)

        program.called(
            f"{name}_pad2d_backward", [slope, image, [2, 1, 1, 2]], differences(padded, slope, image)
        )
    corners = [np.linspace(0, old - 1, new) for old, new in ((5, 8), (4, 7))]

    def resized(x):
        for axis, at in ((2, corners[0]), (3, corners[1])):
            x = np.apply_along_axis(lambda row, at=at: np.interp(at, np.arange(len(row)), row), axis, x)
        return x

    sizes = [[8, 7], [1, 2, 5, 4], True, None, None]
    program.called("upsample_bilinear2d_backward", [slope, *sizes], differences(resized, slope, image))
    weight, image = drawn(2, 3, 2, 2), drawn(1, 2, 3, 3)

    def transposed(x, weight):
        found = np.zeros((1, 3, 6, 6))
        for i, j in np.ndindex(3, 3):
            found[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2] += np.einsum(
                "bc,cokl->bokl", x[:, :, i, j], weight
            )
        return found

    slope = drawn(1, 3, 6, 6)
    slopes = [differences(transposed, slope, image, weight, of=at) for at in (0, 1)]
    window = [None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1, [True, True, True]]
    program.called("convolution_backward", [slope, image, weight, *window], *slopes, slope.sum((0, 2, 3)))
    return program


def rows():
    program = Program()
    slope, index = drawn(2, 3, 4), np.array([[0, 5, 2], [5, 5, 1]])
    table = np.zeros((7, 4), np.float32)
    np.add.at(table, index, np.where(index[..., None] == 2, 0, slope))
    program.called("embedding_dense_backward", [slope, index, 7, 2, False], table)
    counts, base = index[..., None] != 5, drawn(7, 4)
    table = base.copy()
    np.add.at(table, index, np.where(counts, slope, 0))
    listed = program.operand(np.where(index == 5, 99, index))
    program.lines.append(
        f"%list = torch.prim.ListConstruct {listed[0]} : ({listed[1]}) -> !torch.list<optional<vtensor>>"
    )
    operands = [base, counts, ("%list", "!torch.list<optional<vtensor>>"), slope]
    program.called("_unsafe_masked_index_put_accumulate", operands, table)
    placed = np.zeros((2, 6, 4), np.float32)
    placed[:, 5] = slope[:, 0]
    program.called("select_backward", [slope[:, 0].copy(), [2, 6, 4], 1, -1], placed)
    placed = np.zeros((2, 6, 4), np.float32)
    placed[:, 1::2] = slope
    program.called("slice_backward", [slope, [2, 6, 4], 1, 1, 2**63 - 1, 2], placed)
    placed = np.zeros((2, 3, 5, 3), np.float32)
    line = drawn(2, 5, 3)
    placed[:, range(3), :, range(3)] = np.moveaxis(line, 2, 0)
    program.called("diagonal_backward", [line, [2, 3, 5, 3], 0, 1, 3], placed)
    around, line = drawn(3, 3), drawn(3)
    placed = around.copy()
    np.fill_diagonal(placed, line)
    program.called("diagonal_scatter", [around, line, 0, 0, 1], placed)
    scores, classes = drawn(2, 3, 2, 2), np.array([[[0, 2], [-100, 1]], [[1, 1], [0, 2]]])
    weight, one, total = np.abs(drawn(3)), np.array(1.5, np.float32), np.array(4.0, np.float32)
    chosen = (np.arange(3)[:, None, None] == classes[:, None]) * -weight[:, None, None] * 1.5 / 4
    program.called(
        "nll_loss2d_backward", [one, scores, classes, weight, 1, -100, total], chosen.astype(np.float32)
    )
    return program


def attention():
    program = Program()
    query, key, value, slope = (drawn(1, 2, 3, 4) for _ in range(4))
    past = np.tril(np.ones((3, 3), bool))

    def shares(query, key):
        scores = np.where(past, query @ np.swapaxes(key, 2, 3) / 2, -np.inf)
        return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)

    def attended(query, key, value):
        return shares(query, key) @ value

    result = attended(query, key, value).astype(np.float32)
    name, words = "_scaled_dot_product_flash_attention_for_cpu", [0.0, True, None, None]
    given = [program.operand(one) for one in (query, key, value)]
    found = program.called(name, [*given, *words], result, "!torch.vtensor<[1,2,3],f32>")
    slopes = [differences(attended, slope, query, key, value, of=at) for at in range(3)]
    program.called(f"{name}_backward", [slope, *given, *found, *words], *slopes)
    return program


def exponentials():
    """Their logarithm is added up from an earlier one, so infinities and NaN stay what they are."""
    program = Program()
    x = np.array(
        [[1000, -1000, 1000, 2], [-200, -300, -199, 1], [np.inf, np.inf, -np.inf, 1], [-np.inf, 3, np.nan, 1]]
    )
    x = x.astype(np.float32)
    with np.errstate(invalid="ignore"):
        program.called("logcumsumexp", [x, 1], np.logaddexp.accumulate(x, 1))
        program.called("logcumsumexp", [x, -2], np.logaddexp.accumulate(x, 0))
    return program


@pytest.mark.parametrize("runtime", PRESENT)
def test_running_sums_of_exponentials_do_not_overflow(tmp_path, runtime):
    program = exponentials()
    found = check(tmp_path, program, runtime, {"FIS179"})
    assert found is not None and np.isinf(found[0][0]).all()


@pytest.mark.parametrize("runtime", PRESENT)
def test_slopes_of_relus_are_those_of_their_operand(tmp_path, runtime):
    program = relus()
    found = check(tmp_path, program, runtime, {"FIS180", "FIS169"})
    assert found is not None  # what makes the test worth it: stock IREE is wrong
    for got, wanted in zip(found, program.expected, strict=True):
        assert not np.allclose(got, wanted)


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("made", [elementwise, norms, images, rows, attention])
def test_gradients_are_those_of_numerical_differences(tmp_path, made, runtime):
    check(tmp_path, made(), runtime, {"FIS421"})


def test_lists_of_tensors_are_stepped_one_by_one(tmp_path):
    text = """\
func.func @main(%x: X, %y: Y, %z: Z) -> (X, Y, X, Y) {
  %half = torch.constant.float 0.5
  %a = torch.prim.ListConstruct %x, %y : (X, Y) -> !torch.list<vtensor>
  %b = torch.prim.ListConstruct %z, %y : (Z, Y) -> !torch.list<vtensor>
  %c = torch.operator "torch.aten._foreach_addcmul.Scalar"(%a, %b, %a, %half) : (!torch.list<vtensor>, !torch.list<vtensor>, !torch.list<vtensor>, !torch.float) -> !torch.list<vtensor>
  %r:2 = torch.prim.ListUnpack %c : !torch.list<vtensor> -> X, Y
  %d = torch.operator "torch.aten._foreach_maximum.List"(%a, %b) : (!torch.list<vtensor>, !torch.list<vtensor>) -> !torch.list<vtensor>
  %s:2 = torch.prim.ListUnpack %d : !torch.list<vtensor> -> X, Y
  return %r#0, %r#1, %s#0, %s#1 : X, Y, X, Y
}
"""
    program = Program()
    x, y, z = np.array([[1, np.nan, 3]], np.float32), drawn(2, 2), np.array([[4, 5, np.nan]], np.float32)
    for letter, array in zip("XYZ", (x, y, z), strict=True):
        text = text.replace(f" {letter}", f" {type_of(array)}").replace(f"({letter}", f"({type_of(array)}")
    program.arrays, program.expected = [x, y, z], [x + 0.5 * z * x, y + 0.5 * y * y, np.maximum(x, z), y]
    program.text = lambda: text
    check(tmp_path, program, "local-task", {"FIS421"})
