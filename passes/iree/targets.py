"""How a target is spelled on IREE's command line, and what IREE calls its code generator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fissile.target import Target

_BACKENDS = {
    "rocm": "rocm",
    "cuda": "cuda",
    "vulkan": "vulkan-spirv",
    "metal": "metal-spirv",
    "llvm-cpu": "llvm-cpu",
}
_GPU_FLAG = re.compile(r"--iree-hal-target-(device|backends)=.*(amdgpu|cuda|hip|metal|rocm|vulkan|webgpu)")
_SPIRV_FLAG = re.compile(r"--iree-hal-target-(device|backends)=.*(metal|vulkan|webgpu)")
_MODELS = {"vmvx-inline": "--iree-execution-model=inline-static"}
_DRIVERS = {"hip": "hip", "cuda": "cuda", "vulkan": "vulkan", "local": "local-task"}


def backend_of(target: Target) -> str:
    """The executable target backend (`#hal.executable.target<"...">`) that compiles for ``target``."""
    return _BACKENDS[target.family]


def names_gpu(flags: Iterable[str]) -> bool:
    """Whether one of ``flags`` (`--name=value`) selects a target that is a GPU."""
    return any(_GPU_FLAG.match(flag) for flag in flags)


def names_spirv(flags: Iterable[str]) -> bool:
    """Whether one of ``flags`` (`--name=value`) selects a target with SPIR-V, which may have no f64."""
    return any(_SPIRV_FLAG.match(flag) for flag in flags)


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


def runtime_for(flags: Sequence[str]) -> str:
    """The runtime's driver for modules that ``flags`` of iree-compile select a target for; empty where they name none."""
    devices = [value for flag in flags if (value := flag.removeprefix("--iree-hal-target-device=")) != flag]
    return _DRIVERS.get(devices[-1].partition("[")[0], "") if devices else ""


def model_of(flags: Sequence[str]) -> str:
    """The flag of the only execution model that the backend of ``flags`` has code for; empty where it is free."""
    named = {flag.partition("=")[2] for flag in flags if "target" in flag and "backends=" in flag}
    return next((model for backend, model in _MODELS.items() if named == {backend}), "")
