"""Textual pass pipelines of IREE that fissile runs as IREE runs them. IREE 3.13."""

from __future__ import annotations

QUANTISATION_AS_GENERICS = (
    "util.func(iree-linalg-ext-decompose-aggregated-ops"
    "{filter-ops=iree_linalg_ext.quantize_affine,iree_linalg_ext.dequantize_affine})"
)
"""What ONNX's and torch's quantisation comes as from IREE 3.13, decomposed as its code generation does later."""

CONFIGURATION_PIPELINE = (
    "builtin.module(hal.executable(iree-hal-configure-target-executable-variants{{target={backend}}}))"
)

VIEWS_FOLDED = "builtin.module(canonicalize,cse,func.func(fold-memref-alias-ops),canonicalize,cse)"
"""What stands between a SPIR-V lowering pipeline without its last part and that pass (addMemRefLoweringPasses)."""

NARROW_EMULATED = (
    "builtin.module(func.func(iree-convert-unsupported-float-arith,iree-codegen-emulate-narrow-type,canonicalize,cse,"
    "iree-spirv-vectorize-load-store,canonicalize,cse))"
)
"""What follows VIEWS_FOLDED there, up to and with that pass: buffers have the elements then that SPIR-V gives them."""

TRANSLATION_INFO = "translation_info"
PIPELINE_CHOICE = r"pipeline = (#[\w.]+<\w+>|[#\w.]+)"
"""A regular expression: which code generation pipeline the attribute TRANSLATION_INFO of a function chooses."""
NO_PIPELINE = "#iree_codegen.no_pipeline"
"""The choice of none: the function is lowered."""

LAYOUT_OF_SLICES = "builtin.module(util.func(iree-stream-layout-slices,canonicalize,cse),util.initializer(iree-stream-layout-slices,canonicalize,cse))"
"""What decides the offsets in a slab of transients."""

STREAM_UP_TO_ALLOCATION = (
    "builtin.module(iree-util-verify-initialization-order,iree-stream-tensor-transformation-pipeline,"
    "iree-stream-async-transformation-pipeline,iree-stream-schedule-allocation)"
)
STREAM_FROM_ALLOCATION = "builtin.module(iree-stream-cmd-transformation-pipeline,iree-stream-optimization-pipeline,iree-stream-cleanup-pipeline,symbol-dce)"
"""Phase stream in two parts: in between, the transients of a region have lifetimes and no offsets yet. A second
iree-stream-schedule-allocation, with which the second part begins, finds nothing to do."""

_HOST_CLEANED = "util.func(canonicalize,cse),util.initializer(canonicalize,cse)"
OFFSETS_PASSED_ON = (
    "builtin.module(util.func(iree-stream-pack-constants,iree-stream-layout-slices,canonicalize),"
    "util.initializer(iree-stream-pack-constants,iree-stream-layout-slices,canonicalize),iree-util-propagate-subranges,"
    f"{_HOST_CLEANED},iree-util-fold-globals,iree-util-ipo,{_HOST_CLEANED})"
)
"""What follows STREAM_UP_TO_ALLOCATION in phase stream, up to where loops and branches pass on a buffer, its size and an offset for each tensor, and
globals that are constants are folded."""
INTEGERS_FOLDED = "builtin.module(iree-util-optimize-int-arithmetic)"
"""What replaces host integers that are constants as far as their ranges are known, next in that phase."""

RELEASES_AT_RUN_TIME = "func.func(ownership-based-buffer-deallocation,buffer-deallocation-simplification,bufferization-lower-deallocations)"
"""MLIR's placement of releases for one function, with flags where the path decides who owns a buffer."""

AFFINE_LOWERED = "builtin.module(lower-affine)"
"""MLIR's lowering of affine loops, branches and index arithmetic to scf and arith."""

STABLEHLO_INPUT = "iree-stablehlo-input-transformation-pipeline"
"""IREE's input phase for StableHLO."""

TORCH_INPUT = "torch-to-iree"
"""IREE's input phase for torch and ONNX, which changes how a program is called."""
INPUT_CONVERSIONS = {
    STABLEHLO_INPUT: ("stablehlo.", "chlo."),
    "iree-tosa-input-transformation-pipeline": ("tosa.",),
    TORCH_INPUT: ("torch.", "torch_c."),
}
"""The input conversion of each front end -> the dialects of its ops. --iree-input-type=auto runs one of them (AutoInputConversion.cpp)."""
STABLEHLO_CONVERSION = "vhlo-legalize-to-stablehlo"
"""The pass of it that makes StableHLO of the portable form."""
PORTABLE = "vhlo."
"""The ops of that form."""

TORCH_INPUT = "builtin.module(torch-to-iree)"
"""IREE's input phase for a program of PyTorch's."""
ONNX_INPUT = "builtin.module(torch-onnx-to-torch-backend-pipeline,torch-to-iree)"
"""The same for a model of ONNX's."""
TORCH_SIZES = "builtin.module(torch-shape-refinement-pipeline,symbol-dce)"
"""What gives the types of such a program the sizes that follow from it; IREE runs it for ONNX alone."""
