"""Norms, transformer layers and patches: what stock refuses enters, and computes what torch.nn documents."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, computed, entered, filled

NORM = """
func.func @main(%x: !torch.vtensor<[?,3,?,5],ELEMENT>, %m: !torch.vtensor<[3],f32>, %v: !torch.vtensor<[3],f32>, %w: !torch.vtensor<[3],f32>) -> !torch.vtensor<[?,3,?,5],ELEMENT> {
  %none = torch.constant.none
  %own = torch.constant.bool OWN
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %r = torch.aten.instance_norm %x, %w, %none, HELD, %own, %momentum, %eps, %own : !torch.vtensor<[?,3,?,5],ELEMENT>, !torch.vtensor<[3],f32>, !torch.none, TYPES, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[?,3,?,5],ELEMENT>
  return %r : !torch.vtensor<[?,3,?,5],ELEMENT>
}
"""
SCALED = """
func.func @main(%x: !torch.vtensor<[2,3,?,5],f32>, %w: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>, %m: !torch.vtensor<[3],f32>, %v: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,?,5],f32> attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 22 : si64} {
  %none = torch.constant.none
  %own = torch.constant.bool OWN
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-02
  %r = NORM -> !torch.vtensor<[2,3,?,5],f32>
  return %r : !torch.vtensor<[2,3,?,5],f32>
}
"""
ONNX_NORM = """torch.operator "onnx.InstanceNormalization"(%x, %w, %b) {torch.onnx.epsilon = 0.01 : f32}
      : (!torch.vtensor<[2,3,?,5],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>)"""
TORCH_NORM = """torch.aten.instance_norm %x, %w, %b, HELD, %own, %momentum, %eps, %own
      : !torch.vtensor<[2,3,?,5],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, TYPES, !torch.bool, !torch.float, !torch.float, !torch.bool"""
WIDTH, INNER = 4, 6
SHAPES = [(3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,)]
LAYER_SHAPES = [*SHAPES, *[(WIDTH,)] * 4, (INNER, WIDTH), (INNER,), (WIDTH, INNER), (WIDTH,)]
FOLD = """
func.func @main(%x: !torch.vtensor<[GIVEN],f32>) -> !torch.vtensor<[MADE],f32> {
  %a = torch.constant.int 7
  %b = torch.constant.int 9
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %3 = torch.constant.int 3
  %image = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %k = torch.prim.ListConstruct %3, %2 : (!torch.int, !torch.int) -> !torch.list<int>
  %d = torch.prim.ListConstruct %2, %1 : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %1, %2 : (!torch.int, !torch.int) -> !torch.list<int>
  %s = torch.prim.ListConstruct %1, %3 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.OP %x, OPERANDS : !torch.vtensor<[GIVEN],f32>, TYPES -> !torch.vtensor<[MADE],f32>
  return %r : !torch.vtensor<[MADE],f32>
}
"""
KERNEL, DILATION, PADDING, STRIDE, IMAGE = (3, 2), (2, 1), (1, 2), (1, 3), (7, 9)
LIST = "!torch.list<int>"


def tensor(*sizes, element="f32"):
    return f"!torch.vtensor<[{','.join(map(str, sizes))}],{element}>"


@pytest.mark.parametrize(
    ("own", "element", "dtype"),
    [(True, "f32", np.float32), (True, "f16", np.float16), (False, "f32", np.float32)],
)
def test_an_instance_has_its_own_mean(tmp_path, own, element, dtype):
    held, types = (
        ("%none, %none", "!torch.none, !torch.none") if own else ("%m, %v", ", ".join([tensor(3)] * 2))
    )
    words = {"ELEMENT": element, "OWN": str(own).lower(), "HELD": held, "TYPES": types}
    entered(tmp_path, filled(NORM, **words), "aten.instance_norm", "fissile-normalise-instances")
    random = np.random.default_rng(9)
    x = (3 * random.standard_normal((2, 3, 4, 5)) + 1).astype(dtype)
    m, w = (random.standard_normal(3).astype(np.float32) for _ in range(2))
    v = random.random(3).astype(np.float32) + 0.5
    wide = x.astype(np.float64)
    mean = wide.mean((2, 3), keepdims=True) if own else m[:, None, None]
    variance = wide.var((2, 3), keepdims=True) if own else v[:, None, None]
    expected = (wide - mean) / np.sqrt(variance + 1e-5) * w[:, None, None]
    tolerance = 1e-5 if dtype is np.float32 else 1e-2
    np.testing.assert_allclose(computed(tmp_path, x, m, v, w), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("norm, own", [(ONNX_NORM, True), (TORCH_NORM, True), (TORCH_NORM, False)])
def test_a_scaled_instance_of_unknown_size(tmp_path, norm, own):
    """IREE lowers it, and computes other numbers: FIS166."""
    held = "%none, %none" if own else "%m, %v"
    types = ", ".join(["!torch.none" if own else tensor(3)] * 2)
    text = filled(SCALED, NORM=norm, OWN=str(own).lower(), HELD=held, TYPES=types)
    status, findings = compiled(tmp_path, text)
    [finding] = findings
    assert status == 0 and (finding["code"], finding["severity"]) == ("FIS166", "repaired")
    (tmp_path / "entered.mlir").write_text(text)
    random = np.random.default_rng(10)
    x = (2 * random.standard_normal((2, 3, 4, 5)) + 1).astype(np.float32)
    w, b, m = (random.standard_normal(3).astype(np.float32) for _ in range(3))
    v = random.random(3).astype(np.float32) + 0.5
    mean = x.mean((2, 3), keepdims=True) if own else m[:, None, None]
    variance = x.var((2, 3), keepdims=True) if own else v[:, None, None]
    expected = (x - mean) / np.sqrt(variance + 0.01) * w[:, None, None] + b[:, None, None]
    np.testing.assert_allclose(computed(tmp_path, x, w, b, m, v), expected, rtol=1e-5, atol=1e-5)


def layer(mask, gelu, first):
    """A layer on tensors of unknown batch and length."""
    value = tensor("?", "?", WIDTH)
    weights = [tensor(*shape) for shape in LAYER_SHAPES]
    given, mask_type = (tensor("?", "?", element="f32"), "!torch.int") if mask else ("!torch.none",) * 2
    named = [("%x", value), *((f"%w{k}", type_) for k, type_ in enumerate(weights))]
    named += [("%mask", given)] if mask else []
    names = [f"%w{k}" for k in range(12)]
    return f"""
