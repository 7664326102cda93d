"""Slices, gathers, reshapes, orders and sums of ONNX whose sizes the call decides.

For `bench.onnx_programs`; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

import numpy as np

from .entries import INT, ints, of

of("slice_last", "float[b,s,8] x => y", "y = Slice(x, m, e, a1)", m=ints(-1), e=ints(2**62), a1=ints(1))
of("slice_all_but_last", "float[b,s,8] x => y", "y = Slice(x, z, m, a1)", z=ints(0), m=ints(-1), a1=ints(1))
of(
    "slice_step",
    "float[b,s,8] x => y",
    "y = Slice(x, z, e, a1, two)",
    z=ints(0),
    e=ints(2**62),
    a1=ints(1),
    two=ints(2),
)
of(
    "slice_backwards",
    "float[b,s,8] x => y",
    "y = Slice(x, m, e, a1, n)",
    m=ints(-1),
    e=ints(-(2**62)),
    a1=ints(1),
    n=ints(-1),
)
of(
    "slice_backwards_step",
    "float[b,s,8] x => y",
    "y = Slice(x, m, e, a1, n)",
    m=ints(-1),
    e=ints(-(2**62)),
    a1=ints(1),
    n=ints(-2),
)
of("slice_behind_end", "float[b,s,8] x => y", "y = Slice(x, z, e, a1)", z=ints(2), e=ints(100), a1=ints(1))
of("slice_before_begin", "float[b,s,8] x => y", "y = Slice(x, z, e, a1)", z=ints(-100), e=ints(3), a1=ints(1))
of(
    "slice_backwards_behind_end",
    "float[b,s,8] x => y",
    "y = Slice(x, m, e, a1, n)",
    m=ints(100),
    e=ints(2),
    a1=ints(1),
    n=ints(-1),
)
of("slice_empty", "float[b,s,8] x => y", "y = Slice(x, m, e, a1)", m=ints(5), e=ints(2), a1=ints(1))
of(
    "slice_to_argument",
    "float[b,s,8] x, int64[1] n => y",
    "y = Slice(x, z, n, a1)",
    z=ints(0),
    a1=ints(1),
    given={"n": [4]},
)
of(
    "slice_from_argument",
    "float[b,s,8] x, int64[1] n => y",
    "y = Slice(x, n, e, a1)",
    e=ints(2**62),
    a1=ints(1),
    given={"n": [-4]},
)
of("gather_negative", "float[b,s,8] x => y", "y = Gather<axis=1>(x, m)", m=np.array(-1, INT))
of("gather_rows", "float[b,s,8] x, int64[t] i => y", "y = Gather<axis=1>(x, i)")
of("gather_elements", "float[b,s] x, int64[b,t] i => y", "y = GatherElements<axis=1>(x, i)")
of(
    "gather_nd",
    "float[b,s,8] x, int64[t,2] i => y",
    "y = GatherND(x, i)",
    given={"i": np.arange(14).reshape(7, 2) % 3},
)
of("gather_nd_batch", "float[b,s,8] x, int64[b,t,1] i => y", "y = GatherND<batch_dims=1>(x, i)")
of(
    "scatter_elements",
    "float[b,s] x, int64[b,t] i, float[b,t] u => y",
    "y = ScatterElements<axis=1>(x, i, u)",
    given={"i": np.tile(np.arange(7), (3, 1))},
)
of(
    "scatter_elements_add",
    "float[b,s] x, int64[b,t] i, float[b,t] u => y",
    'y = ScatterElements<axis=1, reduction="add">(x, i, u)',
)
of(
    "scatter_nd",
    "float[b,s] x, int64[t,1] i, float[t,s] u => y",
    'y = ScatterND<reduction="add">(x, i, u)',
    given={"i": np.arange(7).reshape(7, 1) % 3},
)
of(
    "scatter_nd_set",
    "float[s,8] x, int64[t,1] i, float[t,8] u => y",
    "y = ScatterND(x, i, u)",
    given={"i": np.arange(7).reshape(7, 1)},
)
of("reshape_flat", "float[b,s,4,8] x => y", "y = Reshape(x, to)", to=ints(0, 0, -1))
of("reshape_merge", "float[b,s,4,8] x => y", "y = Reshape(x, to)", to=ints(-1, 32))
of("reshape_split_batch", "float[b,s,8] x => y", "y = Reshape(x, to)", to=ints(-1, 3, 8))
of("reshape_like", "float[b,s,8] x, float[b,n,2,4] l => y", "to = Shape(l) y = Reshape(x, to)")
of("flatten", "float[b,s,8] x => y", "y = Flatten<axis=1>(x)")
of("flatten2", "float[b,s,8] x => y", "y = Flatten<axis=2>(x)")
of("expand_like", "float[1,s] x, float[b,s] l => y", "to = Shape(l) y = Expand(x, to)")
of("expand_ones", "float[b,s] x => y", "y = Expand(x, ones)", ones=ints(1, 1))
of("expand_rank", "float[b,1] x => y", "y = Expand(x, to)", to=ints(2, 1, 6))
of("tile", "float[b,s] x => y", "y = Tile(x, to)", to=ints(2, 3))
of("tile_argument", "float[1,8] x, int64[2] n => y", "y = Tile(x, n)", given={"n": [3, 1]})
of(
    "range_argument",
    "int64[] n => y",
    "y = Range(z, n, o)",
    z=np.array(0, INT),
    o=np.array(1, INT),
    given={"n": 7},
)
of(
    "constant_of_shape",
    "float[b,s] x => y",
    "sh = Shape(x) c = ConstantOfShape<value = float[1] {2.0}>(sh) y = Add(x, c)",
)
of("eye_like", "float[s,s] x => y", "e = EyeLike(x) y = Add(x, e)")
of("topk", "float[b,s] x => y, i", "y, i = TopK(x, k)", k=ints(3))
of("topk_smallest", "float[b,s] x => y, i", "y, i = TopK<largest=0>(x, k)", k=ints(3))
of("topk_axis", "float[b,s,4] x => y, i", "y, i = TopK<axis=1>(x, k)", k=ints(3))
of("topk_all", "float[b,s] x => y", "sh = Shape(x) k = Gather(sh, a1) y, i = TopK(x, k)", a1=ints(1))
of("topk_argument", "float[b,s] x, int64[1] k => y", "y, i = TopK(x, k)", given={"k": [4]})
of("non_zero", "float[b,s] x => y", "r = Relu(x) y = NonZero(r)")
of("compress", "float[s,8] x, bool[s] c => y", "y = Compress<axis=0>(x, c)")
of("argmax", "float[b,s,8] x => y", "y = ArgMax<axis=1>(x)")
of("argmax_last", "float[b,s,8] x => y", "y = ArgMax<axis=1, select_last_index=1, keepdims=0>(x)")
of("argmin", "float[b,s,8] x => y", "y = ArgMin<axis=-1, keepdims=0>(x)")
of("cumsum", "float[b,s] x => y", "y = CumSum(x, a)", a=np.array(1, INT))
of(
    "cumsum_reverse_exclusive",
    "float[b,s] x => y",
    "y = CumSum<reverse=1, exclusive=1>(x, a)",
    a=np.array(1, INT),
)
for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
    of(
        f"reduce_{op.lower()}",
        "float[b,s,8] x => y",
        f"p = Abs(x) y = Reduce{op}<keepdims=0>(p, a)",
        a=ints(1),
    )
of("reduce_all", "float[b,s,8] x => y", "y = ReduceMean<keepdims=0>(x)")
of("reduce_mean_hw", "float[b,8,h,w] x => y", "y = ReduceMean(x, a)", a=ints(2, 3))
of(
    "masked_mean",
    "float[b,s,8] x, int64[b,s] mask => y",
    "m = Cast<to=1>(mask) u = Unsqueeze(m, a2) p = Mul(x, u) t = ReduceSum<keepdims=0>(p, a1) n = ReduceSum(m, a1) c = Clip(n, low) y = Div(t, c)",
    a1=ints(1),
    a2=ints(2),
    low=np.float32(1e-9),
)
for mode in ("constant", "reflect", "edge", "wrap"):
    of(
        f"pad_{mode}",
        "float[b,3,h,w] x => y",
        f'y = Pad<mode="{mode}">(x, p)',
        p=ints(0, 0, 1, 2, 0, 0, 2, 1),
    )
of(
    "pad_to_multiple",
    "float[b,s,8] x => y",
    "sh = Shape(x) l = Gather(sh, a1) neg = Neg(l) r = Mod(neg, four) p = Concat<axis=0>(z, z, z, z, r, z) y = Pad(x, p)",
    a1=ints(1),
    four=ints(4),
    z=ints(0),
)
of("split_halves", "float[b,s,8] x => y, z", "y, z = Split<axis=-1>(x, p)", p=ints(3, 5))
of("split_dynamic", "float[b,s,8] x => y, z", "y, z = Split<axis=1>(x, p)", p=ints(4, 5))
of("split_equal_dynamic", "float[b,h,8] x => y, z", "y, z = Split<axis=1, num_outputs=2>(x)")
of("concat_three", "float[b,s] x, float[b,t] z, float[b,2] v => y", "y = Concat<axis=1>(x, z, v)")
of(
    "one_hot",
    "int64[b,s] i => y",
    "y = OneHot<axis=-1>(i, d, v)",
    d=np.array(7, INT),
    v=np.array([0, 1], np.float32),
)
of("trilu_lower", "float[b,s,s] x => y", "y = Trilu<upper=0>(x)")
of("depth_to_space", "float[b,8,h,w] x => y", "y = DepthToSpace<blocksize=2>(x)")
of("depth_to_space_crd", "float[b,8,h,w] x => y", 'y = DepthToSpace<blocksize=2, mode="CRD">(x)')
of("space_to_depth", "float[b,2,h,w] x => y", "y = SpaceToDepth<blocksize=2>(x)")
of("einsum", "float[b,s,8] x, float[b,t,8] z => y", 'y = Einsum<equation="bsd,btd->bst">(x, z)')
