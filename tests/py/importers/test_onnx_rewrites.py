"""ONNX ops that IREE misreads, rejects or never finishes on (FIS162, FIS165, FIS421), as NumPy computes them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

RANDOM = np.random.default_rng(11)
ELEMENTS = {"int8": "si8", "uint8": "ui8", "float32": "f32", "float16": "f16", "int64": "si64"}


def typed(array: np.ndarray, element: str = "") -> str:
    return f"!torch.vtensor<[{','.join(map(str, array.shape))}],{element or ELEMENTS[str(array.dtype)]}>"


def listed(*numbers: int) -> str:
    return f"[{', '.join(f'{number} : si64' for number in numbers)}]"


def program(op: str, inputs: list[np.ndarray], wanted: np.ndarray, attributes: str = "", constants: str = "", names: str = "") -> str:  # fmt: skip
    """A function of one ONNX op; ``names``: its operands with their types, by default the inputs."""
    arguments = ", ".join(f"%a{n}: {typed(one)}" for n, one in enumerate(inputs))
    values, _, types = names.partition(" : ")
    values = values or ", ".join(f"%a{n}" for n in range(len(inputs)))
    types = types or ", ".join(map(typed, inputs))
    return f"""\
func.func @main({arguments}) -> {typed(wanted)} attributes {{torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}} {{
  {constants}
  %r = torch.operator "onnx.{op}"({values}) {{{attributes}}} : ({types}) -> {typed(wanted)}
  return %r : {typed(wanted)}
}}
"""


def called(vmfb, source, inputs, wanted: np.ndarray) -> np.ndarray:
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(vmfb, signatures_of_source(source)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    return answer[0].view(wanted.dtype) if wanted.itemsize == 1 else answer[0]


def repaired(
    tmp_path, text: str, inputs: list[np.ndarray], wanted: np.ndarray, code: str, exact: bool = True
):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, vmfb, CPU, check=False)
    found = [(one.code, one.severity.value) for one in report.findings if one.code == code]
    assert found == [(code, "repaired")], report.findings
    got = called(vmfb, source, inputs, wanted)
    assert got.shape == wanted.shape
    if exact:
        np.testing.assert_array_equal(got, wanted)
    else:
        np.testing.assert_allclose(got, wanted, 1e-4, 1e-4)


def pooled(x: np.ndarray, kernel, step, dilation, before, after, up=False) -> np.ndarray:
    """The maxima; no window begins behind the image."""
    rank, least = len(kernel), -np.inf
    extents = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    counts = []
    for size, extent, move, low, high in zip(x.shape[2:], extents, step, before, after, strict=True):
        left = low + size + high - extent
        count = (-(-left // move) if up else left // move) + 1
        counts.append(count - 1 if up and (count - 1) * move >= low + size else count)
    wide = [(0, 0), (0, 0)] + [
        (low, max(high, (n - 1) * move + extent - low - size))
        for size, n, extent, move, low, high in zip(
            x.shape[2:], counts, extents, step, before, after, strict=True
        )
    ]
    padded = np.pad(x.astype(np.float64), wide, constant_values=least)
    made = np.empty((*x.shape[:2], *counts))
    for place in itertools.product(*map(range, counts)):
        windows = tuple(
            slice(place[n] * step[n], place[n] * step[n] + extents[n], dilation[n]) for n in range(rank)
        )
        made[(..., *place)] = padded[(slice(None), slice(None), *windows)].max(axis=tuple(range(2, rank + 2)))
    return made.astype(x.dtype)


def image(dtype: str, *shape: int) -> np.ndarray:
    """Negative numbers, or bytes of which most are above 127."""
    if dtype == "uint8":
        return (255 - np.arange(np.prod(shape)) * 37 % 200).astype(np.uint8).reshape(shape)
    return (-1 - np.arange(np.prod(shape)) * 37 % 127).astype(dtype).reshape(shape)


POOLS = {  # shape, kernel, steps, dilations, before, after, attributes
    "uneven": ((1, 2, 9, 9), (3, 3), (1, 1), (1, 1), (1, 0), (1, 1), ""),
    "upper": ((1, 2, 6, 6), (2, 2), (1, 1), (1, 1), (0, 0), (1, 1), 'torch.onnx.auto_pad = "SAME_UPPER"'),
    "lower": ((1, 2, 6, 5), (2, 4), (1, 1), (1, 1), (1, 2), (0, 1), 'torch.onnx.auto_pad = "SAME_LOWER"'),
    "lower_with_steps": ((1, 2, 6, 6), (3, 3), (2, 2), (1, 1), (1, 1), (0, 0), 'torch.onnx.auto_pad = "SAME_LOWER"'),
    "gaps": ((1, 4, 13, 11), (3, 2), (2, 3), (2, 1), (1, 0), (1, 2), ""),
    "rounded_up": ((1, 2, 8, 8), (3, 3), (2, 2), (1, 1), (1, 0), (0, 1), "torch.onnx.ceil_mode = 1 : si64"),
    "no_window_behind": ((1, 2, 5, 6), (1, 2), (3, 3), (1, 1), (0, 0), (1, 2), "torch.onnx.ceil_mode = 1 : si64"),
    "row": ((1, 2, 9), (2,), (1,), (1,), (0,), (1,), ""),
    "volume": ((1, 2, 5, 5, 5), (2, 2, 2), (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), ""),
}  # fmt: skip


def pool_of(name: str, dtype: str) -> tuple[str, np.ndarray, np.ndarray]:
    shape, kernel, step, dilation, before, after, more = POOLS[name]
    x = image(dtype, *shape)
    wanted = pooled(x, kernel, step, dilation, before, after, "ceil_mode" in more)
    parts = [f"torch.onnx.kernel_shape = {listed(*kernel)}", f"torch.onnx.strides = {listed(*step)}"]
    parts += [f"torch.onnx.dilations = {listed(*dilation)}"] * (set(dilation) != {1})
    parts += [f"torch.onnx.pads = {listed(*before, *after)}"] * ("auto_pad" not in more)
    parts += [more] * bool(more)
    return program("MaxPool", [x], wanted, ", ".join(parts)), x, wanted


@pytest.mark.parametrize("name", POOLS)
def test_integers_are_padded_with_the_lowest(tmp_path, name):
    text, x, wanted = pool_of(name, "int8")
    repaired(tmp_path, text, [x], wanted, "FIS162")


@pytest.mark.parametrize("name", ["uneven", "lower", "volume", "no_window_behind"])
def test_bytes_above_127_stay(tmp_path, name):
    text, x, wanted = pool_of(name, "uint8")
    repaired(tmp_path, text, [x], wanted, "FIS165")


def test_bytes_above_127_stay_with_even_borders(tmp_path):
    x = image("uint8", 1, 2, 6, 6)
    wanted = pooled(x, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))
    attributes = f"torch.onnx.kernel_shape = {listed(3, 3)}, torch.onnx.pads = {listed(1, 1, 1, 1)}"
    repaired(tmp_path, program("MaxPool", [x], wanted, attributes), [x], wanted, "FIS165")


def test_16_bit_floats_that_iree_rejects(tmp_path):
    text, x, wanted = pool_of("no_window_behind", "float16")
    repaired(tmp_path, text, [x], wanted, "FIS421")


def test_a_volume_of_integers_is_pooled_in_floats(tmp_path):
    """Stock IREE crashes on it."""
    x = image("int8", 1, 2, 5, 5, 5)
    wanted = pooled(x, (3,) * 3, (1,) * 3, (1,) * 3, (1,) * 3, (1,) * 3)
    attributes = f"torch.onnx.kernel_shape = {listed(3, 3, 3)}, torch.onnx.pads = {listed(*[1] * 6)}"
    repaired(tmp_path, program("MaxPool", [x], wanted, attributes), [x], wanted, "FIS421")


def test_a_norm_with_borders_that_differ(tmp_path):
    x = image("float32", 1, 2, 6, 6)
    wide = np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 1)]) ** 2
    wanted = np.sqrt(np.lib.stride_tricks.sliding_window_view(wide, (2, 2), (2, 3)).sum((4, 5)))
    attributes = f'torch.onnx.kernel_shape = {listed(2, 2)}, torch.onnx.auto_pad = "SAME_UPPER"'
    repaired(tmp_path, program("LpPool", [x], wanted, attributes), [x], wanted, "FIS421", exact=False)


def test_stock_pads_with_zero(tmp_path):
    """Once IREE pads with the lowest number, there is nothing to repair."""
    source, vmfb = tmp_path / "in.mlir", tmp_path / "stock.vmfb"
    text, x, wanted = pool_of("uneven", "int8")
    source.write_text(text)
    assert compile_stock(source, vmfb, CPU) is None
    assert not np.array_equal(called(vmfb, source, [x], wanted), wanted)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_what_iree_pads_rightly_stays(tmp_path, dtype):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    x = image(dtype, 1, 2, 6, 6)
    wanted = pooled(x, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1))
    attributes = f"torch.onnx.kernel_shape = {listed(3, 3)}, torch.onnx.pads = {listed(1, 1, 1, 1)}"
    source.write_text(program("MaxPool", [x], wanted, attributes))
    assert fissile.compile(source, vmfb, CPU, check=False).findings == ()
    np.testing.assert_array_equal(called(vmfb, source, [x], wanted), wanted)


def test_floats_become_unsigned_bytes(tmp_path):
    x = np.array([0.0, 127.4, 128.0, 200.7, 255.0], np.float32)
    wanted = x.astype(np.uint8)
    repaired(tmp_path, program("Cast", [x], wanted, "torch.onnx.to = 2 : si64"), [x], wanted, "FIS165")


WRAPPED = {"both_ends": (2, 3, 1, 2), "one_end": (0, 3, 0, 0), "more_than_there_is": (9, 0, 20, 6)}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_a_pad_goes_on_with_the_other_end(tmp_path, name, dtype):
    x, (top, left, bottom, right) = image(dtype, 1, 2, 7, 6), WRAPPED[name]
    wanted = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)], mode="wrap")
    widths = f"%w = torch.vtensor.literal(dense<[0,0,{top},{left},0,0,{bottom},{right}]> : tensor<8xsi64>) : !torch.vtensor<[8],si64>"
    names = f"%a0, %w : {typed(x)}, !torch.vtensor<[8],si64>"
    text = program("Pad", [x], wanted, 'torch.onnx.mode = "wrap"', widths, names)
    repaired(tmp_path, text, [x], wanted, "FIS421")


def test_a_pad_of_two_axes(tmp_path):
    x = image("float32", 2, 5, 4)
    wanted = np.pad(x, [(1, 0), (0, 0), (2, 1)], mode="wrap")
    constants = """%w = torch.vtensor.literal(dense<[2,1,1,0]> : tensor<4xsi64>) : !torch.vtensor<[4],si64>
  %x = torch.vtensor.literal(dense<[-1,0]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %none = torch.constant.none"""
    names = (
        f"%a0, %w, %none, %x : {typed(x)}, !torch.vtensor<[4],si64>, !torch.none, !torch.vtensor<[2],si64>"
    )
    text = program("Pad", [x], wanted, 'torch.onnx.mode = "wrap"', constants, names)
    repaired(tmp_path, text, [x], wanted, "FIS421")


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_scattered_extremes(tmp_path, kind, dtype):
    data, update = ((RANDOM.standard_normal(shape) * 9).astype(dtype) for shape in ((3, 7, 4), (3, 5, 4)))
    index = RANDOM.integers(-7, 7, (3, 5, 4))
    wanted = data.copy()
    for place in np.ndindex(*index.shape):
        target = (place[0], index[place], place[2])
        wanted[target] = (max if kind == "max" else min)(wanted[target], update[place])
    attributes = f'torch.onnx.axis = 1 : si64, torch.onnx.reduction = "{kind}"'
    inputs = [data, index, update]
    repaired(
        tmp_path,
        program("ScatterElements", inputs, wanted, attributes),
        inputs,
        wanted,
        "FIS421",
        exact=False,
    )


def transposed(x, w, bias, groups, step, dilation, added, pads) -> np.ndarray:
    (_, channels, *sizes), (_, each, *kernel) = x.shape, w.shape
    whole = [s * (n - 1) + a + (k - 1) * d + 1 for n, k, s, d, a in zip(sizes, kernel, step, dilation, added, strict=True)]  # fmt: skip
    made = np.zeros((1, groups * each, *whole), np.float32)
    for c, (i, j), (p, q) in itertools.product(range(channels), np.ndindex(*sizes), np.ndindex(*kernel)):
        first = c // (channels // groups) * each
        place = (i * step[0] + p * dilation[0], j * step[1] + q * dilation[1])
        made[0, first : first + each, place[0], place[1]] += x[0, c, i, j] * w[c, :, p, q]
    top, left, bottom, right = pads
    made = made[:, :, top : whole[0] - bottom, left : whole[1] - right]
    return made if bias is None else made + bias[None, :, None, None]


TRANSPOSED = {  # groups, steps, dilations, output_padding, what is cut off, how the op says so
    "uneven": (1, (3, 2), (1, 1), (0, 0), (1, 1, 0, 2), f"torch.onnx.pads = {listed(1, 1, 0, 2)}"),
    "groups": (2, (3, 2), (1, 2), (1, 0), (1, 1, 0, 2), f"torch.onnx.pads = {listed(1, 1, 0, 2)}"),
    "channels": (8, (2, 2), (1, 1), (1, 1), (1, 1, 1, 1), f"torch.onnx.pads = {listed(1, 1, 1, 1)}"),
    "upper": (1, (2, 2), (1, 1), (0, 0), (0, 0, 1, 1), 'torch.onnx.auto_pad = "SAME_UPPER"'),
    "stated": (1, (2, 2), (1, 1), (0, 0), (1, 1, 0, 0), f"torch.onnx.output_shape = {listed(14, 16)}"),
}


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolutions(tmp_path, name, with_bias):
    groups, step, dilation, added, cut, stated = TRANSPOSED[name]
    x, w = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((1, 8, 7, 8), (8, max(1, 6 // groups), 3, 3)))  # fmt: skip
    bias = RANDOM.standard_normal(w.shape[1] * groups).astype(np.float32) if with_bias else None
    wanted = transposed(x, w, bias, groups, step, dilation, added, cut)
    attributes = f"torch.onnx.group = {groups} : si64, torch.onnx.strides = {listed(*step)}, torch.onnx.dilations = {listed(*dilation)}, torch.onnx.kernel_shape = {listed(3, 3)}, torch.onnx.output_padding = {listed(*added)}, {stated}"
    inputs = [x, w] if bias is None else [x, w, bias]
    text = program("ConvTranspose", inputs, wanted, attributes)
    repaired(tmp_path, text, inputs, wanted, "FIS421", exact=False)


def repeated(scale: np.ndarray, axis: int, block: int, size: int) -> np.ndarray:
    return np.take(np.repeat(scale, block, axis), range(size), axis)


@pytest.mark.parametrize(("axis", "block"), [(0, 8), (1, 4), (-1, 3)])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_a_scale_for_each_block(tmp_path, axis, block, dtype):
    limits = np.iinfo(dtype)
    value = RANDOM.integers(limits.min, limits.max + 1, (16, 8)).astype(dtype)
    shape = [16, 8]
    shape[axis] = -(-shape[axis] // block)
    scale = RANDOM.uniform(0.1, 1, shape).astype(np.float32)
    zero = RANDOM.integers(limits.min, limits.max + 1, shape).astype(dtype)
    wide, middle = (repeated(one.astype(np.float32), axis, block, value.shape[axis]) for one in (scale, zero))
    wanted = (value.astype(np.float32) - middle) * wide
    attributes = f"torch.onnx.axis = {axis} : si64, torch.onnx.block_size = {block} : si64"
    inputs = [value, scale, zero]
    text = program("DequantizeLinear", inputs, wanted, attributes)
    repaired(tmp_path, text, inputs, wanted, "FIS421", exact=False)
    (tmp_path / "back").mkdir()
    x = (RANDOM.standard_normal((16, 8)) * 100).astype(np.float32)
    back = np.clip(np.round(x / wide) + middle, limits.min, limits.max).astype(dtype)
    inputs = [x, scale, zero]
    text = program("QuantizeLinear", inputs, back, attributes)
    repaired(tmp_path / "back", text, inputs, back, "FIS421")


@pytest.mark.parametrize("element", ["si4", "ui4"])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((2, 8), "torch.onnx.axis = 0 : si64, torch.onnx.block_size = 8 : si64"),
        ((8,), "torch.onnx.axis = 1 : si64"),
        ((), ""),
    ],
)
def test_weights_of_4_bits(tmp_path, element, shape, attributes):
    low = -8 if element == "si4" else 0
    value = RANDOM.integers(low, low + 16, (16, 8))
    zero = RANDOM.integers(low, low + 16, shape)
    scale = RANDOM.uniform(0.1, 1, shape).astype(np.float32)
    wide, middle = (repeated(one, 0, 8, 16) if len(shape) == 2 else one for one in (scale, zero))
    wanted = ((value - middle) * wide).astype(np.float32)
    sizes = "".join(f"{size}x" for size in shape)
    of_value, of_zero = typed(value, element), typed(np.asarray(zero), element)
    constants = f"""%w = torch.vtensor.literal(dense<{value.tolist()}> : tensor<16x8x{element}>) : {of_value}
  %z = torch.vtensor.literal(dense<{np.asarray(zero).tolist()}> : tensor<{sizes}{element}>) : {of_zero}"""
    names = f"%w, %a0, %z : {of_value}, {typed(np.asarray(scale))}, {of_zero}"
    scale = np.asarray(scale, np.float32)
    text = program("DequantizeLinear", [scale], wanted, attributes, constants, names)
    repaired(tmp_path, text, [scale], wanted, "FIS421", exact=False)


@pytest.mark.parametrize(("op", "sizes"), [("Reshape", True), ("Pad", True), ("StringSplit", False)])
def test_the_way_out_fits_the_op(op, sizes):
    """Axes and sizes are mentioned for ops that have such an input."""
    from fissile.passes.checks.refusals.front_end_ops import check_front_end_op

    message = f'failed to legalize operation \'torch.operator\' that was explicitly marked illegal\n"torch.operator"() <{{name = "onnx.{op}"}}>'
    finding = check_front_end_op(message, ())
    assert finding is not None and finding.subject == f"onnx.{op}"
    assert any("constant axes and sizes" in note for note in finding.notes) == sizes
    assert not any("opset" in note for note in finding.notes)


def test_a_negative_width_of_the_call_is_refused_with_its_reason(tmp_path):
    """Stock IREE writes outside of the result, and may crash."""
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    x, pads = "!torch.vtensor<[?],f32>", "!torch.vtensor<[2],si64>"
    source.write_text(f"""\
func.func @main(%x: {x}, %p: {pads}) -> {x} attributes {{torch.onnx_meta.opset_version = 17 : si64}} {{
  %r = torch.operator "onnx.Pad"(%x, %p) {{torch.onnx.mode = "constant"}} : ({x}, {pads}) -> {x}
  return %r : {x}
}}
""")
    fissile.compile(source, vmfb, CPU, check=False)
    [runtime] = runtimes.named(["local-task"])
    signature = signatures_of_source(source)["main"]
    inputs = [np.arange(40, dtype=np.float32), np.array([1, 2])]
    [got] = runtimes.run(vmfb, signature, inputs, runtime)
    np.testing.assert_array_equal(got, np.pad(inputs[0], (1, 2)))
    refused = runtimes.run(vmfb, signature, [inputs[0], np.array([-3, -5])], runtime)
    assert not isinstance(refused, list) and "outside of the result where one is negative" in str(refused)