func.func @main({", ".join(f"{name}: {type_}" for name, type_ in named)}) -> {value} {{
  %width = torch.constant.int {WIDTH}
  %heads = torch.constant.int 2
  %gelu = torch.constant.bool {str(gelu).lower()}
  %first = torch.constant.bool {str(first).lower()}
  %eps = torch.constant.float 1.0e-05
  %kind = torch.constant.int 1
  %none = torch.constant.none
  %r = torch.operator "torch.aten._transformer_encoder_layer_fwd"(%x, %width, %heads, {", ".join(names[:4])}, %gelu, %first, %eps, {", ".join(names[4:])}, {"%mask, %kind" if mask else "%none, %none"}) : ({value}, !torch.int, !torch.int, {", ".join(weights[:4])}, !torch.bool, !torch.bool, !torch.float, {", ".join(weights[4:])}, {given}, {mask_type}) -> {value}
  return %r : {value}
}}
"""


def attended(x, weights, hidden):
    """Attention of two heads, and its weights."""
    w, b, out, c = weights
    batch, length, _ = x.shape
    q, k, v = np.split(x @ w.T + b, 3, 2)
    q, k, v = (one.reshape(batch, length, 2, -1).swapaxes(1, 2) for one in (q, k, v))
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    scores = np.exp(np.where(hidden, -np.inf, scores))
    scores /= scores.sum(3, keepdims=True)
    return (scores @ v).swapaxes(1, 2).reshape(batch, length, -1) @ out.T + c, scores


def normed(x, w, b):
    return (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 1e-5) * w + b


@pytest.mark.parametrize(("mask", "first"), [(False, True), (True, False)], ids=str)
def test_a_transformer_layer(tmp_path, mask, first):
    op = "aten._transformer_encoder_layer_fwd"
    entered(tmp_path, layer(mask, False, first), op, "fissile-decompose-encoder-layers")
    random = np.random.default_rng(10)
    x = random.standard_normal((2, 3, WIDTH)).astype(np.float32)
    weights = [random.standard_normal(shape).astype(np.float32) for shape in LAYER_SHAPES]
    # Whatever is not 0 hides.
    hides = np.array([[0, 0, -np.inf], [0, 1, 0]], np.float32)
    made = computed(tmp_path, x, *weights, *([hides] if mask else []))
    wide, (*_, w, b, u, c) = x.astype(np.float64), weights
    hidden = hides[:, None, None] != 0 if mask else False
    own, norms = weights[:4], (weights[4:6], weights[6:8])
    value = wide + attended(normed(wide, *norms[0]) if first else wide, own, hidden)[0]
    value = value if first else normed(value, *norms[0])
    value = value + np.maximum((normed(value, *norms[1]) if first else value) @ w.T + b, 0) @ u.T + c
    np.testing.assert_allclose(made, value if first else normed(value, *norms[1]), rtol=1e-3, atol=1e-4)


def test_attention_with_its_weights(tmp_path):
    value, weights = tensor(2, 3, WIDTH), [tensor(*shape) for shape in SHAPES]
    given = ", ".join(f"%w{k}: {type_}" for k, type_ in enumerate(weights))
    text = f"""
