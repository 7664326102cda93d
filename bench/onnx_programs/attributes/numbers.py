"""Arithmetic, conversions, quantisation, losses, signals and choices."""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

from itertools import product

import numpy as np

from ..entries import ints, r
from .cases import attributes, case

signed = {
    "x": np.array([-7, -6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 7], np.float32),
    "z": np.array([2, -4, 3, -2, 3, -5, 4, 3, -3, 2, -2, 5], np.float32),
}
for el in ("int32", "int64", "int8"):
    case(f"mod_{el}", f"{el}[12] x, {el}[12] z", "y = Mod(x, z)", given=signed)
    if el != "int8":
        case(f"div_{el}", f"{el}[12] x, {el}[12] z", "y = Div(x, z)", given=signed)
    case(f"fmod_{el}", f"{el}[12] x, {el}[12] z", "y = Mod<fmod=1>(x, z)", given=signed)
case("fmod_float", "float[12] x, float[12] z", "y = Mod<fmod=1>(x, z)", given=signed)
for d in ("LEFT", "RIGHT"):
    case(
        f"bitshift_{d}",
        "uint8[12] x, uint8[12] z",
        f'y = BitShift<direction="{d}">(x, z)',
        given={"x": np.arange(12) * 20, "z": np.arange(12) % 8},
    )
for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    case(op, "int32[3,4] x, int32[4] z", f"y = {op}(x, z)")
case("BitwiseNot", "int32[3,4] x", "y = BitwiseNot(x)")
case("pow_float_int", "float[3,4] x", "y = Pow(x, p)", p=np.int64(3))
case("pow_int_int", "int32[3,4] x", "y = Pow(x, p)", p=np.array([0, 1, 2, 3], np.int32))
case("pow_int_float", "int32[3,4] x", "y = Pow(x, p)", p=np.float32(2))
case("pow_half", "float[3,4] x", "y = Pow(x, p)", p=np.float32(0.5), given={"x": np.abs(r(3, 4))})
floats = {
    "x": np.array([-300.7, -129.5, -128.5, -1.5, -0.5, 0.5, 1.5, 2.5, 127.5, 3.99, -3.99, 100.1], np.float32)
}
TYPES = {"int32": 6, "int64": 7, "int8": 3, "uint8": 2, "bool": 9, "float16": 10, "double": 11, "float": 1}
safe = {"x": np.array([-100.7, -1.5, -0.5, 0.5, 1.5, 2.5, 127.5, 3.99, -3.99, 100.1, 0, 1], np.float32)}
for t, n in TYPES.items():
    if t != "uint8":
        case(f"cast_float_{t}", "float[12] x", f"y = Cast<to={n}>(x)", given=safe)
    case(
        f"cast_int32_{t}",
        "int32[12] x",
        f"y = Cast<to={n}>(x)",
        given={"x": np.array([-300, -129, -1, 0, 1, 127, 128, 255, 256, 1000, 65536, 2])},
    )
    case(
        f"cast_uint8_{t}",
        "uint8[12] x",
        f"y = Cast<to={n}>(x)",
        given={"x": np.array([0, 1, 2, 127, 128, 129, 200, 255, 3, 4, 5, 6])},
    )
    case(
        f"cast_int8_{t}",
        "int8[12] x",
        f"y = Cast<to={n}>(x)",
        given={"x": np.array([0, 1, 2, 127, -128, -1, -2, 3, 4, 5, 6, 7])},
    )
    case(f"cast_bool_{t}", "bool[12] x", f"y = Cast<to={n}>(x)")
