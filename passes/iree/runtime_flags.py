"""How a program is compiled for a runtime of this machine: driver name -> iree-compile flags (IREE 3.13)."""

from __future__ import annotations

FLAGS_BY_BACKEND = {
    "llvm-cpu": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ),
    # IREE's portable interpreter: slow, and it takes what llvm-cpu's stack check refuses.
    "vmvx": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"),
    "vulkan": ("--iree-hal-target-device=vulkan",),
    "cuda": ("--iree-hal-target-device=cuda",),
    "hip": ("--iree-hal-target-device=hip",),
}

BACKEND_OF_RUNTIME = {"local-task": "llvm-cpu", "vulkan": "vulkan", "cuda": "cuda", "hip": "hip"}

RUNTIME_OF_BACKEND = {"llvm-cpu": "local-task", "vulkan-spirv": "vulkan", "cuda": "cuda", "rocm": "hip"}
"""Executable target backend -> the runtime that loads what it makes."""
