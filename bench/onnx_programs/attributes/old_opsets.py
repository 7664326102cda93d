"""Forms that ops had in old opsets, and others that IREE lacks."""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

import numpy as np

from ..entries import ints
from .cases import attributes, case
from .images import POOLS

WINDOW = np.hanning(8).astype(np.float32)
case("xstft_full", "float[2,20,1] x", "y = STFT<onesided=0>(x, s, w)", opset=17, s=np.array(4), w=WINDOW)
case(
    "xstft_nowin",
    "float[2,20,1] x",
    "y = STFT<onesided=1>(x, s, , n)",
    opset=17,
    s=np.array(3),
    n=np.array(8),
)
case("xstft_complex", "float[2,20,2] x", "y = STFT<onesided=0>(x, s, w)", opset=17, s=np.array(4), w=WINDOW)
case("xdft20", "float[2,3,8,1] x", "y = DFT<onesided=1>(x, , a)", opset=20, a=np.array(1))
case("xdft20_def", "float[2,3,8,2] x", "y = DFT<inverse=1>(x)", opset=20)
case("xsoftmax_9", "float[2,10,1,1] x", "y = Softmax(x)", opset=9)
case("xsoftmax_7_2d", "float[2,10] x", "y = Softmax<axis=1>(x)", opset=7)
case("xsoftmax_dyn", "float[2,h,w] x", "y = Softmax<axis=1>(x)", opset=9)
for i, kw in enumerate(POOLS):
    case(f"z1idx_{i}", "float[1,1,8,9] x", f"y, k = MaxPool{attributes(**kw)}(x)")
case("z1idx_store", "float[1,1,8,9] x", "y, k = MaxPool<kernel_shape=[2,3], storage_order=1>(x)")
case("z1idx_sym", "float[1,1,8,9] x", "y, k = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]>(x)")
case("z1idx_1d", "float[1,1,9] x", "y, k = MaxPool<kernel_shape=[3], strides=[2]>(x)")
case(
    "zupl_3",
    "float[1,2,3,4] x",
    'y = Upsample<mode="linear">(x, s)',
    opset=9,
    s=np.array([1, 1, 2.5, 3], np.float32),
)
case(
    "zupn_3",
    "float[1,2,3,4] x",
    'y = Upsample<mode="nearest">(x, s)',
    opset=9,
    s=np.array([1, 1, 2.5, 1.5], np.float32),
)
case("zup7", "float[1,2,3,4] x", 'y = Upsample<mode="nearest", scales=[1.0,1.0,2.0,3.0]>(x)', opset=7)
case(
    "zresize10",
    "float[1,2,3,4] x",
    'y = Resize<mode="linear">(x, s)',
    opset=10,
    s=np.array([1, 1, 2.5, 3], np.float32),
)
case(
    "zresize10n",
    "float[1,2,3,4] x",
    'y = Resize<mode="nearest">(x, s)',
    opset=10,
    s=np.array([1, 1, 2, 1.5], np.float32),
)
case("zsplit_11eq", "float[2,6,3] x", "a, y = Split<axis=1, split=[3,3]>(x)", opset=11)
case("zsplit_11none", "float[2,6,3] x", "a, y = Split<axis=1>(x)", opset=11)
case("ztopk1", "float[7,5] x", "y, k = TopK<axis=0, k=3>(x)", opset=9)
case("zslice1", "float[7,5] x", "y = Slice<starts=[1,-4], ends=[-1,4], axes=[0,1]>(x)", opset=9)
case("zpad2", "float[7,5] x", 'y = Pad<mode="reflect", pads=[1,0,2,1]>(x)', opset=2)
case(
    "zpool_v7",
    "float[1,2,7,5] x",
    "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(x)",
    opset=7,
)
case(
    "zbn7",
    "float[2,3,4,5] x",
    "y = BatchNormalization<epsilon=0.01>(x, s, b, m, v)",
    opset=9,
    s=(3,),
    b=(3,),
    m=(3,),
    v=np.array([0.5, 1, 2], np.float32),
)
case("zdrop10", "float[3,4] x", "y = Dropout<ratio=0.3>(x)", opset=10)
case("zunsq11", "float[3,4] x", "y = Unsqueeze<axes=[0,-1]>(x)", opset=11)
case("zgemm9", "float[3,4] x, float[4,5] z", "y = Gemm<alpha=0.5>(x, z, c)", opset=9, c=(5,))
case("zargmax11", "float[3,4,5] x", "y = ArgMax<axis=-1, keepdims=0>(x)", opset=11)
case("zreducesum11", "float[3,4,5] x", "y = ReduceSum<axes=[0,-1], keepdims=0>(x)", opset=11)
case(
    "zonehot9",
    "int64[2,3] x",
    "y = OneHot<axis=1>(x, d, v)",
    opset=9,
    given={"x": np.array([[0, 1, -1], [4, -5, 2]])},
    d=np.array(5),
    v=np.array([2, 5], np.float32),
)
case(
    "zscatter9",
    "float[4,5] x, float[2,3] u",
    "y = Scatter<axis=1>(x, k, u)",
    opset=9,
    k=np.array([[0, 1, 2], [3, 4, 0]]),
)
case("zclip11", "float[3,4] x", "y = Clip(x, lo)", opset=11, lo=np.float32(-0.5))
case(
    "zconstshape9",
    "float[1] x",
    "c = ConstantOfShape<value = float[1] {2.5}>(s) y = Add(c, x) ;",
    opset=9,
    s=ints(2, 3),
)
case("zcumsum11", "float[3,4] x", "y = CumSum<exclusive=1>(x, a)", opset=11, a=np.array(1))
case("zgathernd11", "float[3,4,5] x", "y = GatherND(x, k)", opset=11, k=np.array([[0, 1], [2, 3]]))
case("zdet", "float[2,3,3] x", "y = Det(x)", opset=11)
case("zround", "float[4] x", "y = Round(x)", opset=11, given={"x": np.array([0.5, 1.5, -2.5, 2.4])})
case("zmean8", "float[3,4] x, float[3,4] z, float[3,4] w", "y = Mean(x, z, w)", opset=8)
case("zsum8b", "float[3,4] x, float[4] z, float[3,1] w", "y = Sum(x, z, w)", opset=8)
