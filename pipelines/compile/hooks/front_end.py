"""Ops of the input that IREE does not lower, written with ops that it does, as soon as the input is parsed.

Only where stock IREE has refused the program: what it lowers itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.source_text import BYTECODE
from fissile.finding import Finding
from fissile.passes.containment import contained
from fissile.passes.iree.flags import keeps_doubles
from fissile.passes.iree.messages import FRONT_END_LEFT
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, INPUT_CONVERTED_AT

from ...probe.diagnostics import quoted
from ...repair.failures import Failure, StraightEnded
from ...session import Module, PhaseFailed, phase_index

if TYPE_CHECKING:
    from ..compile_run import CompileRun

REMEDIES = (
    "fissile-unpack-constants",
    "fissile-inline-doubles",
    "fissile-refine-sizes",
    "fissile-rename-torch-ops",
    "fissile-rearrange-tensors",
    "fissile-wrap-rolls",
    "fissile-narrow-doubles",
    "fissile-write-borders",
    "fissile-write-composites",
    "fissile-decompose-bitcast",
    "fissile-decompose-diff",
    "fissile-split-by-slices",
    "fissile-decompose-nll-loss",
    "fissile-decompose-recurrent-layers",
    "fissile-decompose-recurrent-cells",
    "fissile-decompose-encoder-layers",
    "fissile-convolve-steps",
    "fissile-batch-images",
    "fissile-type-shuffles",
    "fissile-type-weights",
    "fissile-normalise-instances",
    "fissile-unpack-lists",
    "fissile-differentiate-activations",
    "fissile-differentiate-losses",
    "fissile-differentiate-norms",
    "fissile-differentiate-pools",
    "fissile-gather-windows",
    "fissile-differentiate-resizes",
    "fissile-differentiate-classes",
    "fissile-attend-backwards",
    "fissile-transpose-convolutions",
    "fissile-add-up-rows",
    "fissile-place-slices",
    "fissile-unfold-patches",
    "fissile-fold-patches",
    "fissile-write-out-losses",
    "fissile-promote-operands",
    "fissile-widen-unsigned",
    "fissile-rewrite-scalar-operands",
    "fissile-decompose-elementwise",
    "fissile-decompose-ffts",
    "fissile-fill-complex",
    "fissile-decompose-complex",
    "fissile-join-parts",
    "fissile-fold-windows",
    "fissile-decompose-special-functions",
    "fissile-decompose-squeeze",
    "fissile-concatenate-pads",
    "fissile-rewrite-upsampling",
    "fissile-weigh-neighbours",
    "fissile-group-products",
    "fissile-count-bins",
    "fissile-sort-topk",
    "fissile-scale-directions",
    "fissile-expand-attention-masks",
    "fissile-dequantise-products",
    "fissile-multiply-scaled",
    "fissile-sample-grids",
    "fissile-saturate-casts",
    "fissile-lower-control-flow",
    "fissile-lower-tensor-ops",
    "fissile-store-indices",
    "fissile-write-host-scalars",
    "fissile-order-broadcast-dims",
    "fissile-apply-dot-algorithms",
    "fissile-widen-operands",
    "fissile-lower-dynamic-shapes",
    "fissile-broadcast-to-sizes",
    "fissile-slice-to-sizes",
    "fissile-select-in-windows",
    "fissile-reduce-windows",
    "fissile-convolve-groups",
    "fissile-join-booleans",
    "fissile-drop-annotations",
    "fissile-scatter-windows",
    "fissile-transform-by-tables",
    "fissile-multiply-unsized",
    "fissile-use-signless-ops",
    "fissile-index-merged-dims",
    "fissile-count-indices",
    "fissile-loop-scans",
    "fissile-scatter-elements",
    "fissile-scatter-slices",
    "fissile-select-ordered",
    "fissile-search-sorted",
    "fissile-contract-dims",
    "fissile-contract-indices",
    "fissile-sum-trapezoids",
    "fissile-sum-exponentials",
    "fissile-scan-extremes",
    "fissile-scan-exponentials",
    "fissile-solve-systems",
    "fissile-expand-solvers",
    "fissile-infer-sizes",
    "fissile-merge-dims",
    "fissile-divide-sizes",
    "fissile-multiply-batches",
    "fissile-gather-blocks",
    "fissile-pad-pools",
    "fissile-scatter-extremes",
    "fissile-crop-transposed",
    "fissile-convolve-bytes",
    "fissile-resize-floats",
    "fissile-scale-blocks",
    "fissile-write-out-layers",
    "fissile-flatten-axes",
    "fissile-score-classes",
    "fissile-reduce-dims",
    "fissile-turn-pairs",
    "fissile-scale-roots",
    "fissile-write-activations",
    "fissile-select-marked",
    "fissile-raise-integers",
    "fissile-raise-by-squaring",
    "fissile-multiply-bytes",
    "fissile-reshape-empty",
    "fissile-transform-signals",
    "fissile-wrap-pads",
    "fissile-broadcast-operands",
    "fissile-number-elements",
    "fissile-widen-types",
    "fissile-insert-zeros",
    "fissile-strip-signs",
    "fissile-expand-grids",
    "fissile-convert-mixed-inputs",
)
"""In this order: what one writes, the next may find."""
_LATE_NAMES = (
    "scf.index_switch", "scf.forall", "scf.parallel", "affine.for", "affine.if", "affine.parallel",
    "tensor.splat", "tensor.generate", "tensor.pad", "tensor.gather", "tensor.scatter",
)  # fmt: skip
"""The ops that `fissile-lower-control-flow` and `fissile-lower-tensor-ops` look at: they pass the input conversion, and are refused on the way to code generation."""
_CRASHING = (
    b"complex<f32>", b",si8>", b",ui8>", b"xindex>", b"noop_with_empty_axes", b"onnx.Reshape",
    b"aten.avg_pool", b"aten.conv",
)  # fmt: skip
"""Ops of torch on such tensors, constants of index, such ops of ONNX, and layers over images without a batch dimension end IREE, some of them in an assertion or a crash."""
_PIPELINE = f"builtin.module({','.join(REMEDIES)})"
"""Ops of torch on such tensors, constants of index, and such ops of ONNX end IREE, some of them in an assertion or a crash."""
_WIDENING = "fissile-widen-accumulations"
_OF_NARROW_FLOATS = "fissile-narrow-doubles", "fissile-inline-doubles"
"""Where IREE computes f64 as such, the first changes numbers, and the second is not needed."""


def rewritten(module: Module, message: str, flags: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Rewrites ``module``, which no phase has changed, in place; FIS421 for each kind of op, with IREE's ``message``.

    ``flags`` are those of the command line.
    """
    from ...pass_runner import run_pipeline

    found: list[Finding] = []
    left_out = _OF_NARROW_FLOATS if keeps_doubles(flags) else ()
    chosen = [name for name in REMEDIES if name not in left_out]
    run_pipeline(f"builtin.module({','.join(chosen)})", module.op, report=found.append)
    if found:
        # What they write may add as well.
        run_pipeline(f"builtin.module({_WIDENING})", module.op, report=lambda _finding: None)
    return tuple(finding.with_(stock=quoted(message)) for finding in _one_for_each_op(found))


