"""Dialects, ops and attributes of IREE that are known by name only: by prefix, or as text in a module. IREE 3.13."""

from __future__ import annotations

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

EXECUTABLE_SOURCE = "hal.executable.source"
"""A dispatch written by hand, for --compile-mode=hal-executable; the phases of a whole program convert its body as if it were host code."""

COMPUTE_BARRIER_START = "iree_tensor_ext.compute_barrier.start"

DEVICE_GLOBAL_ATTRIBUTE = "#hal.device.target<"
"""What IREE's device assignment leaves in a module for each device, with its executable targets inside."""
