"""IREE's names: phases, pipelines, flags and ops that fissile relies on. They stand here and nowhere else.

Checked against IREE 3.13 (`iree-compile --help`, `iree-opt --help`).
"""

from __future__ import annotations

IREE_VERSION = "3.13"

PHASES = (
    "start", "input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow", "stream",
    "executable-sources", "executable-configurations", "executable-targets", "hal", "vm", "end",
)
"""In pipeline order (`--compile-to`)."""

DEVICES_ASSIGNED_AT = "preprocessing"
"""The first phase whose output carries the target attribute: devices are assigned between abi and preprocessing."""
BOUNDARIES_PLACED_AT = "global-optimization"
"""A fusion boundary is placed on this phase's output; dispatch creation reads and erases it."""
DISPATCHES_FORMED_AT = "executable-sources"
DISPATCHES_CONFIGURED_AT = "executable-configurations"
TRANSLATED_AT = "executable-targets"

COMPUTE_BARRIER_START = "iree_tensor_ext.compute_barrier.start"

CONFIGURATION_PIPELINE = "builtin.module(hal.executable(iree-hal-configure-target-executable-variants{{target={backend}}}))"

LOWERING_PIPELINES = {
    # Each runs on the builtin.module inside a hal.executable.variant and stops before the conversion to
    # LLVM or SPIR-V, that is: after the resource check.
    "rocm": "builtin.module(iree-codegen-llvmgpu-rocdl-lowering-pipeline{include-llvm-lowering=false})",
    "cuda": "builtin.module(iree-codegen-llvmgpu-nvvm-lowering-pipeline{include-llvm-lowering=false})",
    "vulkan-spirv": "builtin.module(iree-codegen-linalg-to-spirv-pipeline{include-spirv-lowering=false})",
    "llvm-cpu": "builtin.module(iree-codegen-llvmcpu-lowering-pipeline)",
}
"""Executable target backend -> code generation up to IREE's own resource check, by dispatch."""

WORKGROUP_ALLOCATION_ALIGNMENT = {"vulkan-spirv": 64}
"""Each workgroup allocation is rounded up to this many bytes (SPIR-V: alignment of memref.alloc)."""

PREPROCESSING_FLAG = "iree-preprocessing-pass-pipeline"

DRIVER_FLAGS = {
    # Flags that iree-compile's driver reads itself; the session does not know them.
    "o", "compile-mode", "compile-from", "compile-to", "output-format", "verify", "split-input-file",
    "dump-compilation-phases-to", "emit-mlir-bytecode", "emit-mlir-bytecode-version", "remarks-filter",
    "remarks-output-file", "iree-hal-list-target-backends", "iree-list-plugins",
}

RESOURCE_CHECK_MESSAGES = (
    "bytes of shared memory; exceeded the limit",  # GPUCheckResourceUsage
    "exceeded stack allocation limit of",  # LLVMCPUCheckIRBeforeLLVMConversion
)
"""What IREE's resource checks say when a dispatch does not fit (3.13)."""
