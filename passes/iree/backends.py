"""Executable target backends of IREE: how each generates code, and what is known of that. IREE 3.13."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .flags import TRANSFORM_LIBRARY_FLAG, TUNING_SPEC_FLAG

_CHECKED = "builtin.module(func.func(iree-codegen-gpu-check-resource-usage))"
_BOUNDED = "builtin.module(func.func(iree-codegen-pad-dynamic-alloc))"
_F64_ONLY = ("acos", "asin", "atan", "atan2", "ceil", "cos", "log2", "sin", "tan", "tanh")


@dataclass(frozen=True)
class Backend:
    """One executable target backend, by the name in `#hal.executable.target<"...">`.

    The pipelines run on the builtin.module inside a hal.executable.variant.
    """

    name: str
    lowering: str = ""
    """Code generation up to the conversion to LLVM or SPIR-V. Empty: fissile cannot probe this backend."""
    bounding: str = ""
    """What IREE's own resource check counts on beside that: a buffer of dynamic size has its upper bound (PadDynamicAlloc), which on
    GPUs is the conversion's part. Empty: nothing."""
    conversion: str = ""
    """All of code generation, the conversion included; empty where there is none to run."""
    conversion_resumes: bool = False
    """Whether ``conversion`` on what ``lowering`` made gives what it gives alone."""
    resource_check: str = ""
    """The pass, by itself, that refuses what does not fit on chip."""
    alignment: int = 1
    """Each workgroup allocation is rounded up to this many bytes."""
    spirv: bool = False
    """Whether it generates SPIR-V."""
    gpu: bool = False
    """Whether a thread of its code is one of thousands: what one runs alone takes as long as all of them could."""
    takes_configuration: bool = False
    """Whether an op may bring a lowering configuration (SPIR-V races or runs on with one)."""
    spec_flag: str = ""
    """The flag by which its code generation reads a tuning spec; empty: none."""
    configures_attention: bool = False
    """Whether it chooses a configuration for attention ops itself, and so may fail over one."""
    recomputes: bool = False
    """Whether producers are folded into a reduction's body and evaluated in every step."""
    vectorises_convolutions: str = ""
    """The code generation pipeline by which it vectorises a convolution; empty: it has none of its own."""
    racing: frozenset[str] = frozenset()
    """Its code generation pipelines that put no barrier between a fused producer and its readers."""
    drops_signs: bool = False
    """Whether the sign extension of a bitcast is rewritten into a zero extension (ConvertToSPIRV)."""
    plain_byte_writes: bool = False
    """Whether an element below a byte is written by reading its byte and writing it back, without an atomic op (AMDGPUEmulateNarrowType)."""
    signed_products: bool = False
    """Whether an integer matrix instruction is chosen by the width of its operands, and all that are known take signed ones."""
    divides_indices: bool = False
    """Whether the last index of a vector transfer is divided by the vector's size (SPIRVVectorizeLoadStore)."""
    library_calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Op -> element types (none: all) for which LLVM may call a function that IREE's linker does not find, on some processor."""
    usual_ops: int = 0
    """LLVM translates code of fewer ops, and of vectors with fewer than ``usual_elements``, within seconds; 0: any code.

    Measured on 700 dispatches of random patterns on gfx942, sm_86 and llvm-cpu: the most ops of code that takes less than a second
    were 3446 (llvm-cpu: 8446); 3244 with vectors of 128 elements take half a minute, 388 with 1000 elements 4 s, and 2048 elements minutes.
    """
    usual_elements: int = 0


_SPIRV = Backend(
    "vulkan-spirv",
    lowering="builtin.module(iree-codegen-linalg-to-spirv-pipeline{include-spirv-lowering=false})",
    bounding=_BOUNDED,
    conversion="builtin.module(iree-codegen-linalg-to-spirv-pipeline)",
    resource_check=_CHECKED,
    alignment=64,  # of memref.alloc
    spirv=True,
    gpu=True,
    racing=frozenset({"BaseDistribute"}),
    drops_signs=True,
    divides_indices=True,
    spec_flag=TRANSFORM_LIBRARY_FLAG,
)


def _llvmgpu(name: str, pipeline: str) -> Backend:
    return Backend(
        name,
        lowering=f"builtin.module({pipeline}{{include-llvm-lowering=false}})",
        bounding=_BOUNDED,
        conversion=f"builtin.module({pipeline})",
        conversion_resumes=True,
        resource_check=_CHECKED,
        gpu=True,
        takes_configuration=True,
        spec_flag=TUNING_SPEC_FLAG,
        configures_attention=True,
        usual_ops=3000,
        usual_elements=512,
    )


BACKENDS = {
    backend.name: backend
    for backend in (
        replace(
            _llvmgpu("rocm", "iree-codegen-llvmgpu-rocdl-lowering-pipeline"),
            signed_products=True,
            plain_byte_writes=True,
        ),
        _llvmgpu("cuda", "iree-codegen-llvmgpu-nvvm-lowering-pipeline"),
        _SPIRV,
        replace(_SPIRV, name="metal-spirv"),  # translated to Metal Shading Language behind it
        Backend(
            "llvm-cpu",
            lowering="builtin.module(iree-codegen-llvmcpu-lowering-pipeline{include-llvm-lowering=false})",
            conversion="builtin.module(iree-codegen-llvmcpu-lowering-pipeline)",
            conversion_resumes=True,
            resource_check="builtin.module(func.func(iree-llvmcpu-check-ir-before-llvm-conversion))",
            recomputes=True,
            vectorises_convolutions="ConvTileAndDecomposeExpert",
            spec_flag=TUNING_SPEC_FLAG,
            library_calls={
                "llvm.intr.log10": (),
                "llvm.intr.trunc": (),
                "llvm.intr.floor": (),
                "llvm.intr.maxnum": ("f16",),
                "llvm.intr.minnum": ("f16",),
                "llvm.sitofp": ("bf16",),
                "llvm.uitofp": ("bf16",),
                "llvm.frem": ("f64",),
                "llvm.call": ("f64",),
                **{f"llvm.intr.{name}": ("f64",) for name in _F64_ONLY},
            },
            usual_ops=10_000,
            usual_elements=4096,
        ),
    )
}
"""The backends that fissile can probe, by name."""


def backend_named(name: str) -> Backend:
    """The record of ``name``; for a backend that is not in the table one with nothing known of it."""
    return BACKENDS.get(name) or Backend(name)
