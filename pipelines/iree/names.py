"""IREE's names: phases, pipelines, flags and ops that fissile relies on. They stand here and nowhere else.

Checked against IREE 3.13 (`iree-compile --help`, `iree-opt --help`).
"""

from __future__ import annotations

IREE_VERSION = "3.13"

PHASES = (
    "start",
    "input",
    "abi",
    "preprocessing",
    "global-optimization",
    "dispatch-creation",
    "flow",
    "stream",
    "executable-sources",
    "executable-configurations",
    "executable-targets",
    "hal",
    "vm",
    "end",
)
"""In pipeline order (`--compile-to`)."""

INPUT_CONVERTED_AT = "input"
"""The first phase whose output has no op of a front end."""
FRONT_END_DIALECTS = (
    "torch",
    "torch_c",
    "stablehlo",
    "chlo",
    "vhlo",
    "mhlo",
    "tosa",
    "ml_program",
    "tm_tensor",
    "iree_input",
)
"""Dialects that are gone after `INPUT_CONVERTED_AT`."""
GPU_ATTRIBUTES = (
    b"lowering_config",
    b"compilation_info",
    b"translation_info",
    b"decomposition_config",
    b"iree_gpu",
)
"""Attributes of tensor ops that choose a code generation; llvm-cpu refuses those that were made for a GPU."""
GPU_DIALECTS = ("#iree_gpu.",)
DEVICES_ASSIGNED_AT = "preprocessing"
"""The first phase whose output carries the target attribute: devices are assigned between abi and preprocessing."""
PREPROCESSED_AFTER = "abi"
"""IREE runs --iree-preprocessing-pass-pipeline as the first thing after this phase."""
SCHEDULED_AT = "stream"
"""The first phase whose output says what is submitted when."""
BORDERS_TRIMMED_AT = "preprocessing"
"""The last phase before unit loops are dropped (FoldUnitExtentDims, in global optimisation)."""
BOUNDARIES_PLACED_AT = "global-optimization"
"""A fusion boundary is placed on this phase's output; dispatch creation reads and erases it."""
DISPATCHES_OUTLINED_AT = "flow"
DISPATCH_CREATION = "dispatch-creation"
DISPATCHES_FORMED_AT = "executable-sources"
DISPATCHES_CONFIGURED_AT = "executable-configurations"
TRANSLATED_AT = "executable-targets"

COMPUTE_BARRIER_START = "iree_tensor_ext.compute_barrier.start"

QUANTISATION_AS_GENERICS = (
    "util.func(iree-linalg-ext-decompose-aggregated-ops"
    "{filter-ops=iree_linalg_ext.quantize_affine,iree_linalg_ext.dequantize_affine})"
)
"""What ONNX's and torch's quantisation comes as from IREE 3.13, taken apart as its code generation does later."""

CONFIGURATION_PIPELINE = (
    "builtin.module(hal.executable(iree-hal-configure-target-executable-variants{{target={backend}}}))"
)

SPIRV_BACKENDS = ("vulkan-spirv", "metal-spirv")
"""Executable target backends with SPIR-V code generation; Metal's is translated to Metal Shading Language behind it."""

_SPIRV_LOWERING = (
    "builtin.module(iree-codegen-linalg-to-spirv-pipeline{include-spirv-lowering=false},"
    "func.func(iree-codegen-pad-dynamic-alloc))"
)

LOWERING_PIPELINES = {
    # Each runs on the builtin.module inside a hal.executable.variant and stops before the conversion to
    # LLVM or SPIR-V: with the buffers that the resource check counts. IREE gives a buffer of dynamic size its upper
    # bound first (PadDynamicAlloc), which stands in that last part on the GPUs.
    "rocm": "builtin.module(iree-codegen-llvmgpu-rocdl-lowering-pipeline{include-llvm-lowering=false},"
    "func.func(iree-codegen-pad-dynamic-alloc))",
    "cuda": "builtin.module(iree-codegen-llvmgpu-nvvm-lowering-pipeline{include-llvm-lowering=false},"
    "func.func(iree-codegen-pad-dynamic-alloc))",
    **dict.fromkeys(SPIRV_BACKENDS, _SPIRV_LOWERING),
    "llvm-cpu": "builtin.module(iree-codegen-llvmcpu-lowering-pipeline{include-llvm-lowering=false})",
}
"""Executable target backend -> code generation up to IREE's own resource check, by dispatch."""

