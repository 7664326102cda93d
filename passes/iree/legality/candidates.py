"""What an audit needs to know of IREE: where a run stops, which flags and passes may settle a refusal, which element types there are. IREE 3.13.

These are candidates. Which of them helps an op is measured, never read from here.
"""

from __future__ import annotations

STEPS = (
    "input",
    "preprocessing",
    "global-optimization",
    "flow",
    "stream",
    "executable-configurations",
    "executable-targets",
    "end",
)
"""The boundaries at which a run stops, so that a failure names the one that it did not reach."""

FOR_ALL_TARGETS = ("input", "preprocessing", "global-optimization", "flow", "stream")
"""Those of STEPS before which IREE does the same for every target: what it refuses on the way there, it refuses for all."""

PASS_FLAGS = (
    "--mlir-print-ir-after-failure",
    "--mlir-elide-elementsattrs-if-larger=16",
    "--mlir-elide-resource-strings-if-larger=16",
)
"""Process-global flags with which IREE prints the name of a pass that fails."""

INPUT_TYPE_FLAG = "--iree-input-type"
INPUT_TYPES = ("auto", "torch", "onnx", "stablehlo", "stablehlo_xla", "tosa", "none")

SETTLING_FLAGS = {
    "--iree-input-demote-f64-to-f32=false": ("f64", "torch."),
    "--iree-input-demote-f64-to-f32=true": ("f64", "torch."),
    "--iree-input-demote-i64-to-i32=true": ("i64", "torch."),
    "--iree-input-promote-bf16-to-f32=true": ("bf16",),
    "--iree-input-promote-f16-to-f32=true": ("f16",),
    "--iree-torch-decompose-complex-ops=true": ("torch.",),
    "--iree-torch-decompose-complex-ops=false": ("torch.",),
}
"""Session flags that change what an op is made of, each with what a program has that it can change; each is tried alone.

PyTorch's numbers become f64 and i64 in the import.
"""

CHANGES_NUMBERS = ("demote", "promote")
"""Words in those of SETTLING_FLAGS after which the program computes in another precision."""

SETTLING_PASSES = (
    "builtin.module(func.func(linalg-generalize-named-ops))",
    "builtin.module(func.func(iree-linalg-ext-decompose-aggregated-ops))",
    "builtin.module(func.func(iree-codegen-math-transform))",
    "builtin.module(func.func(iree-convert-bf16-arith-to-f32))",
    "builtin.module(func.func(convert-elementwise-to-linalg))",
)
"""Passes that rewrite an op into others; each is run on the op alone before IREE takes it."""

OPEN_TYPE = "unk"
"""The element type of a tensor of PyTorch's whose type the model leaves open."""

NARROWER = {
    "f64": "f32",
    "si64": "si32",
    "ui64": "ui32",
    "i64": "i32",
    "bf16": "f32",
    "f16": "f32",
    "f8E4M3FN": "f32",
    "f8E4M3FNUZ": "f32",
    "f8E5M2": "f32",
    "f8E5M2FNUZ": "f32",
    "f8E4M3B11FNUZ": "f32",
    "f8E8M0FNU": "f32",
    "f6E2M3FN": "f32",
    "f6E3M2FN": "f32",
    "f4E2M1FN": "f32",
    "si8": "si32",
    "ui8": "ui32",
    "i4": "i8",
    "i2": "i8",
    "i8": "i32",
    "i16": "i32",
    "i128": "i64",
    "tf32": "f32",
    "f80": "f64",
    "f128": "f64",
    "index": "i32",
    OPEN_TYPE: "f32",
}
"""Element type -> the one that is put in its place to see whether the type is what an op fails for."""

ABI_ELEMENTS = frozenset(("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"))
"""Element types that every function of IREE's takes: no others are measured."""

REFERENCE_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)
"""llvm-cpu: whether an op is refused on one target only."""

SETTLED_AT = "end"
"""A way out has to lead as far as this: with --iree-input-type=none, a torch op is met behind code generation only."""

TARGET_FLAGS = (
    "--iree-hal-target",
    "--iree-hal-local-target",
    "--iree-rocm-",
    "--iree-cuda-",
    "--iree-vulkan-",
    "--iree-llvmcpu-target",
    "--iree-metal-",
)
"""Beginnings of the flags that name a target."""

OPENED_OPS = (
    "scf.",
    "torch.prim.If",
    "torch.prim.Loop",
    "stablehlo.while",
    "stablehlo.if",
    "stablehlo.case",
    "tosa.cond_if",
    "tosa.while_loop",
)
"""Ops of control flow: the ops inside are compiled one by one. The body of any other op belongs to it."""

TERMINATORS = (
    ".return",
    ".yield",
    "torch.prim.If.yield",
    "torch.prim.Loop.condition",
    "cf.br",
    "cf.cond_br",
    "cf.switch",
    "scf.reduce",
    "scf.forall.in_parallel",
    "scf.condition",
    "util.unreachable",
)
"""Ends of the names of ops that end a block."""

FRONT_ENDS = {
    "torch": ("PyTorch", "torch"),
    "torch_c": ("PyTorch", "torch"),
    "tm_tensor": ("PyTorch", "torch"),
    "onnx": ("ONNX", "onnx"),
    "stablehlo": ("StableHLO", "stablehlo"),
    "chlo": ("StableHLO", "stablehlo"),
    "vhlo": ("StableHLO", "stablehlo"),
    "mhlo": ("StableHLO", "stablehlo"),
    "tosa": ("TOSA", "tosa"),
}
"""Dialect -> the front end's name, and its value of INPUT_TYPE_FLAG."""
