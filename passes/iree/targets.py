"""How a target is spelled on IREE's command line, and what IREE calls its code generator."""

from __future__ import annotations

from fissile.target import Target

_BACKENDS = {
    "rocm": "rocm",
    "cuda": "cuda",
    "vulkan": "vulkan-spirv",
    "metal": "metal-spirv",
    "llvm-cpu": "llvm-cpu",
}


def backend_of(target: Target) -> str:
    """The executable target backend (`#hal.executable.target<"...">`) that compiles for ``target``."""
    return _BACKENDS[target.family]


def flags_for(target: Target) -> list[str]:
    """The `iree-compile` session flags that select ``target`` (IREE 3.13)."""
    if target.family == "rocm":
        return ["--iree-hal-target-device=hip", f"--iree-rocm-target={target.arch}"]
    if target.family == "cuda":
        return ["--iree-hal-target-device=cuda", f"--iree-cuda-target={target.arch}"]
    if target.family == "vulkan":
        named = [f"--iree-vulkan-target={target.arch}"] if target.arch else []
        return ["--iree-hal-target-device=vulkan", *named]
    if target.family == "metal":
        return ["--iree-hal-target-device=metal"]
    return [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        f"--iree-llvmcpu-target-cpu={target.arch}",
    ]