big = {"x": r(2, 3, 4) * 40}
for el in ("uint8", "int8"):
    z = {"uint8": np.uint8(131), "int8": np.int8(-7)}[el]
    case(
        f"quantize_{el}", "float[2,3,4] x", "y = QuantizeLinear(x, s, z)", given=big, s=np.float32(0.37), z=z
    )
    for axis, n in ((0, 2), (1, 3), (-1, 4), (-2, 3)):
        zs = (np.arange(n) * 9 + 3).astype(z.dtype)
        ss = (np.arange(n) * 0.1 + 0.2).astype(np.float32)
        case(
            f"quantize_{el}_{axis}",
            "float[2,3,4] x",
            f"y = QuantizeLinear<axis={axis}>(x, s, z)",
            given=big,
            s=ss,
            z=zs,
        )
        case(
            f"dequantize_{el}_{axis}",
            f"{el}[2,3,4] x",
            f"y = DequantizeLinear<axis={axis}>(x, s, z)",
            s=ss,
            z=zs,
        )
    case(f"dequantize_{el}", f"{el}[2,3,4] x", "y = DequantizeLinear(x, s, z)", s=np.float32(0.37), z=z)
    case(f"dequantize_{el}_bare", f"{el}[2,3,4] x", "y = DequantizeLinear(x, s)", s=np.float32(0.37))
    case(
        f"qlinear_matmul_{el}",
        f"{el}[3,4] x, {el}[4,5] w",
        "y = QLinearMatMul(x, s, z, w, s2, z2, s3, z)",
        s=np.float32(0.02),
        z=z,
        s2=np.float32(0.013),
        z2=z,
        s3=np.float32(0.05),
    )
    case(
        f"qlinear_conv_{el}",
        f"{el}[1,2,6,7] x",
        "y = QLinearConv<pads=[1,0,2,1], strides=[1,2]>(x, s, z, w, s2, z2, s3, z, c)",
        s=np.float32(0.02),
        z=z,
        w=r(3, 2, 3, 2, element=el),
        s2=np.float32(0.013),
        z2=z,
        s3=np.float32(0.05),
        c=np.array([100, -200, 50], np.int32),
    )
case(
    "quantize_bare",
    "float[2,3,4] x",
    "y = QuantizeLinear(x, s)",
    given={"x": np.abs(r(2, 3, 4)) * 40},
    s=np.float32(0.37),
)
case(
    "quantize_halves",
    "float[8] x",
    "y = QuantizeLinear(x, s, z)",
    given={"x": np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 200, -200], np.float32)},
    s=np.float32(1),
    z=np.int8(0),
)
case("dequantize_int32", "int32[2,3,4] x", "y = DequantizeLinear(x, s)", s=np.float32(0.37))
case(
    "quantize_blocked",
    "float[3,8] x",
    "y = QuantizeLinear<axis=1, block_size=4>(x, s, z)",
    opset=21,
    given={"x": r(3, 8) * 40},
    s=(np.arange(6).reshape(3, 2) * 0.1 + 0.2).astype(np.float32),
    z=np.arange(6).reshape(3, 2).astype(np.int8),
)
case(
    "dequantize_blocked",
    "int8[8,3] x",
    "y = DequantizeLinear<axis=0, block_size=4>(x, s, z)",
    opset=21,
    s=(np.arange(6).reshape(2, 3) * 0.1 + 0.2).astype(np.float32),
    z=np.arange(6).reshape(2, 3).astype(np.int8),
)
case("dynamic_quantize", "float[3,4] x", "y, s, z = DynamicQuantizeLinear(x)")
case(
    "dynamic_quantize_pos",
    "float[3,4] x",
    "y, s, z = DynamicQuantizeLinear(x)",
    given={"x": np.abs(r(3, 4)) + 1},
)
for axis in (-1, 0, 1):
    case(
        f"onehot_{axis}",
        "int64[2,3] x",
        f"y = OneHot<axis={axis}>(x, d, v)",
        given={"x": np.array([[0, 1, -1], [4, -5, 2]])},
        d=np.array(5),
        v=np.array([2, 5], np.float32),
    )
for axis, large, srt in product((0, -1), (0, 1), (1,)):
    case(
        f"topk_{axis}_{large}",
        "float[7,5] x",
        f"y, k = TopK{attributes(axis=axis, largest=large, sorted=srt)}(x, n)",
        n=ints(3),
    )
ties = {"x": np.array(np.arange(35).reshape(7, 5) % 4, np.float32)}
for axis, large in product((0, -1), (0, 1)):
    case(
        f"topk_ties_{axis}_{large}",
        "float[7,5] x",
        f"y, k = TopK{attributes(axis=axis, largest=large)}(x, n)",
        given=ties,
        n=ints(3),
    )
for up, k in product((0, 1), (None, -1, 2)):
    w = {} if k is None else {"k": np.array(k)}
    case(f"trilu_{up}_{k}", "float[2,4,6] x", f"y = Trilu<upper={up}>(x{', k' if w else ''})", **w)
for k in (0, 1, -2):
    case(f"eyelike_{k}", "float[4,6] x", f"y = EyeLike<k={k}>(x)")
case("eyelike_type", "float[4,6] x", "y = EyeLike<k=1, dtype=6>(x)")
case("where_broadcast", "bool[3,1] c, float[4] x, float[2,1,1] z", "y = Where(c, x, z)")
for ba, ta in ((0, 1), (1, 0)):
    n = (5, 4)[ba != 0]
    case(
        f"reverse_sequence_{ba}",
        "float[4,5,3] x",
        f"y = ReverseSequence{attributes(batch_axis=ba, time_axis=ta)}(x, n)",
        n=ints(*([1, 3, 5, 2] if ba == 0 else [1, 3, 4, 2, 1])),
    )
