"""Programs of the standard's ops in forms that IREE rejects, with what ONNX's own evaluator computes; written as in `entries`."""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import numpy as np

from .entries import r
from .model_table import Table

TABLE = Table(opset=21)
of = TABLE.of
F = np.float32

_GRU = dict(w=(2, 12, 6), k=(2, 12, 4), c=(2, 24))
of(
    "gru_both",
    "float[5,b,6] x => y, h",
    'y, h = GRU<hidden_size=4, direction="bidirectional", linear_before_reset=1>(x, w, k, c)',
    **_GRU,
)
of(
    "gru_state",
    "float[5,b,6] x, float[2,b,4] i => y, h",
    'y, h = GRU<hidden_size=4, direction="bidirectional">(x, w, k, c, , i)',
    **_GRU,
)
of(
    "gru_back",
    "float[5,b,6] x => y, h",
    'y, h = GRU<hidden_size=4, direction="reverse">(x, w, k, c)',
    w=(1, 12, 6),
    k=(1, 12, 4),
    c=(1, 24),
)
of(
    "rnn_both",
    "float[5,b,6] x => y, h",
    'y, h = RNN<hidden_size=4, direction="bidirectional">(x, w, k, c)',
    w=(2, 4, 6),
    k=(2, 4, 4),
    c=(2, 8),
)
of(
    "rnn_back",
    "float[5,b,6] x => h",
    ', h = RNN<hidden_size=4, direction="reverse">(x, w, k, c)',
    w=(1, 4, 6),
    k=(1, 4, 4),
    c=(1, 8),
)
of(
    "lstm_back",
    "float[5,b,6] x => y, h, g",
    'y, h, g = LSTM<hidden_size=4, direction="reverse">(x, w, k, c)',
    w=(1, 16, 6),
    k=(1, 16, 4),
    c=(1, 32),
)
of(
    "gru",
    "float[5,b,6] x => y, h",
    "y, h = GRU<hidden_size=4, linear_before_reset=1>(x, w, k)",
    w=(1, 12, 6),
    k=(1, 12, 4),
)
of(
    "rnn",
    "float[5,b,6] x, float[1,b,4] i => y, h",
    "y, h = RNN<hidden_size=4>(x, w, k, c, , i)",
    w=(1, 4, 6),
    k=(1, 4, 4),
    c=(1, 8),
)
_BLOCKS = dict(s=(3, 2, 5))
of(
    "blocks_int8",
    "int8[3,8,5] x => y",
    "y = DequantizeLinear<axis=1, block_size=4>(x, s, z)",
    z=r(3, 2, 5, element="int8"),
    **_BLOCKS,
)
of(
    "blocks_int4",
    "float[b,8] x => y",
    "a = DequantizeLinear<axis=0, block_size=4>(w, s, z) y = MatMul(x, a)",
    w=("int4", 8, 6),
    s=(2, 6),
    z=("int4", 2, 6),
)
of(
    "columns_int4",
    "float[b,8] x => y",
    "a = DequantizeLinear<axis=1>(w, s) y = MatMul(x, a)",
    w=("int4", 8, 6),
    s=(6,),
)
of(
    "blocks_uint4",
    "float[b,8] x => y",
    "a = DequantizeLinear<axis=0, block_size=4>(w, s) y = MatMul(x, a)",
    w=("uint4", 8, 6),
    s=(2, 6),
)
of(
    "quantise_blocks",
    "float[3,8] x => y",
    "y = QuantizeLinear<axis=1, block_size=4>(x, s, z)",
    s=np.linspace(0.1, 0.6, 6, dtype=F).reshape(3, 2),
    z=r(3, 2, element="uint8"),
)
_IMAGE = "float[1,3,8,6] x => y"
_TWICE = np.array([1, 1, 2, 2], F)
of("resize_axes", _IMAGE, 'y = Resize<axes=[2,3], mode="nearest">(x, , s)', s=np.array([2, 2], F))
of("resize_axes_swapped", _IMAGE, 'y = Resize<axes=[3,2], mode="nearest">(x, , , s)', s=np.array([9, 20]))
of("resize_antialias", _IMAGE, 'y = Resize<mode="linear", antialias=1>(x, , , s)', s=np.array([1, 3, 5, 4]))
of("resize_cubic", _IMAGE, 'y = Resize<mode="cubic", antialias=1>(x, , , s)', s=np.array([1, 3, 5, 4]))
of(
    "resize_outside",
    _IMAGE,
    'y = Resize<mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5>(x, , s)',
    s=_TWICE,
)
of(
    "resize_crop",
    _IMAGE,
    'y = Resize<mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.0>(x, g, , s)',
    g=np.array([0, 0, 0.2, 0.1, 1, 1, 1.2, 0.9], F),
    s=np.array([1, 3, 5, 7]),
)
of(
    "resize_bytes",
    "uint8[1,3,8,6] x => y",
    'y = Resize<mode="linear">(x, , , s)',
    s=np.array([1, 3, 16, 11]),
)
of(
    "transpose_groups",
    "float[b,4,6,6] x => y",
    "y = ConvTranspose<group=2, strides=[2,2], pads=[1,1,1,1]>(x, w, c)",
    w=(4, 3, 3, 3),
    c=(6,),
)
of(
    "transpose_same",
    "float[b,2,6,6] x => y",
    'y = ConvTranspose<auto_pad="SAME_UPPER", strides=[2,2]>(x, w)',
    w=(2, 3, 3, 3),
)
of(
    "transpose_lower",
    "float[b,2,6,6] x => y",
    'y = ConvTranspose<auto_pad="SAME_LOWER", strides=[2,2]>(x, w, c)',
    w=(2, 3, 3, 3),
    c=(3,),
)
of(
    "transpose_shape",
    "float[b,2,6,6] x => y",
    "y = ConvTranspose<output_shape=[12,11], strides=[2,2]>(x, w)",
    w=(2, 3, 3, 3),
)
of(
    "transpose_uneven",
    "float[b,2,6,6] x => y",
    "y = ConvTranspose<pads=[0,1,1,0], strides=[2,2]>(x, w)",
    w=(2, 3, 3, 3),
)
of(
    "integers_padded",
    "uint8[b,2,6,6] x => y",
    "y = ConvInteger<pads=[1,1,1,1]>(x, w, z)",
    w=r(3, 2, 3, 3, element="uint8"),
    z=np.uint8(7),
)