CONVERSION_PIPELINES = {
    # The same code generation with its last part, the conversion to LLVM or SPIR-V.
    "rocm": "builtin.module(iree-codegen-llvmgpu-rocdl-lowering-pipeline)",
    "cuda": "builtin.module(iree-codegen-llvmgpu-nvvm-lowering-pipeline)",
    **dict.fromkeys(SPIRV_BACKENDS, "builtin.module(iree-codegen-linalg-to-spirv-pipeline)"),
    "llvm-cpu": "builtin.module(iree-codegen-llvmcpu-lowering-pipeline)",
}
"""Executable target backend -> all of code generation; a backend that is missing has it in LOWERING_PIPELINES."""

WORKGROUP_ALLOCATION_ALIGNMENT = dict.fromkeys(SPIRV_BACKENDS, 64)
"""Each workgroup allocation is rounded up to this many bytes (SPIR-V: alignment of memref.alloc)."""

RESOURCE_CHECKS = {
    "rocm": "builtin.module(func.func(iree-codegen-gpu-check-resource-usage))",
    "cuda": "builtin.module(func.func(iree-codegen-gpu-check-resource-usage))",
    **dict.fromkeys(SPIRV_BACKENDS, "builtin.module(func.func(iree-codegen-gpu-check-resource-usage))"),
    "llvm-cpu": "builtin.module(iree-llvmcpu-check-ir-before-llvm-conversion)",
}
"""Executable target backend -> the pass that refuses what does not fit on chip, by itself."""

RACING_CODEGEN = ("BaseDistribute",)
"""Code generation pipelines that put no barrier between a fused producer and its readers (SPIR-V, 3.13)."""

RECOMPUTING_BACKENDS = ("llvm-cpu",)
"""Backends whose code generation folds producers into a reduction's body and evaluates them per step (3.13)."""

LIBRARY_CALLS = {
    "llvm-cpu": {
        "llvm.intr.log10": (),
        "llvm.intr.trunc": (),
        "llvm.intr.floor": (),
        "llvm.intr.maxnum": ("f16",),
        "llvm.intr.minnum": ("f16",),
        "llvm.sitofp": ("bf16",),
        "llvm.uitofp": ("bf16",),
        "llvm.frem": ("f64",),
        "llvm.call": ("f64",),
        **{
            f"llvm.intr.{name}": ("f64",)
            for name in ("acos", "asin", "atan", "atan2", "ceil", "cos", "log2", "sin", "tan", "tanh")
        },
    },
}
"""Backend -> op -> element types (none: all) for which LLVM may call a function that IREE's linker does not find, on some processor."""
UNDEFINED_SYMBOL = r"undefined symbol: [\w.]+"
"""What the linker prints of it, on standard error (iree-lld)."""
LINKER_SAID = (
    r"(?ms)^iree-lld: error: undefined symbol: .*?^Linking failed;[^\n]*\n(?:\n?LLD_VERSION[^\n]*\n)?\n?"
)
"""All that IREE prints of one link that found undefined symbols."""
SERIALISED_AT = "hal"
"""The first phase whose output holds machine code: executables are translated and linked on the way."""

CONFIGURABLE_BACKENDS = ("rocm", "cuda")
"""Backends that take a lowering configuration from an op (LLVMGPU; SPIR-V races or runs on with one, 3.13)."""

SIGN_LOSING_BACKENDS = SPIRV_BACKENDS
"""Backends that rewrite the sign extension of a bitcast into a zero extension (ConvertToSPIRV, 3.13)."""

VECTOR_MOVING_BACKENDS = SPIRV_BACKENDS
"""Backends that divide the last index of a vector transfer by the vector's size (SPIRVVectorizeLoadStore, 3.13)."""

