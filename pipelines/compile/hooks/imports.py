"""What IREE's import reads as another op, without a message: found and repaired as soon as the input is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from iree.compiler import ir

from fissile.dialect import load_dialects
from fissile.dialect.attributes import text_of
from fissile.dialect.places import ops_of
from fissile.finding import Finding, Severity
from fissile.passes.catalogue import find_pass
from fissile.passes.containment import contained, contained_change

from ...repair.failures import suggested
from ...session import Module, Session

if TYPE_CHECKING:
    from fissile.passes.remedies.entry.front_end import FrontEndRemedy

_DIALECTS = (b"stablehlo", b"vhlo", b"torch")
_TOSA = (b"tosa",)
_ELEMENTS = re.compile(rb'"0x[0-9A-Fa-f]{64,}"')
"""The elements of a constant, which hold no name: looking through 17 MB of them for each row took 0.7 s."""


@dataclass(frozen=True)
class _Row:
    """``spelled``: the ops, by one of which it occurs; ``find`` and ``check`` are imported where a program has one."""

    spelled: tuple[bytes, ...]
    remedy: str
    read: Callable[[ir.Operation, bool], tuple[Sequence[ir.Operation], Sequence[Finding]]]
    dialects: tuple[bytes, ...] = _DIALECTS
    """By one of which the program has ops."""

    def may_occur(self, source: bytes) -> bool:
        return all(any(name in source for name in names) for names in (self.dialects, self.spelled))


def _broadcasts(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.misread_broadcasts import misread_broadcasts
    from fissile.passes.checks.numbers.imported_ops import check_broadcasts

    found = misread_broadcasts(module)
    return found, check_broadcasts(found)


def _products(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.narrow_operands import misread_kernels, sign_extended_products
    from fissile.passes.checks.numbers.imported_ops import check_kernels, check_products

    found = sign_extended_products(module, gpu)
    kernels = [op for op in misread_kernels(module) if op not in found]
    return [*found, *kernels], [*check_products(found), *check_kernels(kernels)]


def _pads(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.misread_pads import misread_pads
    from fissile.passes.checks.numbers.imported_ops import check_pads

    found = misread_pads(module)
    return found, check_pads(found)


def _selections(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.tied_selections import tied_selections
    from fissile.passes.checks.numbers.imported_ops import check_selections

    found = tied_selections(module)
    return found, check_selections(found)


def _windows(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.scatter_forms import moved_windows
    from fissile.passes.checks.numbers.imported_ops import check_windows

    found = moved_windows(module)
    return found, check_windows(found)


def _sums(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.boolean_sums import boolean_sums
    from fissile.passes.checks.numbers.imported_ops import check_sums

    found = boolean_sums(module)
    return found, check_sums(found)


def _left_out(
    names: Sequence[str], module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.left_out import left_out, ops_left_out
    from fissile.passes.checks.numbers.imported_ops import check_left_out

    found = [op for op in ops_left_out(module) if text_of(op, "name") in names]
    return found, check_left_out((text_of(op, "name"), op, left_out(op)) for op in found)


def _part(
    remedy: str, what: str, module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """FIS162 of the ops that ``remedy`` fits: ``what`` is left out of them."""
    from fissile.passes.checks.numbers.imported_ops import check_left_out

    fitting = cast("FrontEndRemedy", find_pass(remedy)())
    found = fitting.found(module)
    return found, check_left_out((fitting.named(op), op, what) for op in found)


def _fitting(
    check: str, remedy: str, module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """What ``check`` says of the ops that ``remedy`` fits."""
    from fissile.passes.checks.numbers import imported_ops

    fitting = cast("FrontEndRemedy", find_pass(remedy)())
    found = fitting.found(module)
    return found, getattr(imported_ops, check)((fitting.named(op), op) for op in found)


def _crashes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.left_out import ops_that_crash
    from fissile.passes.checks.numbers.imported_ops import check_crashes

    found = ops_that_crash(module)
    return found, check_crashes((text_of(op, "name"), op) for op in found)


def _wraps(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_endless
    from fissile.passes.remedies.entry.onnx.wrap_pads import wraps

    found = [op for op in ops_of(module, "torch.operator") if wraps(op)]
    return found, check_endless((text_of(op, "name"), op) for op in found)


def _grids(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_grids
    from fissile.passes.remedies.entry.torch.sample_grids import SampleGrids, samples_outside

    remedy = SampleGrids()
    found = [op for op in remedy.found(module) if samples_outside(op)]
    return found, check_grids((remedy.named(op), op) for op in found)


def _reshapes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.assumed_sizes import assumption_of
    from fissile.passes.checks.numbers.imported_ops import check_reshapes
    from fissile.passes.remedies.entry.torch.merge_dims import MergeDims

    remedy = MergeDims()
    ops = [op for name in remedy.candidates for op in ops_of(module, name)]
    assumed = [(op, found) for op in ops if (found := assumption_of(op)) and not found.rejected]
    named = [(remedy.named(op), op, found.sizes, found.taken_as) for op, found in assumed]
    return [op for op, _found in assumed], check_reshapes(named)


def _norms(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_norms
    from fissile.passes.remedies.entry.layers.normalise_instances import NormaliseInstances, lowered

    remedy = NormaliseInstances()
    found = [op for op in remedy.found(module) if lowered(op)]  # IREE rejects the others
    return found, check_norms((remedy.named(op), op) for op in found)


def _pools(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.pools.pad_pools import PadPools, misreads_border

    remedy = PadPools()
    found = [op for op in remedy.found(module) if misreads_border(op)]  # IREE rejects the others
    return found, check_left_out((remedy.named(op), op, "the value of the border") for op in found)


def _adaptive(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.pools.gather_windows import GatherWindows, stops

    remedy = GatherWindows()
    found = [op for op in remedy.found(module) if stops(op)]  # IREE rejects the others, or lowers them
    return found, check_left_out((remedy.named(op), op, "windows of other sizes") for op in found)


def _powers(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_left_out
    from fissile.passes.remedies.entry.standard.raise_integers import RaiseIntegers, is_lowered

    remedy = RaiseIntegers()
    found = [op for op in remedy.found(module) if is_lowered(op)]  # IREE rejects the others
    return found, check_left_out((remedy.named(op), op, "the sign of a negative base") for op in found)


def _size_arithmetic(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.size_arithmetic import name_of, rounds_otherwise
    from fissile.passes.checks.numbers.imported_ops import check_size_arithmetic

    found = [op for op in ops_of(module, "torch.") if rounds_otherwise(op)]
    return found, check_size_arithmetic((name_of(op), op) for op in found)


def _unknown_sizes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.unknown_sizes import ops_of_unknown_sizes
    from fissile.passes.checks.numbers.imported_ops import check_unknown_sizes

    found = ops_of_unknown_sizes(module)
    return found, check_unknown_sizes((text_of(op, "name"), op) for op in found)


def _determinants(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.checks.numbers.imported_ops import check_determinants
    from fissile.passes.remedies.entry.algebra.solve_systems import SolveSystems, may_divide_by_zero

    found = [op for op in ops_of(module, "torch.") if may_divide_by_zero(op)]
    return found, check_determinants((SolveSystems().named(op), op) for op in found)


def _wide_constants(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    constants = [op for name in ("tosa.const", "arith.constant") for op in ops_of(module, name)]
    if not any("i48" in str(op.results[0].type) for op in constants):
        return [], []  # and the remedy need not be loaded
    from fissile.passes.checks.numbers.imported_ops import check_constants
    from fissile.passes.remedies.entry.tosa.extend_constants import ExtendConstants

    found = ExtendConstants().found(module)
    return found, check_constants(found)


def _extremes(module: ir.Operation, gpu: bool) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    from fissile.passes.analysis.imports.tosa.infinite_extremes import EXTREMES, may_be_infinite
    from fissile.passes.checks.numbers.imported_ops import check_infinities

    found = [op for name in EXTREMES for op in ops_of(module, name) if may_be_infinite(op)]
    return found, check_infinities(found)


def _always(
    check: str, front_end_op: str, module: ir.Operation, gpu: bool
) -> tuple[Sequence[ir.Operation], Sequence[Finding]]:
    """What ``check`` says of the ops that their front end calls ``front_end_op``."""
    from fissile.passes.checks.numbers import imported_ops

    found = list(ops_of(module, f"torch.{front_end_op}"))
    return found, getattr(imported_ops, check)((front_end_op, op) for op in found)


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
    (b"aten.rms_norm", "fissile-write-epsilons", "the default epsilon or the sums in 32 bits"),
)


_FITTING = (
    ((b"aten.constant_pad_nd", b"aten.pad", b"onnx.Pad"), "fissile-crop-before-padding", "check_crops"),
    ((b",ui8>",), "fissile-widen-unsigned", "check_unsigned"),
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
)
"""Wherever a program has an op that the remedy fits."""


def _left_out_row(names: Sequence[str], remedy: str) -> _Row:
    return _Row(tuple(name.encode() for name in names), remedy, partial(_left_out, names))


_ROWS = (
    _Row((b"broadcast_in_dim",), "fissile-order-broadcast-dims", _broadcasts),
    _Row((b"dot", b"convolution"), "fissile-widen-operands", _products),
    _Row((b"pad",), "fissile-join-pads", _pads),
    *(_Row(names, remedy, partial(_fitting, check, remedy)) for names, remedy, check in _FITTING),
    *(_left_out_row(names, remedy) for names, remedy in _LEFT_OUT),
    _Row((b"onnx.QLinearConv",), "fissile-dequantise-products", _crashes),
    *(_Row((name,), remedy, partial(_part, remedy, what)) for name, remedy, what in _PARTS),
    _Row((b"onnx.GridSample", b"aten.grid_sampler"), "fissile-sample-grids", _grids),
    _Row(
        (b"aten.view", b"aten.reshape", b"aten._unsafe_view", b"onnx.Reshape"),
        "fissile-merge-dims",
        _reshapes,
    ),
    _Row((b"aten.instance_norm", b"onnx.InstanceNormalization"), "fissile-normalise-instances", _norms),
    _Row(
        (b"onnx.Mod", b"onnx.Div", b"aten.remainder.int", b"aten.fmod.int"),
        "fissile-divide-sizes",
        _size_arithmetic,
    ),
    _Row(
        (
            b"onnx.MaxPool",
            b"onnx.AveragePool",
            b"onnx.LpPool",
            b"onnx.LRN",
            b"select_last_index",
            b"onnx.CenterCropPad",
        ),
        "fissile-measure-sizes",
        _unknown_sizes,
    ),
    _Row((b"onnx.MaxPool",), "fissile-pad-pools", _pools),
    _Row((b"aten.adaptive_max_pool2d",), "fissile-gather-windows", _adaptive),
    _Row((b"onnx.Pow",), "fissile-raise-integers", _powers),
    # Bytecode spells no type; there an op shows that may have such an operand.
    _Row((b"i48", b"conv2d", b"conv3d"), "fissile-extend-constants", _wide_constants, _TOSA),
    _Row((b"reduce_max", b"reduce_min", b"max_pool2d"), "fissile-keep-infinities", _extremes, _TOSA),
    _Row((b"wrap",), "fissile-wrap-pads", _wraps),
    *(_Row((op.encode(),), remedy, partial(_always, check, op)) for op, remedy, check in _ALWAYS),
    _Row((b"aten.linalg_det", b"onnx.Det"), "fissile-solve-systems", _determinants),
    _Row((b"select_and_scatter",), "fissile-swap-selections", _selections),
    _Row((b"scatter",), "fissile-scatter-windows", _windows),
    _Row((b"add",), "fissile-join-booleans", _sums),
)


def misread(module: Module, source: bytes, repair: bool, gpu: bool) -> list[Finding]:
    """What FIS154, FIS155, FIS157, FIS160, FIS162, FIS163, FIS164, FIS165, FIS166, FIS167, FIS168, FIS169, FIS170, FIS179, FIS180, FIS185, FIS195, FIS199, FIS209, FIS210, FIS211, FIS218 and FIS219 are about, of ``module``, which no phase has changed; repaired in place if ``repair``.

    ``source`` is its text or bytecode: a look at names, before the ops are walked. ``gpu``: it is compiled for one.
    """
    source = _ELEMENTS.sub(b"", source)
    if not any(name in source for name in (*_DIALECTS, *_TOSA)):
        return []
    found: list[Finding] = []
    for row in _ROWS:
        if row.may_occur(source):
            act = partial(_act, row, module, repair, gpu)
            found += contained_change("ops that IREE's import misreads", act, module.put_back, [])
            module.settle()
    return found


def _act(row: _Row, module: Module, repair: bool, gpu: bool) -> list[Finding]:
    ops, findings = row.read(module.op.operation, gpu)
    if not repair or not ops:
        return list(findings)
    remedy = cast("FrontEndRemedy", find_pass(row.remedy)())
    able = [remedy.fits(op) for op in ops]
    if any(able):
        module.about_to_change()
        load_dialects(module.op.context, remedy.dialects)
        remedy.replace([op for op, fits in zip(ops, able, strict=True) if fits])
    done = remedy.help(("pass", remedy.name), ("numerics", remedy.numbers))
    return [
        one.with_(severity=Severity.REPAIRED, helps=(done,)) if fits else one
        for one, fits in zip(findings, able, strict=True)
    ]


def parsed(
    session: Session, source: Path, allow_pipelines: bool, gpu: bool
) -> tuple[Module, tuple[Finding, ...]]:
    """The program in ``source``, repaired, and what `misread` found, as suggestions."""
    module = session.parse_input(source, allow_pipelines=allow_pipelines)
    found = misread(module, source.read_bytes(), True, gpu)
    return module, tuple(suggested(one, "`fissile compile` applies it") for one in found)


def may_be_misread(source: Path) -> bool:
    """Whether stock IREE reads an op of the program in ``source`` as another one."""

    def look() -> bool:
        return bool(misread(Session().parse(source), source.read_bytes(), False, False))

    return contained("ops that IREE's import misreads", look, True)