func.func @main(%x: {value}, {given}) -> ({value}, {tensor(2, 3, 3)}) {{
  %width = torch.constant.int {WIDTH}
  %heads = torch.constant.int 2
  %true = torch.constant.bool true
  %none = torch.constant.none
  %r:2 = torch.operator "torch.aten._native_multi_head_attention"(%x, %x, %x, %width, %heads, %w0, %w1, %w2, %w3, %none, %true, %true, %none) : ({value}, {value}, {value}, !torch.int, !torch.int, {", ".join(weights)}, !torch.none, !torch.bool, !torch.bool, !torch.none) -> ({value}, {tensor(2, 3, 3)})
  return %r#0, %r#1 : {value}, {tensor(2, 3, 3)}
}}
"""
    entered(tmp_path, text, "aten._native_multi_head_attention", "fissile-decompose-encoder-layers")
    random = np.random.default_rng(11)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in ((2, 3, WIDTH), *SHAPES)]
    expected, weights = attended(inputs[0].astype(np.float64), inputs[1:], False)
    for made, one in zip(all_computed(tmp_path, *inputs), (expected, weights.mean(1)), strict=True):
        np.testing.assert_allclose(made, one, rtol=1e-4, atol=1e-5)


def windows():
    """(row of the patches, their number, index into the padded image) of each element of a patch."""
    counts = [
        (IMAGE[k] + 2 * PADDING[k] - DILATION[k] * (KERNEL[k] - 1) - 1) // STRIDE[k] + 1 for k in (0, 1)
    ]
    for i, j in np.ndindex(*KERNEL):
        for y, x in np.ndindex(*counts):
            place = y * STRIDE[0] + i * DILATION[0], x * STRIDE[1] + j * DILATION[1]
            yield i * KERNEL[1] + j, y * counts[1] + x, place


@pytest.mark.parametrize(("given", "made"), [("?,2,?,?", "?,12,?"), ("?,?,?,?", "?,?,?")])
def test_the_patches_of_an_image(tmp_path, given, made):
    count = max(number for _, number, _ in windows()) + 1
    words = {"OPERANDS": "%k, %d, %p, %s", "TYPES": ", ".join([LIST] * 4), "OP": "im2col"}
    text = filled(FOLD, GIVEN=given, MADE=made, **words)
    entered(tmp_path, text, "aten.im2col", "fissile-unfold-patches")
    x = np.random.default_rng(12).standard_normal((3, 2, *IMAGE)).astype(np.float32)
    x[0, 0, 3, 3] = np.nan
    padded = np.pad(x, [(0, 0), (0, 0), *((one, one) for one in PADDING)])
    expected = np.zeros((3, 2, 6, count), np.float32)
    for row, number, (y, z) in windows():
        expected[:, :, row, number] = padded[:, :, y, z]
    np.testing.assert_array_equal(computed(tmp_path, x), expected.reshape(3, 12, count))


def test_an_image_from_its_patches(tmp_path):
    count = max(number for _, number, _ in windows()) + 1
    words = {"OPERANDS": "%image, %k, %d, %p, %s", "TYPES": ", ".join([LIST] * 5), "OP": "col2im"}
    text = filled(FOLD, GIVEN=f"?,12,{count}", MADE="?,2,7,9", **words)
    entered(tmp_path, text, "aten.col2im", "fissile-fold-patches")
    x = np.random.default_rng(13).standard_normal((3, 12, count)).astype(np.float32)
    x[0, 0, 5] = np.inf
    padded = np.zeros((3, 2, IMAGE[0] + 2 * PADDING[0], IMAGE[1] + 2 * PADDING[1]))
    for row, number, (y, z) in windows():
        padded[:, :, y, z] += x.reshape(3, 2, 6, count)[:, :, row, number]
    expected = padded[:, :, PADDING[0] : -PADDING[0], PADDING[1] : -PADDING[1]]
    np.testing.assert_allclose(computed(tmp_path, x), expected, rtol=1e-5, atol=1e-6)