VIEWS_FOLDED = "builtin.module(canonicalize,cse,func.func(fold-memref-alias-ops),canonicalize,cse)"
"""What stands between a SPIR-V lowering pipeline without its last part and that pass (addMemRefLoweringPasses)."""

NARROW_EMULATED = (
    "builtin.module(func.func(iree-convert-unsupported-float-arith,iree-codegen-emulate-narrow-type,canonicalize,cse,"
    "iree-spirv-vectorize-load-store,canonicalize,cse))"
)
"""What follows VIEWS_FOLDED there, up to and with that pass: buffers have the elements then that SPIR-V gives them."""

NO_ELEMENT_TYPE = "'hal.element_type' op unsupported element type"
"""What IREE says of a tensor in a function's signature whose elements buffer views have no name for."""

PREPROCESSING_FLAG = "iree-preprocessing-pass-pipeline"

DRIVER_FLAGS = {
    # Flags that iree-compile's driver reads itself; the session does not know them.
    "o",
    "compile-mode",
    "compile-from",
    "compile-to",
    "output-format",
    "verify",
    "split-input-file",
    "dump-compilation-phases-to",
    "emit-mlir-bytecode",
    "emit-mlir-bytecode-version",
    "remarks-filter",
    "remarks-output-file",
    "iree-hal-list-target-backends",
    "iree-list-plugins",
}

STOCK_ONLY_FLAGS = {
    "help",
    "h",
    "help-hidden",
    "help-list",
    "help-list-hidden",
    "version",
    "iree-hal-list-target-backends",
    "iree-list-plugins",
    "split-input-file",
    "print-options",
    "print-all-options",
}
"""Flags that ask iree-compile for something other than one guarded compile."""

TOLD_AT_EXIT = ("timing", "stat", "time-", "remark", "profil", "trace", "debug", "dump", "print", "graph")
"""In flags that write as the process ends (`--time-passes`, `--stats`), or may write to buffers that are flushed then."""

FAILURE_MESSAGES = (
    # Device assignment and resolution; the target backends' registry and options; LLVMGPU configuration
    (
        r"no HAL devices defined|missing GPU target in|unregistered device alias|target backend '.*' not registered"
        r"|[Uu]nknown (?:ROCM|CUDA|Vulkan|Metal) target|target not set; did you forget|target backend not registered"
        r"|Unknown CPU for target architecture|createTargetMachine\(.*\) failed",
        "FIS004",
    ),
    (r"does not contain a vm\.module op", "FIS003"),  # VM bytecode serialisation of an empty module
    (r"bytes of shared memory; exceeded the limit", "FIS101"),  # GPUCheckResourceUsage
    (
        r"exceeded stack allocation limit of|stack allocations? need to be hoisted",
        "FIS102",
    ),  # LLVMCPUCheckIRBefore…
    (
        r"unsupported dynamic shared memory|no unbounded stack allocations|without upper bound shapes",
        "FIS105",
    ),  # they
    (r"failed to distribute|failed to pack reduction dimensions", "FIS103"),  # LLVMGPU vector distribution
    (r"failed to legalize (?:unresolved materialization|operation)", "FIS104"),  # dialect conversion
    (r"undefined symbol: ", "FIS104"),  # iree-lld
    (r"types are not supported on", "FIS104"),  # 8-bit floats on AMD (ConvertToROCDL)
    (
        r"LLVM Translation failed|missing `LLVMTranslationDialectInterface`",
        "FIS104",
    ),  # and on CUDA: they stay as they are
)
"""(pattern in IREE's message, fissile's rule): the first match counts; anything else is FIS108 (3.13)."""

PIPELINE_NOT_BUILT = "failed to build pass pipeline"
"""What a backend says of a configuration with the pipeline of another (3.13)."""

ASSERTS_STRIPPED_BY = "iree-opt-strip-assertions"
"""The flag that removes every cf.assert (Util's StripDebugOps, at the beginning of global optimisation)."""
