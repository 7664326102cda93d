"""Movement, reductions and products."""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

from itertools import product

import numpy as np

from ..entries import ints, r
from .cases import attributes, case

# Blocks
for mode, b, c in product(("DCR", "CRD"), (2, 3), (3, 5)):
    case(
        f"d2s_{mode}_{b}_{c}",
        f"float[2,{c * b * b},3,4] x",
        f"y = DepthToSpace{attributes(mode=mode, blocksize=b)}(x)",
    )
for b in (2, 3):
    case(f"s2d_{b}", f"float[2,5,{2 * b},{3 * b}] x", f"y = SpaceToDepth<blocksize={b}>(x)")
# Movement
for i, p in enumerate(((2, 0, 1), (1, 2, 0))):
    case(f"transpose3_{i}", "float[3,4,5] x", f"y = Transpose{attributes(perm=p)}(x)")
for i, p in enumerate(((2, 0, 3, 1), (3, 1, 0, 2), (1, 3, 2, 0))):
    case(f"transpose4_{i}", "float[2,3,4,5] x", f"y = Transpose{attributes(perm=p)}(x)")
case("transpose_default", "float[2,3,4,5] x", "y = Transpose(x)")
for axis in (-1, -2, -4, 1):
    shape = [2, 3, 4, 5]
    other = list(shape)
    other[axis] = 7
    case(
        f"concat_{axis}",
        f"float[2,3,4,5] x, float[{','.join(map(str, other))}] z",
        f"y = Concat<axis={axis}>(x, z)",
    )
case("split_uneven", "float[2,7,3] x", "a, y, z = Split<axis=1>(x, s)", s=ints(1, 4, 2))
case("split_num", "float[2,7,3] x", "a, y, z = Split<axis=-2, num_outputs=3>(x)", opset=18)
case("split_11", "float[2,7,3] x", "a, y = Split<axis=-2, split=[3,4]>(x)", opset=11)
for axis in (0, 1, -1):
    case(
        f"gather_{axis}",
        "float[4,5,6] x",
        f"y = Gather<axis={axis}>(x, k)",
        k=np.array([[0, -1, 2], [3, -4, 1]]),
    )
    case(
        f"gather_elements_{axis}",
        "float[4,5,6] x",
        f"y = GatherElements<axis={axis}>(x, k)",
        k=np.array([[[0, -1, 2], [3, -4, 1]]]),
    )
    for red in ("none", "add", "mul", "max", "min"):
        idx = np.array([[[0, -1, 2], [3, -4, 1]]])
        case(
            f"scatter_elements_{axis}_{red}",
            "float[4,5,6] x, float[1,2,3] u",
            f"y = ScatterElements{attributes(axis=axis, reduction=red)}(x, k, u)",
            opset=18,
            k=idx,
        )
for red in ("none", "add", "mul", "max", "min"):
    case(
        f"scatter_nd_{red}",
        "float[4,5,6] x, float[2,6] u",
        f"y = ScatterND{attributes(reduction=red)}(x, k, u)",
        opset=18,
        k=np.array([[1, -2], [3, 0]]),
    )
    case(
        f"scatter_nd_rows_{red}",
        "float[4,5,6] x, float[3,5,6] u",
        f"y = ScatterND{attributes(reduction=red)}(x, k, u)",
        opset=18,
        k=np.array([[1], [3], [-4]]),
    )
for bd in (0, 1, 2):
    k = {
        0: np.array([[1, -2], [3, 0]]),
        1: np.array([[[1]], [[2]], [[-1]]]),
        2: np.arange(12).reshape(3, 4, 1) % 5 - 2,
    }[bd]
    case(
        f"gather_nd_{bd}",
        "float[3,4,5,6] x" if bd else "float[4,5,6] x",
        f"y = GatherND<batch_dims={bd}>(x, k)",
        k=k,
    )
for i, (s, e, a, st) in enumerate(
    (
        ((1, -1), (3, -5), (0, 2), (1, -1)),
        ((-1,), (-100,), (1,), (-2,)),
        ((5, 1), (0, 100), (-1, 0), (-2, 2)),
        ((2,), (100,), (-2,), (3,)),
        ((-3,), (-1,), (2,), (1,)),
    )
):
    case(
        f"slice_{i}",
        "float[4,5,6] x",
        "y = Slice(x, s, e, a, t)",
        s=ints(*s),
        e=ints(*e),
        a=ints(*a),
        t=ints(*st),
    )
