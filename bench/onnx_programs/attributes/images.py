"""Convolutions, pools, normalisations and resizes."""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

from itertools import product

import numpy as np

from ..entries import ints
from .cases import attributes, case

for i, kw in enumerate(
    (
        dict(pads=(1, 0, 2, 3)),
        dict(dilations=(2, 1)),
        dict(strides=(2, 3), pads=(0, 1, 0, 1)),
        dict(auto_pad="SAME_UPPER", strides=(2, 3)),
        dict(auto_pad="SAME_LOWER", strides=(2, 3)),
        dict(auto_pad="VALID", strides=(1, 2)),
        dict(auto_pad="SAME_LOWER", dilations=(2, 1)),
        dict(auto_pad="SAME_UPPER", dilations=(1, 2), strides=(1, 1)),
    )
):
    case(f"conv_{i}", "float[2,3,8,9] x", f"y = Conv{attributes(**kw)}(x, w, c)", w=(5, 3, 2, 3), c=(5,))
    case(
        f"conv_group_{i}",
        "float[2,6,8,9] x",
        f"y = Conv{attributes(group=2, **kw)}(x, w, c)",
        w=(8, 3, 2, 3),
        c=(8,),
    )
    case(f"conv_depth_{i}", "float[2,3,8,9] x", f"y = Conv{attributes(group=3, **kw)}(x, w)", w=(6, 1, 2, 3))
case("conv1d", "float[2,3,11] x", "y = Conv<pads=[2,1], strides=[2], dilations=[2]>(x, w)", w=(4, 3, 3))
case("conv1d_group", "float[2,4,11] x", "y = Conv<group=2, pads=[2,1]>(x, w)", w=(6, 2, 3))
case("conv3d", "float[1,2,4,5,6] x", "y = Conv<pads=[1,0,2,0,1,1], strides=[1,2,1]>(x, w)", w=(3, 2, 2, 3, 2))
for i, kw in enumerate(
    (
        dict(),
        dict(strides=(2, 3)),
        dict(strides=(2, 3), output_padding=(1, 2)),
        dict(pads=(1, 0, 0, 1)),
        dict(strides=(2, 3), pads=(1, 0, 0, 2)),
        dict(dilations=(2, 1)),
        dict(strides=(2, 2), output_shape=(9, 10)),
        dict(strides=(2, 3), auto_pad="SAME_UPPER"),
        dict(strides=(2, 3), auto_pad="SAME_LOWER"),
        dict(auto_pad="VALID"),
    )
):
    case(
        f"convT_{i}",
        "float[2,3,4,5] x",
        f"y = ConvTranspose{attributes(**kw)}(x, w, c)",
        w=(3, 6, 2, 3),
        c=(6,),
    )
    case(
        f"convT_group_{i}",
        "float[2,4,4,5] x",
        f"y = ConvTranspose{attributes(group=2, **kw)}(x, w)",
        w=(4, 3, 2, 3),
    )
case(
    "convT1d",
    "float[2,3,5] x",
    "y = ConvTranspose<strides=[2], pads=[1,0], output_padding=[1]>(x, w)",
    w=(3, 4, 3),
)
case(
    "convT3d",
    "float[1,2,3,4,5] x",
    "y = ConvTranspose<strides=[1,2,1], pads=[1,0,0,0,1,1]>(x, w)",
    w=(2, 3, 2, 3, 2),
)
# Pools
POOLS = (
    dict(kernel_shape=(2, 3)),
    dict(kernel_shape=(3, 2), strides=(2, 2), pads=(1, 0, 1, 1)),
    dict(kernel_shape=(3, 2), strides=(2, 3), ceil_mode=1),
    dict(kernel_shape=(3, 3), strides=(2, 2), pads=(1, 1, 0, 1), ceil_mode=1),
    dict(kernel_shape=(2, 2), dilations=(2, 3)),
    dict(kernel_shape=(3, 2), auto_pad="SAME_UPPER", strides=(2, 2)),
    dict(kernel_shape=(3, 2), auto_pad="SAME_LOWER", strides=(2, 2)),
    dict(kernel_shape=(3, 2), auto_pad="VALID", strides=(2, 2)),
)
for i, kw in enumerate(POOLS):
    case(f"maxpool_{i}", "float[2,3,8,9] x", f"y = MaxPool{attributes(**kw)}(x)")
    case(f"maxpool_int8_{i}", "int8[2,3,8,9] x", f"y = MaxPool{attributes(**kw)}(x)")
    case(f"maxpool_uint8_{i}", "uint8[2,3,8,9] x", f"y = MaxPool{attributes(**kw)}(x)")
    case(f"maxpool_idx_{i}", "float[2,3,8,9] x", f"y, k = MaxPool{attributes(**kw)}(x)")
    for inc in (0, 1):
        case(
            f"avgpool_{i}_{inc}",
            "float[2,3,8,9] x",
            f"y = AveragePool{attributes(count_include_pad=inc, **kw)}(x)",
        )
    if "dilations" not in kw:
        for p in (1, 2, 3):
            case(f"lppool_{i}_{p}", "float[2,3,8,9] x", f"y = LpPool{attributes(p=p, **kw)}(x)", opset=18)