case(
    "constant_of_shape",
    "float[1] x",
    "c = ConstantOfShape<value = float[1] {2.5}>(s) y = Add(c, x) ;",
    s=ints(2, 3),
)
case("shape_part", "float[2,3,4,5] x", "y = Shape<start=1, end=-1>(x)")
case("shape_neg", "float[2,3,4,5] x", "y = Shape<start=-2>(x)")
case("size_of", "float[2,3,4] x", "y = Size(x)")
case(
    "range_float",
    "float[1] x",
    "c = Range(a, b, d) y = Add(c, x) ;",
    a=np.float32(1),
    b=np.float32(-2),
    d=np.float32(-0.7),
)
case(
    "range_int",
    "int64[1] x",
    "c = Range(a, b, d) y = Add(c, x) ;",
    a=np.array(10),
    b=np.array(1),
    d=np.array(-3),
)
for op in ("Celu", "Elu", "Selu", "ThresholdedRelu", "LeakyRelu", "HardSigmoid"):
    case(f"act_{op}", "float[3,4] x", f"y = {op}(x)")
    case(f"act_{op}_alpha", "float[3,4] x", f"y = {op}<alpha=0.7>(x)")
case("selu_gamma", "float[3,4] x", "y = Selu<alpha=0.7, gamma=1.3>(x)")
case("hardsigmoid_beta", "float[3,4] x", "y = HardSigmoid<alpha=0.3, beta=0.1>(x)")
for op in (
    "HardSwish",
    "Mish",
    "Softplus",
    "Softsign",
    "Relu",
    "Sigmoid",
    "Tanh",
    "Erf",
    "Sign",
    "Abs",
    "Neg",
    "Floor",
    "Ceil",
    "Round",
    "Exp",
    "Sin",
    "Cos",
    "Tan",
    "Sinh",
    "Cosh",
    "Atan",
    "Asinh",
    "Identity",
):
    case(
        f"el_{op}",
        "float[3,4] x",
        f"y = {op}(x)",
        given={"x": np.array([[-2.5, -1.5, -0.5, 0.5], [1.5, 2.5, 0, 0.1], [3.3, -3.7, 6, -6]], np.float32)},
    )
for op in ("Log", "Sqrt", "Reciprocal"):
    case(f"el_{op}", "float[3,4] x", f"y = {op}(x)", given={"x": np.abs(r(3, 4)) + 0.1})
for op in ("Asin", "Acos", "Atanh"):
    case(f"el_{op}", "float[3,4] x", f"y = {op}(x)", given={"x": np.linspace(-0.95, 0.95, 12).reshape(3, 4)})
case("el_Acosh", "float[3,4] x", "y = Acosh(x)", given={"x": np.linspace(1, 5, 12).reshape(3, 4)})
for a in ("none", "tanh"):
    case(f"gelu_{a}", "float[3,4] x", f'y = Gelu<approximate="{a}">(x)', opset=20)
case("shrink", "float[3,4] x", "y = Shrink<lambd=0.6, bias=0.2>(x)")
case("prelu", "float[2,3,4] x", "y = PRelu(x, s)", s=(3, 1))
case("prelu_one", "float[2,3,4] x", "y = PRelu(x, s)", s=(1,))
case(
    "isinf_neg",
    "float[4] x",
    "y = IsInf<detect_positive=0>(x)",
    given={"x": np.array([np.inf, -np.inf, np.nan, 1])},
)
case(
    "isinf_pos",
    "float[4] x",
    "y = IsInf<detect_negative=0>(x)",
    given={"x": np.array([np.inf, -np.inf, np.nan, 1])},
)
case("isnan", "float[4] x", "y = IsNaN(x)", given={"x": np.array([np.inf, -np.inf, np.nan, 1])})
for op in ("Max", "Min", "Sum", "Mean"):
    case(f"variadic_{op}", "float[3,1] x, float[4] z, float[2,1,1] w", f"y = {op}(x, z, w)")
for op in ("Max", "Min"):
    case(
        f"nan_{op}",
        "float[4] x, float[4] z",
        f"y = {op}(x, z)",
        given={"x": np.array([np.nan, 1, -np.inf, 2]), "z": np.array([1, np.nan, 3, np.inf])},
    )
    case(
        f"uint8_{op}",
        "uint8[4] x, uint8[4] z",
        f"y = {op}(x, z)",
        given={"x": np.array([200, 1, 128, 2]), "z": np.array([1, 255, 127, 3])},
    )