def _one_for_each_op(found: Sequence[Finding]) -> list[Finding]:
    """``found``: an op that several remedies rewrite, the next what the one before wrote, is one finding with what each did."""
    groups: dict[tuple, Finding] = {}
    for finding in found:
        key = (finding.code, finding.message, finding.places)
        first = groups.get(key)
        groups[key] = first.with_(helps=(*first.helps, *finding.helps)) if first else finding
    return list(groups.values())


def can_enter(module: Module, message: str, flags: Sequence[str] = ()) -> bool:
    """Whether `rewritten` changes anything; tried on a clone."""
    return bool(contained("ops of the front end", lambda: rewritten(module.clone(), message, flags), ()))


def has_refused_ops(module: Module) -> bool:
    """Whether ``module``, before global optimisation, has loops, branches or ops on tensors that IREE refuses or crashes on later.

    Those that IREE folds away on the way there do not count: a branch on a constant, a loop of one round.
    """
    if not _may_hold_late_ops(module.op.operation):
        return False  # and the remedies need not be loaded
    from fissile.passes.remedies.entry.lower_control_flow import LowerControlFlow
    from fissile.passes.remedies.entry.lower_tensor_ops import LowerTensorOps

    from ...pass_runner import run_pipeline

    late = (LowerControlFlow(), LowerTensorOps())
    if not any(remedy.found(module.op) for remedy in late):
        return False
    folded = module.clone()
    run_pipeline("builtin.module(canonicalize,cse)", folded.op, report=lambda _finding: None)
    return any(remedy.found(folded.op) for remedy in late)


def _may_hold_late_ops(module: ir.Operation) -> bool:
    """A look at names alone."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _LATE_NAMES:
            found.append(op.name)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return bool(found)


def may_enter(run: CompileRun, failure: Failure) -> bool:
    """Whether ``failure`` may be that of an op that `rewritten` changes; a cheap look, before the input is parsed once more.

    Ops of a front end are refused before there are dispatches, those of one that --iree-input-type does not name on the way to them. Others get further, and may end in a crash.
    """
    if isinstance(failure, PhaseFailed) and phase_index(failure.phase) <= phase_index(BOUNDARIES_PLACED_AT):
        return phase_index(failure.phase) > 0  # at 0 the input was not parsed
    if not isinstance(failure, PhaseFailed | StraightEnded):
        return False
    if isinstance(failure, PhaseFailed) and FRONT_END_LEFT in str(failure):
        return True
    program = run.input.read_bytes()
    if b"torch." in program and failure.message.endswith(f"in phase {INPUT_CONVERTED_AT}"):
        return True
    from fissile.passes.remedies.entry.core.write_host_scalars import may_stand_in

    names = [name.encode() for name in _LATE_NAMES]
    return (
        program.startswith(BYTECODE)
        or any(name in program for name in (*names, *_CRASHING))
        or may_stand_in(program)
    )