case("maxpool_storage", "float[2,3,8,9] x", "y, k = MaxPool<kernel_shape=[2,3], storage_order=1>(x)")
case("maxpool1d", "float[2,3,11] x", "y = MaxPool<kernel_shape=[3], strides=[2], pads=[1,0], ceil_mode=1>(x)")
case("avgpool1d", "float[2,3,11] x", "y = AveragePool<kernel_shape=[3], strides=[2], pads=[1,0]>(x)")
case(
    "avgpool3d",
    "float[1,2,5,6,7] x",
    "y = AveragePool<kernel_shape=[2,3,2], strides=[1,2,2], pads=[0,1,1,1,0,0], count_include_pad=1>(x)",
)
case(
    "maxpool3d",
    "float[1,2,5,6,7] x",
    "y = MaxPool<kernel_shape=[2,3,2], strides=[1,2,2], pads=[0,1,1,1,0,0]>(x)",
)
for op in ("GlobalAveragePool", "GlobalMaxPool"):
    case(op, "float[2,3,4,5] x", f"y = {op}(x)")
    case(op + "1", "float[2,3,4] x", f"y = {op}(x)")
    case(op + "3", "float[2,3,4,5,6] x", f"y = {op}(x)")
for p in (1, 2, 3):
    case(f"globallp_{p}", "float[2,3,4,5] x", f"y = GlobalLpPool<p={p}>(x)")
# Norms
case(
    "batchnorm",
    "float[2,3,4,5] x",
    "y = BatchNormalization<epsilon=0.01>(x, s, b, m, v)",
    opset=15,
    s=(3,),
    b=(3,),
    m=(3,),
    v=np.array([0.5, 1, 2], np.float32),
)
case(
    "batchnorm2d",
    "float[4,3] x",
    "y = BatchNormalization<epsilon=0.01>(x, s, b, m, v)",
    opset=15,
    s=(3,),
    b=(3,),
    m=(3,),
    v=np.array([0.5, 1, 2], np.float32),
)
case("instancenorm", "float[2,3,4,5] x", "y = InstanceNormalization<epsilon=0.01>(x, s, b)", s=(3,), b=(3,))
case("instancenorm1", "float[2,3,7] x", "y = InstanceNormalization<epsilon=0.01>(x, s, b)", s=(3,), b=(3,))
for axis in (-1, 1, 2, -3):
    n = [2, 3, 4, 5][axis:] if axis < 0 else [2, 3, 4, 5][axis:]
    case(
        f"layernorm_{axis}",
        "float[2,3,4,5] x",
        f"y = LayerNormalization<axis={axis}, epsilon=0.01>(x, s, b)",
        s=tuple(n),
        b=tuple(n),
    )
    case(
        f"layernorm_bare_{axis}",
        "float[2,3,4,5] x",
        f"y = LayerNormalization<axis={axis}, epsilon=0.01>(x, s)",
        s=tuple(n),
    )
    case(
        f"layernorm_all_{axis}",
        "float[2,3,4,5] x",
        f"y, m, v = LayerNormalization<axis={axis}, epsilon=0.01>(x, s, b)",
        s=tuple(n),
        b=tuple(n),
    )
case(
    "groupnorm_21",
    "float[2,6,4,5] x",
    "y = GroupNormalization<num_groups=2, epsilon=0.01>(x, s, b)",
    opset=21,
    s=(6,),
    b=(6,),
)
for size, n in ((3, 3), (5, 7), (4, 7), (2, 5)):
    case(f"lrn_{size}", f"float[2,{n},4,5] x", f"y = LRN<size={size}, alpha=0.02, beta=0.6, bias=1.5>(x)")