for op in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"):
    for el in ("float", "int32", "uint8"):
        case(f"cmp_{op}_{el}", f"{el}[3,4] x, {el}[4] z", f"y = {op}(x, z)")
for op in ("And", "Or", "Xor"):
    case(f"logic_{op}", "bool[3,4] x, bool[4] z", f"y = {op}(x, z)")
case("logic_Not", "bool[3,4] x", "y = Not(x)")
for op in ("Add", "Sub", "Mul", "Div"):
    for el in ("int32", "int64", "uint8", "int8"):
        case(
            f"arith_{op}_{el}",
            f"{el}[3,4] x, {el}[4] z",
            f"y = {op}(x, z)",
            given={"z": np.array([1, 3, 5, 7])},
        )
for red in ("none", "sum", "mean"):
    lab = {"t": np.array([[0, 2, 1], [3, 1, 0]])}
    for ig in (None, 1):
        case(
            f"nll_{red}_{ig}",
            "float[2,4,3] x, int64[2,3] t",
            f"y = NegativeLogLikelihoodLoss{attributes(reduction=red, ignore_index=ig)}(x, t)",
            given=lab,
        )
        case(
            f"nll_w_{red}_{ig}",
            "float[2,4,3] x, int64[2,3] t",
            f"y = NegativeLogLikelihoodLoss{attributes(reduction=red, ignore_index=ig)}(x, t, w)",
            given=lab,
            w=np.array([0.2, 0.5, 1, 2], np.float32),
        )
        case(
            f"sce_{red}_{ig}",
            "float[2,4,3] x, int64[2,3] t",
            f"y = SoftmaxCrossEntropyLoss{attributes(reduction=red, ignore_index=ig)}(x, t)",
            given=lab,
        )
        case(
            f"sce_w_{red}_{ig}",
            "float[2,4,3] x, int64[2,3] t",
            f"y, l = SoftmaxCrossEntropyLoss{attributes(reduction=red, ignore_index=ig)}(x, t, w)",
            given=lab,
            w=np.array([0.2, 0.5, 1, 2], np.float32),
        )
for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
    for per in (0, 1):
        case(f"{op}_{per}", "float[1] x", f"c = {op}<periodic={per}>(n) y = Mul(c, x) ;", n=np.array(7))
for inv, one in ((0, 0), (0, 1), (1, 0)):
    case(
        f"dft_{inv}{one}",
        f"float[2,8,3,{2 if inv else 1}] x",
        f"y = DFT{attributes(axis=1, inverse=inv, onesided=one)}(x)",
        opset=17,
    )
case("dft_len", "float[2,8,1] x", "y = DFT<axis=1>(x, n)", opset=17, n=np.array(6))
case(
    "stft",
    "float[2,20,1] x",
    "y = STFT<onesided=1>(x, s, w)",
    opset=17,
    s=np.array(4),
    w=np.hanning(8).astype(np.float32),
)
case(
    "mel",
    "float[1] x",
    "c = MelWeightMatrix(a, b, d, e, g) y = Mul(c, x) ;",
    opset=17,
    a=np.array(8),
    b=np.array(16),
    d=np.array(8000),
    e=np.float32(0),
    g=np.float32(4000),
)
case("col2im", "float[2,18,20] x", "y = Col2Im(x, i, b)", i=ints(6, 7), b=ints(3, 3), opset=18)
case(
    "col2im_attrs",
    "float[2,12,9] x",
    "y = Col2Im<pads=[0,1,1,0], strides=[2,3], dilations=[1,1]>(x, i, b)",
    i=ints(6, 7),
    b=ints(2, 3),
    opset=18,
)
case("center_crop_pad", "float[3,7,4] x", "y = CenterCropPad<axes=[1,2]>(x, s)", s=ints(4, 7), opset=18)
case("center_crop_pad_odd", "float[3,7,4] x", "y = CenterCropPad(x, s)", s=ints(4, 4, 1), opset=18)
case(
    "nonzero",
    "float[3,4] x",
    "y = NonZero(x)",
    given={"x": np.array([[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 4, 5]])},
)
case("compress_axis", "float[3,4] x", "y = Compress<axis=1>(x, c)", c=np.array([True, False, True, True]))
case("det", "float[2,3,3] x", "y = Det(x)")
case("dropout", "float[3,4] x", "y = Dropout(x, q)", q=np.float32(0.5))