of(
    "resize_not_larger",
    _IMAGE,
    'y = Resize<mode="linear", axes=[2,3], keep_aspect_ratio_policy="not_larger">(x, , , s)',
    s=np.array([11, 5]),
)
of(
    "resize_not_smaller",
    _IMAGE,
    'y = Resize<mode="cubic", axes=[2,3], keep_aspect_ratio_policy="not_smaller">(x, , , s)',
    s=np.array([11, 5]),
)
of("norms_gaps", "float[b,2,9,9] x => y", "y = LpPool<kernel_shape=[2,3], dilations=[2,1], p=3>(x)")
of(
    "norms_steps",
    "float[b,2,9,8] x => y",
    "y = LpPool<kernel_shape=[2,2], dilations=[2,3], strides=[2,1], pads=[1,0,0,1], p=1>(x)",
)
of("norms_of_unknown_sizes", "float[b,2,h,w] x => y", "y = LpPool<kernel_shape=[2,2], dilations=[2,2]>(x)")
of(
    "norms_same",
    "float[b,2,9,8] x => y",
    'y = LpPool<kernel_shape=[3,2], auto_pad="SAME_UPPER", dilations=[1,1], strides=[2,1], p=3>(x)',
)
of(
    "norms_rounded_up",
    "float[b,2,8,9] x => y",
    "y = LpPool<kernel_shape=[3,2], ceil_mode=1, strides=[2,2], dilations=[1,2]>(x)",
)
of("norms_row", "float[b,2,9] x => y", "y = LpPool<kernel_shape=[3], dilations=[2], p=2>(x)")
_PATCHES = dict(s=np.array([5, 6]), k=np.array([2, 3]))
of("patches", "float[b,12,16] x => y", "y = Col2Im(x, s, k)", **_PATCHES)
of(
    "patches_steps",
    "float[b,18,9] x => y",
    "y = Col2Im<strides=[2,2], pads=[1,0,0,1]>(x, s, k)",
    **_PATCHES,
)
of(
    "patches_gaps",
    "float[b,6,8] x => y",
    "y = Col2Im<dilations=[3,2], pads=[1,0,1,0]>(x, s, k)",
    **_PATCHES,
)
of("patches_row", "float[b,6,5] x => y", "y = Col2Im(x, s, k)", s=np.array([7]), k=np.array([3]))
of(
    "patches_volume",
    "float[b,10,12] x => y",
    "y = Col2Im(x, s, k)",
    s=np.array([3, 4, 5]),
    k=np.array([1, 1, 5]),
)