for p, axis in product((1, 2), (0, 1, -1)):
    case(f"lpnorm_{p}_{axis}", "float[3,4,5] x", f"y = LpNormalization<p={p}, axis={axis}>(x)")
case("mvn", "float[2,3,4,5] x", "y = MeanVarianceNormalization(x)")
case("mvn_axes", "float[2,3,4,5] x", "y = MeanVarianceNormalization<axes=[1,-1]>(x)")
# Resize
ctms = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
for mode, ctm, (tag, sc) in product(
    ("nearest", "linear", "cubic"), ctms, (("up", (1, 1, 2.5, 1.6)), ("down", (1, 1, 0.6, 0.8)))
):
    near = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") if mode == "nearest" else (None,)
    for nm in near:
        case(
            f"resize_{mode}_{ctm}_{tag}_{nm}",
            "float[1,2,5,7] x",
            f"y = Resize{attributes(mode=mode, coordinate_transformation_mode=ctm, nearest_mode=nm)}(x, , s)",
            s=np.array(sc, np.float32),
        )
for mode, (tag, sz) in product(
    ("nearest", "linear", "cubic"), (("up", (1, 2, 11, 9)), ("down", (1, 2, 3, 4)))
):
    case(
        f"resize_sizes_{mode}_{tag}",
        "float[1,2,5,7] x",
        f"y = Resize{attributes(mode=mode)}(x, , , s)",
        s=ints(*sz),
    )
    case(
        f"resize_axes_{mode}_{tag}",
        "float[1,2,5,7] x",
        f"y = Resize{attributes(mode=mode, axes=(3, 2))}(x, , , s)",
        s=ints(sz[3], sz[2]),
    )
    if mode != "nearest":
        case(
            f"resize_anti_{mode}_{tag}",
            "float[1,2,5,7] x",
            f"y = Resize{attributes(mode=mode, antialias=1)}(x, , , s)",
            s=ints(*sz),
        )
case(
    "resize_cubic_a",
    "float[1,2,5,7] x",
    'y = Resize<mode="cubic", cubic_coeff_a=-0.5>(x, , , s)',
    s=ints(1, 2, 11, 9),
)
case(
    "resize_cubic_exclude",
    "float[1,2,5,7] x",
    'y = Resize<mode="cubic", exclude_outside=1>(x, , , s)',
    s=ints(1, 2, 11, 9),
)
case(
    "resize_roi",
    "float[1,2,5,7] x",
    'y = Resize<mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0>(x, q, , s)',
    s=ints(1, 2, 6, 9),
    q=np.array([0, 0, 0.2, 0.1, 1, 1, 0.9, 1.3], np.float32),
)
for pol in ("not_larger", "not_smaller"):
    case(
        f"resize_{pol}",
        "float[1,2,5,7] x",
        f'y = Resize<mode="nearest", axes=[2,3], keep_aspect_ratio_policy="{pol}">(x, , , s)',
        s=ints(11, 9),
    )
case("resize_1d", "float[1,2,7] x", 'y = Resize<mode="linear">(x, , s)', s=np.array([1, 1, 2.5], np.float32))
case(
    "resize_3d",
    "float[1,2,3,4,5] x",
    'y = Resize<mode="nearest">(x, , s)',
    s=np.array([1, 1, 2, 1.5, 2], np.float32),
)
case(
    "upsample_9",
    "float[1,2,3,4] x",
    'y = Upsample<mode="nearest">(x, s)',
    opset=9,
    s=np.array([1, 1, 2, 3], np.float32),
)
case(
    "upsample_9_linear",
    "float[1,2,3,4] x",
    'y = Upsample<mode="linear">(x, s)',
    opset=9,
    s=np.array([1, 1, 2, 3], np.float32),
)
grid = {"g": (np.random.default_rng(3).random((2, 3, 6, 2)) * 2.6 - 1.3).astype(np.float32)}
for mode, pad, al in product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
    case(
        f"grid_{mode}_{pad}_{al}",
        "float[2,3,4,5] x, float[2,3,6,2] g",
        f"y = GridSample{attributes(mode=mode, padding_mode=pad, align_corners=al)}(x, g)",
        opset=20,
        given=grid,
    )