for mode in ("constant", "reflect", "edge", "wrap"):
    for i, p in enumerate(((0, 1, 2, 0, 2, 1), (0, 0, 3, 0, 1, 0), (1, 2, 0, 2, 0, 3))):
        case(
            f"pad_{mode}_{i}",
            "float[3,4,5] x",
            f'y = Pad<mode="{mode}">(x, p{", v" if mode == "constant" else ""})',
            p=ints(*p),
            **({"v": np.float32(1.5)} if mode == "constant" else {}),
        )
    case(
        f"pad_axes_{mode}",
        "float[3,4,5] x",
        f'y = Pad<mode="{mode}">(x, p, , a)',
        p=ints(1, 2, 2, 0),
        a=ints(-1, 1),
    )
case("pad_11_attr", "float[3,4,5] x", 'y = Pad<mode="constant", pads=[0,1,2,0,2,1], value=0.5>(x)', opset=10)
# Reductions
for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
    pos = {"x": np.abs(r(2, 3, 4, 5)) + 0.1}
    for i, (axes, keep) in enumerate((((1,), 1), ((-1, 0), 0), ((2,), 0), (None, 1), (None, 0))):
        w = {"a": ints(*axes)} if axes else {}
        case(
            f"reduce_{op}_{i}",
            "float[2,3,4,5] x",
            f"y = Reduce{op}<keepdims={keep}>(x{', a' if axes else ''})",
            opset=18,
            given=pos,
            **w,
        )
    case(
        f"reduce_{op}_noop",
        "float[2,3,4,5] x",
        f"y = Reduce{op}<noop_with_empty_axes=1>(x, a)",
        opset=18,
        given=pos,
        a=np.zeros(0, np.int64),
    )
    case(
        f"reduce_{op}_11",
        "float[2,3,4,5] x",
        f"y = Reduce{op}<axes=[1,-1], keepdims=0>(x)",
        opset=11,
        given=pos,
    )
for op in ("Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1"):
    case(
        f"reduce_{op}_int32",
        "int32[2,3,4] x",
        f"y = Reduce{op}<keepdims=0>(x, a)",
        opset=18,
        a=ints(1),
        given={"x": r(2, 3, 4, element="int32") - 3},
    )
for op in ("Max", "Min"):
    case(f"reduce_{op}_int8", "int8[2,3,4] x", f"y = Reduce{op}<keepdims=0>(x, a)", opset=18, a=ints(1))
    case(f"reduce_{op}_uint8", "uint8[2,3,4] x", f"y = Reduce{op}<keepdims=0>(x, a)", opset=18, a=ints(1))
ties = {"x": np.array(np.arange(60).reshape(3, 4, 5) % 4, np.float32)}
for op, axis, keep, last in product(("ArgMax", "ArgMin"), (0, -2, 2), (0, 1), (0, 1)):
    case(
        f"{op}_{axis}_{keep}_{last}",
        "float[3,4,5] x",
        f"y = {op}{attributes(axis=axis, keepdims=keep, select_last_index=last)}(x)",
        given=ties,
    )
case("argmax_int8", "int8[3,4,5] x", "y = ArgMax<axis=1>(x)")
case("argmin_uint8", "uint8[3,4,5] x", "y = ArgMin<axis=1>(x)")
for ex, rev, axis in product((0, 1), (0, 1), (0, -1)):
    case(
        f"cumsum_{ex}{rev}_{axis}",
        "float[3,4,5] x",
        f"y = CumSum{attributes(exclusive=ex, reverse=rev)}(x, a)",
        a=np.array(axis),
    )
for op, opset in product(("Softmax", "LogSoftmax", "Hardmax"), (11, 13)):
    for axis in (None, 0, 1, 2, -1, -2):
        case(f"{op}_{opset}_{axis}", "float[3,4,5,2] x", f"y = {op}{attributes(axis=axis)}(x)", opset=opset)
for axis in (0, 1, 2, -1, -2, 4):
    case(f"flatten_{axis}", "float[2,3,4,5] x", f"y = Flatten<axis={axis}>(x)")
case("squeeze_neg", "float[1,3,1,4,1] x", "y = Squeeze(x, a)", a=ints(-1, 0))
case("squeeze_all", "float[1,3,1,4,1] x", "y = Squeeze(x)")
case("squeeze_11", "float[1,3,1,4,1] x", "y = Squeeze<axes=[0,2]>(x)", opset=11)
case("unsqueeze_neg", "float[3,4] x", "y = Unsqueeze(x, a)", a=ints(-1, 1))
case("unsqueeze_order", "float[3,4] x", "y = Unsqueeze(x, a)", a=ints(4, 0, 2))
case("expand_less", "float[3,1,5] x", "y = Expand(x, s)", s=ints(4, 1))
case("expand_more", "float[3,1] x", "y = Expand(x, s)", s=ints(2, 1, 6))
case("tile", "float[2,3,4] x", "y = Tile(x, s)", s=ints(2, 1, 3))
case("reshape_zero", "float[2,3,4] x", "y = Reshape(x, s)", s=ints(0, -1, 2))
case("reshape_allowzero", "float[0,3,4] x", "y = Reshape<allowzero=1>(x, s)", s=ints(3, 0, 4))
for el in ("float", "int32"):
    lo, hi = (np.float32(-0.5), np.float32(0.7)) if el == "float" else (np.int32(2), np.int32(4))
    case(f"clip_min_{el}", f"{el}[3,4] x", "y = Clip(x, lo)", lo=lo)
    case(f"clip_max_{el}", f"{el}[3,4] x", "y = Clip(x, , hi)", hi=hi)
    case(f"clip_both_{el}", f"{el}[3,4] x", "y = Clip(x, lo, hi)", lo=lo, hi=hi)
    case(f"clip_crossed_{el}", f"{el}[3,4] x", "y = Clip(x, hi, lo)", lo=lo, hi=hi)
