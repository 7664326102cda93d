"""Convolutions, pools and other ops of images of ONNX whose sizes the call decides.

For `bench.onnx_programs`; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

import numpy as np

from .entries import ints, of

of("conv_batch", "float[b,3,12,12] x => y", "y = Conv<pads=[1,1,1,1]>(x, w, c)", w=(8, 3, 3, 3), c=(8,))
of("conv_hw", "float[b,3,h,w] x => y", "y = Conv<pads=[1,1,1,1]>(x, k, c)", k=(8, 3, 3, 3), c=(8,))
of(
    "conv_stride_hw",
    "float[b,3,h,w] x => y",
    "y = Conv<pads=[1,1,1,1], strides=[2,2]>(x, k, c)",
    k=(8, 3, 3, 3),
    c=(8,),
)
of(
    "conv_same_upper_hw",
    "float[b,3,h,w] x => y",
    'y = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(x, k)',
    k=(8, 3, 3, 3),
)
of(
    "conv_same_lower_hw",
    "float[b,3,h,w] x => y",
    'y = Conv<auto_pad="SAME_LOWER", strides=[2,2]>(x, k)',
    k=(8, 3, 3, 3),
)
of(
    "conv_asymmetric_hw",
    "float[b,3,h,w] x => y",
    "y = Conv<pads=[0,0,1,1], strides=[2,2]>(x, k)",
    k=(8, 3, 3, 3),
)
of("conv_depthwise_hw", "float[b,8,h,w] x => y", "y = Conv<pads=[1,1,1,1], group=8>(x, k)", k=(8, 1, 3, 3))
of("conv_grouped_hw", "float[b,8,h,w] x => y", "y = Conv<group=4>(x, k)", k=(16, 2, 3, 3))
of("conv1d", "float[b,8,s] x => y", "y = Conv<pads=[2,0]>(x, k)", k=(16, 8, 3))
of("conv3d", "float[b,2,h,w,6] x => y", "y = Conv(x, k)", k=(4, 2, 3, 3, 3))
of(
    "conv_transpose",
    "float[b,4,h,w] x => y",
    "y = ConvTranspose<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>(x, k)",
    k=(4, 6, 3, 3),
)
of(
    "conv_transpose_same",
    "float[b,4,h,w] x => y",
    'y = ConvTranspose<strides=[2,2], auto_pad="SAME_UPPER">(x, k)',
    k=(4, 6, 3, 3),
)
of(
    "conv_transpose_grouped",
    "float[b,4,h,w] x => y",
    "y = ConvTranspose<strides=[2,2], group=2>(x, k)",
    k=(4, 3, 2, 2),
)
of(
    "conv_bn_relu",
    "float[b,3,h,w] x => y",
    "a = Conv<pads=[1,1,1,1]>(x, k) n = BatchNormalization(a, g, c, m, v) r = Relu(n) y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)",
    k=(8, 3, 3, 3),
    g=(8,),
    c=(8,),
    m=(8,),
    v=np.linspace(0.5, 2, 8, dtype=np.float32),
)
of(
    "residual",
    "float[b,8,h,w] x => y",
    "a = Conv<pads=[1,1,1,1]>(x, k) r = Relu(a) d = Conv<pads=[1,1,1,1]>(r, l) z = Add(d, x) p = GlobalAveragePool(z) f = Flatten(p) y = Gemm(f, w, c)",
    k=(8, 8, 3, 3),
    l=(8, 8, 3, 3),
    w=(8, 5),
    c=(5,),
)
of(
    "squeeze_excite",
    "float[b,8,h,w] x => y",
    "p = GlobalAveragePool(x) a = Conv(p, k) r = Relu(a) d = Conv(r, l) q = HardSigmoid(d) y = Mul(x, q)",
    k=(4, 8, 1, 1),
    l=(8, 4, 1, 1),
)
for mode, pads in (
    ("plain", ""),
    ("ceil", "ceil_mode=1,"),
    ("padded", "pads=[1,1,1,1],"),
    ("same", 'auto_pad="SAME_UPPER",'),
    ("ceil_padded", "ceil_mode=1, pads=[1,1,1,1],"),
):
    of(
        f"max_pool_{mode}",
        "float[b,3,h,w] x => y",
        f"y = MaxPool<{pads} kernel_shape=[3,3], strides=[2,2]>(x)",
    )
    of(
        f"average_pool_{mode}",
        "float[b,3,h,w] x => y",
        f"y = AveragePool<{pads} kernel_shape=[3,3], strides=[2,2]>(x)",
    )
of(
    "average_pool_counted",
    "float[b,3,h,w] x => y",
    "y = AveragePool<count_include_pad=1, pads=[1,1,1,1], kernel_shape=[3,3], strides=[2,2]>(x)",
)
of("global_max_pool", "float[b,3,h,w] x => y", "y = GlobalMaxPool(x)")
of("lp_pool", "float[b,3,h,w] x => y", "y = LpPool<kernel_shape=[2,2], strides=[2,2]>(x)")
of("instance_norm_hw", "float[b,8,h,w] x => y", "y = InstanceNormalization(x, g, c)", g=(8,), c=(8,))
of(
    "group_norm_by_hand",
    "float[b,8,h,w] x => y",
    """
    r = Reshape(x, groups) n = InstanceNormalization(r, ones, zeros) shape = Shape(x) f = Reshape(n, shape) m = Mul(f, g) y = Add(m, c)""",
    groups=ints(0, 2, -1),
    ones=np.ones(2, np.float32),
    zeros=np.zeros(2, np.float32),
    g=(8, 1, 1),
    c=(8, 1, 1),
)
of("lrn", "float[b,8,h,w] x => y", "y = LRN<size=3>(x)")
HALF = '"half_pixel"'
for name, more in {
    "nearest_asym_floor": 'mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"', "nearest": 'mode="nearest"', "linear": 'mode="linear"',
    "linear_asym": 'mode="linear", coordinate_transformation_mode="asymmetric"', "linear_align": 'mode="linear", coordinate_transformation_mode="align_corners"',
    "linear_pytorch": 'mode="linear", coordinate_transformation_mode="pytorch_half_pixel"', "cubic": 'mode="cubic"',
}.items():  # fmt: skip
    of(
        f"resize_scales_{name}",
        "float[b,3,h,w] x => y",
        f"y = Resize<{more}>(x, , scales)",
        scales=np.array([1, 1, 2, 2], np.float32),
    )
    of(
        f"resize_sizes_{name}",
        "float[b,3,h,w] x => y",
        f"shape = Shape(x) bc = Slice(shape, z, two) to = Concat<axis=0>(bc, hw) y = Resize<{more}>(x, , , to)",
        z=ints(0),
        two=ints(2),
        hw=ints(20, 24),
    )
of(
    "resize_down",
    "float[b,3,h,w] x => y",
    'y = Resize<mode="linear">(x, , scales)',
    scales=np.array([1, 1, 0.5, 0.5], np.float32),
)
of(
    "resize_like",
    "float[b,3,h,w] x, float[b,3,s,t] l => y",
    'ls = Shape(l) xs = Shape(x) bc = Slice(xs, z, two) hw = Slice(ls, two, four) to = Concat<axis=0>(bc, hw) y = Resize<mode="linear">(x, , , to)',
    z=ints(0),
    two=ints(2),
    four=ints(4),
)
