"""The ops that IREE's import reads as others: by what they are spelled, how they are found, and what repairs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.iree.flags import keeps_doubles

from . import readers as read

DIALECTS = (b"stablehlo", b"vhlo", b"torch")
TOSA = (b"tosa",)
GLOBALS = (b"util", b"ml_program")


@dataclass(frozen=True)
class Row:
    """``spelled``: the ops, by one of which it occurs; ``find`` and ``check`` are imported where a program has one."""

    spelled: tuple[bytes, ...]
    remedy: str
    read: Callable[[ir.Operation, bool], tuple[Sequence[ir.Operation], Sequence[Finding]]]
    dialects: tuple[bytes, ...] = DIALECTS
    """By one of which the program has ops."""
    unless: Callable[[Sequence[str]], bool] = lambda _flags: False
    """Whether these flags keep IREE from it."""

    def may_occur(self, source: bytes, flags: Sequence[str] = ()) -> bool:
        return not self.unless(flags) and all(
            any(name in source for name in names) for names in (self.dialects, self.spelled)
        )


_LEFT_OUT = (
    (("onnx.QLinearConv", "onnx.QLinearMatMul"), "fissile-dequantise-products"),
    (("onnx.AveragePool",), "fissile-pool-windows"),
    (("onnx.DepthToSpace",), "fissile-shuffle-pixels"),
    (("onnx.Hardmax",), "fissile-flatten-axes"),
    (("onnx.Split",), "fissile-slice-parts"),
    (("onnx.MaxPool",), "fissile-number-elements"),
    (("onnx.SoftmaxCrossEntropyLoss",), "fissile-score-classes"),
    (("onnx.LSTM", "onnx.GRU", "onnx.RNN"), "fissile-write-out-layers"),
    # These no remedy fits: they are reported, and nothing is written.
    (("onnx.Resize", "onnx.SpaceToDepth", "onnx.Upsample"), "fissile-pool-windows"),
)
_ALWAYS = (
    ("aten.leaky_relu_backward", "fissile-differentiate-activations", "check_slopes"),
    ("aten.hardtanh_backward", "fissile-differentiate-activations", "check_borders"),
    ("aten.logcumsumexp", "fissile-scan-exponentials", "check_exponentials"),
)
"""Wherever a program has the op."""
_PARTS = (
    (b"onnx.Slice", "fissile-clamp-slices", "the clamp of the start"),
    (b"onnx.FusedMatMul", "fissile-scale-products", "alpha"),
    (b"onnx.RotaryEmbedding", "fissile-turn-heads", "the order of the heads"),
    (b"f8E", "fissile-saturate-casts", "the saturation"),
    (b"aten.rms_norm", "fissile-write-epsilons", "the default epsilon"),
    (b"aten.select_scatter", "fissile-count-indices", "the size, of an index that counts from the end"),
    (b"aten.roll", "fissile-wrap-rolls", "the remainder of the shift and the size"),
    (b"max_unpool", "fissile-scatter-maxima", "numbers outside of the windows that it assumes"),
    (b"onnx.MaxUnpool", "fissile-scatter-maxima", "numbers of the other channels"),
)


_FITTING = (
    ((b"aten.constant_pad_nd", b"aten.pad", b"onnx.Pad"), "fissile-crop-before-padding", "check_crops"),
    ((b"si4>", b"ui4>", b"f4E2M1FN>"), "fissile-unpack-constants", "check_packed"),
    ((b",ui8>", b"complex<"), "fissile-widen-unsigned", "check_unsigned"),
    (
        (b"onnx.Max", b"onnx.Min", b"onnx.Sign", b"aten.maximum", b"aten.minimum"),
        "fissile-keep-nans",
        "check_nans",
    ),
    (
        (b"_dot_product_attention", b"_dot_product_flash_attention_for_cpu"),
        "fissile-clear-masked-rows",
        "check_masked_rows",
    ),
    ((b"aten.threshold_backward",), "fissile-compare-before-conversion", "check_thresholds"),
    (
        (
            b"aten.log_sigmoid",
            b"aten.softshrink",
            b"aten.prelu",
            b"aten.binary_cross_entropy_with_logits",
            b"aten.kl_div",
            b"aten.renorm",
            b"aten.gelu",
            b"onnx.Gelu",
            b"aten.rad2deg",
        ),
        "fissile-write-formulas",
        "check_formulas",
    ),
    (
        (
            b".Scalar",
            b"aten.add.Tensor",
            b"aten.sub.Tensor",
            b"aten.eq.Tensor",
            b"_mode",
            b"floor_divide",
            b"onnx.Equal",
        ),
        "fissile-type-scalars",
        "check_folds",
    ),
    ((b"f16>",), "fissile-widen-accumulations", "check_accumulations"),
)
"""Wherever a program has an op that the remedy fits."""


def _left_out_row(names: Sequence[str], remedy: str) -> Row:
    return Row(tuple(name.encode() for name in names), remedy, partial(read.left_out, names))


ROWS = (
    Row((b"broadcast_in_dim",), "fissile-order-broadcast-dims", read.broadcasts),
    Row((b"dot", b"convolution"), "fissile-widen-operands", read.products),
    Row((b"pad",), "fissile-join-pads", read.pads),
    *(Row(names, remedy, partial(read.fitting, check, remedy)) for names, remedy, check in _FITTING),
    *(_left_out_row(names, remedy) for names, remedy in _LEFT_OUT),
    Row((b"onnx.QLinearConv",), "fissile-dequantise-products", read.crashes),
    *(Row((name,), remedy, partial(read.part, remedy, what)) for name, remedy, what in _PARTS),
    Row((b"onnx.GridSample", b"aten.grid_sampler"), "fissile-sample-grids", read.grids),
    Row(
        (b"aten.view", b"aten.reshape", b"aten._unsafe_view", b"aten.unflatten"),
        "fissile-infer-sizes",
        read.inferred,
    ),
    Row(
        (b"aten.view", b"aten.reshape", b"aten._unsafe_view", b"onnx.Reshape"),
        "fissile-merge-dims",
        read.reshapes,
    ),
    Row((b"aten.instance_norm", b"onnx.InstanceNormalization"), "fissile-normalise-instances", read.norms),
    Row(
        (b"onnx.Mod", b"onnx.Div", b"aten.remainder.int", b"aten.fmod.int"),
        "fissile-divide-sizes",
        read.size_arithmetic,
    ),
    Row(
        (
            b"onnx.MaxPool",
            b"onnx.AveragePool",
            b"onnx.LpPool",
            b"onnx.LRN",
            b"select_last_index",
            b"onnx.CenterCropPad",
        ),
        "fissile-measure-sizes",
        read.unknown_sizes,
    ),
    Row((b"onnx.MaxPool",), "fissile-pad-pools", read.pools),
    Row((b"onnx.Scan",), "fissile-loop-scans", read.scans),
    Row((b"d.padding", b"aten.pad"), "fissile-write-borders", read.borders),
    Row((b"aten.adaptive_max_pool2d",), "fissile-gather-windows", read.adaptive),
    Row((b"onnx.Pow",), "fissile-raise-integers", read.powers),
    # Bytecode spells no type; there an op shows that may have such an operand.
    Row((b"i48", b"conv2d", b"conv3d"), "fissile-extend-constants", read.wide_constants, TOSA),
    Row((b"reduce_max", b"reduce_min", b"max_pool2d"), "fissile-keep-infinities", read.extremes, TOSA),
    Row((b"wrap",), "fissile-wrap-pads", read.wraps),
    *(Row((op.encode(),), remedy, partial(read.always, check, op)) for op, remedy, check in _ALWAYS),
    Row((b"aten.linalg_det", b"onnx.Det"), "fissile-solve-systems", read.determinants),
    Row((b"select_and_scatter",), "fissile-swap-selections", read.selections),
    Row((b"scatter",), "fissile-scatter-windows", read.windows),
    Row(
        (b"aten.scatter",),
        "fissile-scatter-elements",
        partial(read.fitting, "check_scatters", "fissile-scatter-elements"),
    ),
    Row((b"add",), "fissile-join-booleans", read.sums),
    Row((b"global",), "fissile-inline-doubles", read.wide_globals, GLOBALS, keeps_doubles),
)