case("clip_none", "float[3,4] x", "y = Clip(x)")
case("clip_6", "float[3,4] x", "y = Clip<min=-0.5, max=0.5>(x)", opset=6)
case("clip_6_min", "float[3,4] x", "y = Clip<min=-0.5>(x)", opset=6)
# Products
for ta, tb in product((0, 1), (0, 1)):
    a, b = ("4,3" if ta else "3,4"), ("5,4" if tb else "4,5")
    for cn, c in (("row", (5,)), ("col", (3, 1)), ("one", (1,)), ("full", (3, 5))):
        case(
            f"gemm_{ta}{tb}_{cn}",
            f"float[{a}] x, float[{b}] z",
            f"y = Gemm{attributes(transA=ta, transB=tb, alpha=0.5, beta=1.5)}(x, z, c)",
            c=c,
        )
case("gemm_no_c", "float[3,4] x, float[4,5] z", "y = Gemm<alpha=0.25, beta=2.0>(x, z)")
for i, (a, b) in enumerate(
    (
        ("4", "4,5"),
        ("3,4", "4"),
        ("4", "2,4,5"),
        ("2,3,4", "4"),
        ("6,1,3,4", "2,4,5"),
        ("4", "4"),
        ("2,3,4", "4,5"),
        ("3,4", "2,4,5"),
        ("1,3,4", "6,4,5"),
    )
):
    case(f"matmul_{i}", f"float[{a}] x, float[{b}] z", "y = MatMul(x, z)")
case(
    "matmul_integer",
    "uint8[3,4] x, int8[4,5] z",
    "y = MatMulInteger(x, z, p, q)",
    p=np.uint8(7),
    q=np.int8(-3),
)
case(
    "matmul_integer_columns",
    "uint8[3,4] x, int8[4,5] z",
    "y = MatMulInteger(x, z, p, q)",
    p=np.uint8(7),
    q=np.arange(5).astype(np.int8),
)
case("matmul_integer_bare", "int8[3,4] x, int8[4,5] z", "y = MatMulInteger(x, z)")
case(
    "matmul_integer_3d",
    "uint8[2,3,4] x, uint8[2,4,5] z",
    "y = MatMulInteger(x, z, p, q)",
    p=np.uint8(7),
    q=np.uint8(200),
)
case(
    "conv_integer",
    "uint8[1,2,6,7] x",
    "y = ConvInteger<pads=[1,0,2,1], strides=[1,2]>(x, w, p)",
    w=r(3, 2, 3, 2, element="uint8"),
    p=np.uint8(9),
)
case(
    "conv_integer_w",
    "uint8[1,2,6,7] x",
    "y = ConvInteger(x, w, p, q)",
    w=r(3, 2, 3, 2, element="uint8"),
    p=np.uint8(9),
    q=np.uint8(5),
)
# Einsum
for i, (eq, a, b) in enumerate(
    (
        ("bij,bjk->bik", "2,3,4", "2,4,5"),
        ("ij,kj->ki", "3,4", "5,4"),
        ("abc,bd->acd", "2,3,4", "3,5"),
        ("i,j->ij", "3", "4"),
        ("bhid,bhjd->bhij", "2,3,4,5", "2,3,6,5"),
        ("ij,j->i", "3,4", "4"),
        ("...ij,...jk->...ik", "2,3,4", "2,4,5"),
        ("bc,bc->b", "3,4", "3,4"),
        ("bnd,dhe->bhne", "2,3,4", "4,5,6"),
    )
):
    case(f"einsum_{i}", f"float[{a}] x, float[{b}] z", f'y = Einsum<equation="{eq}">(x, z)')
for i, (eq, a) in enumerate(
    (
        ("ijk->kij", "2,3,4"),
        ("ij->i", "3,4"),
        ("ii->i", "4,4"),
        ("ii->", "4,4"),
        ("ij->ji", "3,4"),
        ("ijk->j", "2,3,4"),
    )
):
    case(f"einsum1_{i}", f"float[{a}] x", f'y = Einsum<equation="{eq}">(x)')
