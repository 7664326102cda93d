"""Targets that IREE 3.13 compiles for, with the on-chip memory each one has and who says so.

IREE's figures mirror `Codegen/Dialect/GPU/TargetUtils/KnownTargets.cpp` and were read back from the 3.13
wheel (`max_workgroup_memory_bytes` of the target attribute); `tests/py/fit/test_target.py` reads them again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .errors import UsageError, closest
from .finding import Limit

IREE_TABLE = "IREE 3.13's target table"
CUDA_GUIDE = "NVIDIA CUDA C++ Programming Guide, shared memory per thread block"
LLVM_AMDGPU = "LLVM AMDGPU backend, addressable local memory"
NVIDIA_VULKAN = (
    "NVIDIA's Vulkan drivers, maxComputeSharedMemorySize (vulkan.gpuinfo.org report 11252; Mesa NVK)"
)
METAL_TABLES = "Apple, Metal Feature Set Tables, maximum total threadgroup memory allocation"
VULKAN_MINIMUM = "Vulkan specification, least maxComputeSharedMemorySize"
IREE_STACK_LIMIT = "IREE 3.13's --iree-llvmcpu-stack-allocation-limit"


@dataclass(frozen=True)
class Claim:
    """One source's figure in bytes."""

    bytes: int
    source: str


@dataclass(frozen=True)
class Target:
    """A compilation target and the bytes of on-chip memory that one workgroup of it may use.

    ``family`` is ``rocm``, ``cuda``, ``vulkan``, ``metal`` or ``llvm-cpu``; ``arch`` is what IREE calls the target
    (empty: the family's default). ``claims`` holds every figure with its source; the smallest counts.
    """

    name: str
    family: str
    arch: str
    claims: tuple[Claim, ...]

    @property
    def limit(self) -> Limit:
        """The smallest of the claimed limits, in bytes, with its source."""
        least = min(self.claims, key=lambda claim: claim.bytes)
        agreeing = [claim.source for claim in self.claims if claim.bytes == least.bytes]
        return Limit(least.bytes, self.per, "; ".join(agreeing))

    @property
    def per(self) -> str:
        """What the limit applies to: a workgroup, or the stack frame of a CPU thread."""
        return "stack frame" if self.is_cpu else "workgroup"

    @property
    def is_cpu(self) -> bool:
        return self.family == "llvm-cpu"

    @property
    def workgroup_bytes(self) -> int | None:
        """The limit of workgroup memory; None on a CPU, which has none."""
        return None if self.is_cpu else self.limit.bytes

    @property
    def stack_bytes(self) -> int | None:
        """The limit of one dispatch's stack; None on a GPU."""
        return self.limit.bytes if self.is_cpu else None

    @property
    def compiler_bytes(self) -> int | None:
        """The limit that IREE itself checks; None if its figure is not among the claims (a --budget)."""
        own = [c.bytes for c in self.claims if c.source in (IREE_TABLE, IREE_STACK_LIMIT)]
        return own[0] if own else None

    @property
    def disagrees(self) -> bool:
        """Whether the sources claim different limits (FIS120)."""
        return len({claim.bytes for claim in self.claims}) > 1

    def with_budget(self, budget_bytes: int) -> Target:
        """The same target as a hypothetical device with ``budget_bytes`` of on-chip memory."""
        return replace(self, claims=(Claim(budget_bytes, "--budget"),))

    def with_device(self, limit_bytes: int, device: str) -> Target:
        """The same target with the limit that the device of this machine reports."""
        return replace(self, claims=(*self.claims, Claim(limit_bytes, f"queried from {device}")))


_KIB = 1024

_ROCM = {  # IREE's figure and LLVM's (FeatureAddressableLocalMemorySize*), in KiB
    "gfx908": (64, 64),
    "gfx90a": (64, 64),
    "gfx942": (64, 64),
    "gfx950": (160, 160),
    "gfx1100": (64, 64),
    "gfx1101": (64, 64),
    "gfx1103": (64, 64),
    "gfx1150": (64, 64),
    "gfx1151": (64, 64),
    "gfx1200": (64, 64),
    "gfx1201": (64, 64),
    "gfx1250": (320, 320),
    # Product names select chip details as well (number of compute units), which change IREE's tiles.
    "mi100": (64, 64),
    "mi210": (64, 64),
    "mi250": (64, 64),
    "mi250x": (64, 64),
    "mi300a": (64, 64),
    "mi300x": (64, 64),
    "mi308x": (64, 64),
    "mi325x": (64, 64),
    "mi350x": (160, 160),
    "mi355x": (160, 160),
    "rx7700xt": (64, 64),
    "rx7800xt": (64, 64),
    "rx7900xt": (64, 64),
    "rx7900xtx": (64, 64),
    "w7700": (64, 64),
    "w7800": (64, 64),
    "w7900": (64, 64),
    "v710": (64, 64),
    "rx9060xt": (64, 64),
    "rx9070": (64, 64),
    "rx9070xt": (64, 64),
    "r9700": (64, 64),
    "strix-point": (64, 64),
    "strix-halo": (64, 64),
    "phoenix": (64, 64),
}

_CUDA = {  # IREE's figure and NVIDIA's, in KiB
    "sm_60": (48, 48),
    "sm_61": (48, 48),
    "sm_62": (48, 48),
    "sm_70": (96, 96),
    "sm_72": (96, 96),
    "sm_75": (64, 64),
    "sm_80": (163, 163),
    "sm_86": (163, 99),
    "sm_87": (163, 163),
    "sm_89": (99, 99),
    "sm_120": (99, 99),
    "sm_121": (99, 99),
    "a100": (163, 163),
    "rtx3070": (163, 99),
    "rtx3070ti": (163, 99),
    "rtx3080": (163, 99),
    "rtx3080ti": (163, 99),
    "rtx3090": (163, 99),
    "rtx3090ti": (163, 99),
    "rtx4060": (99, 99),
    "rtx4070": (99, 99),
    "rtx4080": (99, 99),
    "rtx4090": (99, 99),
}

_MALI = ("g1", "g57", "g77", "g78", "g310", "g510", "g615", "g710", "g715", "g720", "g725")
_RDNA_OLDER = (*(f"gfx101{n}" for n in range(4)), *(f"gfx103{n}" for n in range(7)), "gfx1102")
"""AMD GPUs that IREE's table has for Vulkan and not for HIP."""

_VULKAN = {  # IREE's figure in KiB and, where one is published, the vendor's with its source
    **{name: (kib, None, "") for name, (kib, _) in _ROCM.items()},
    **{name: (kib, 48, NVIDIA_VULKAN) for name, (kib, _) in _CUDA.items()},
    **{f"mali-{name}": (32, None, "") for name in _MALI},
    **{name: (64, None, "") for name in (*_RDNA_OLDER, "cdna1", "cdna2", "cdna3")},
    "cdna4": (160, None, ""),
    "vp_android_baseline_2022": (16, 16, VULKAN_MINIMUM),
    "pascal": (48, 48, NVIDIA_VULKAN),
    "volta": (96, 48, NVIDIA_VULKAN),
    "turing": (64, 48, NVIDIA_VULKAN),
    "ampere": (163, 48, NVIDIA_VULKAN),
    "ada": (99, 48, NVIDIA_VULKAN),
    "rdna1": (64, None, ""),
    "rdna2": (64, None, ""),
    "rdna3": (64, None, ""),
    "rdna4": (64, None, ""),
    "valhall": (32, None, ""),
    "valhall1": (32, None, ""),
    "valhall2": (32, None, ""),
    "valhall3": (32, None, ""),
    "valhall4": (32, None, ""),
    "arm5gen": (32, None, ""),
    "adreno": (32, None, ""),
    "videocore_vii": (16, None, ""),
    "llvmpipe": (32, None, ""),
}

_NUMBERED = re.compile(r"sm_\d+[a-z]?|gfx[0-9a-f]+")
"""What CUDA and HIP call an architecture."""

_ADRENO = re.compile(r"(?:vulkan:)?(adreno-\d{3}l?)")
"""IREE takes any number, for the same device."""

_CPUS = ("host", "generic", "x86-64-v3", "x86-64-v4")
_CPU_STACK_BYTES = 32 * _KIB
"""IREE 3.13: LLVMCPUCheckIRBeforeLLVMConversion refuses a dispatch that needs more."""


def _claims(ours_kib: int, theirs_kib: int | None, source: str) -> tuple[Claim, ...]:
    first = (Claim(ours_kib * _KIB, IREE_TABLE),)
    return first if theirs_kib is None else (*first, Claim(theirs_kib * _KIB, source))


def _table() -> dict[str, Target]:
    rows = [Target("vulkan", "vulkan", "", _claims(16, 16, VULKAN_MINIMUM))]
    rows += [Target(n, "rocm", n, _claims(*kib, LLVM_AMDGPU)) for n, kib in _ROCM.items()]
    rows += [Target(n, "cuda", n, _claims(*kib, CUDA_GUIDE)) for n, kib in _CUDA.items()]
    rows += [Target(f"vulkan:{n}", "vulkan", n, _claims(*row)) for n, row in _VULKAN.items()]
    rows.append(Target("metal", "metal", "apple", _claims(32, 32, METAL_TABLES)))
    stack = (Claim(_CPU_STACK_BYTES, IREE_STACK_LIMIT),)
    rows += [Target("llvm-cpu" if c == "host" else f"llvm-cpu:{c}", "llvm-cpu", c, stack) for c in _CPUS]
    return {row.name: row for row in rows}


KNOWN_TARGETS: dict[str, Target] = _table()
"""Every target by its canonical name."""

_FAMILY_PREFIXES = {"hip:": "rocm", "rocm:": "rocm", "cuda:": "cuda", "cpu:": "llvm-cpu"}


def find_target(name: str) -> Target:
    """The target called ``name``: `gfx942`, `sm_86`, `vulkan`, `vulkan:ampere` (or `ampere`), `metal`, `llvm-cpu`.

    Raises UsageError, with the known names, for any other.
    """
    wanted = name.strip().lower()
    for prefix, family in _FAMILY_PREFIXES.items():
        if wanted.startswith(prefix):
            found = KNOWN_TARGETS.get(wanted.removeprefix(prefix))
            if found and found.family == family:
                return found
    for_vulkan, is_number = f"vulkan:{wanted}", _NUMBERED.fullmatch(wanted)
    for spelled in (wanted,) if is_number else (wanted, for_vulkan):
        if spelled in KNOWN_TARGETS:
            return KNOWN_TARGETS[spelled]
    if numbered := _ADRENO.fullmatch(wanted):
        return replace(KNOWN_TARGETS["vulkan:adreno"], name=f"vulkan:{numbered[1]}", arch=numbered[1])
    if wanted in ("cpu", "local", "llvm-cpu:host"):
        return KNOWN_TARGETS["llvm-cpu"]
    if is_number:
        why = f"IREE 3.13 has no entry for '{name}' (it would compile with no limits known, or not at all)"
        if for_vulkan in KNOWN_TARGETS:
            raise UsageError(why, f"{for_vulkan}, if it is for Vulkan")
        names = _names_of(wanted[:3])
        near = closest(wanted, names)
        suggestion = f"{near} " if near.startswith("did") else ""
        raise UsageError(why, f"{suggestion}known: {', '.join(names)}")
    short = [name.removeprefix("vulkan:") for name in KNOWN_TARGETS]
    near = closest(wanted, [*KNOWN_TARGETS, *short])
    raise UsageError(
        f"unknown target '{name}'",
        f"{near} `fissile targets` lists all"
        if near
        else "`fissile targets` lists them, gfx942 and vulkan for example",
    )


LAVAPIPE = "llvmpipe"
"""What IREE, and Mesa in the device's name, call lavapipe."""


def may_be_lavapipe(arch: str) -> bool:
    """Whether the device behind ``arch`` may be lavapipe, which ends long loops: a target that names no product may be."""
    return arch in ("", "vulkan", "vulkan:device") or arch.startswith("vp_") or LAVAPIPE in arch


def repairs_slow(arch: str, changed: bool) -> bool:
    """Whether what is right, and slow on lavapipe, is repaired for ``arch`` without a request: where it names lavapipe. In a program
    that is ``changed`` anyway, of which there is no code of stock's to keep, also where it may be lavapipe."""
    return LAVAPIPE in arch or changed and may_be_lavapipe(arch)


def device_claim(backend: str, arch: str) -> Claim | None:
    """The smallest published figure of the device that IREE's target attribute names, where there is one.

    ``backend`` is the executable target's (`cuda`, `vulkan-spirv`), ``arch`` what the attribute calls the device.
    IREE names NVIDIA's GPUs alike for both, but Vulkan gives a workgroup less.
    """
    if backend == "vulkan-spirv":
        return Claim(48 * _KIB, NVIDIA_VULKAN) if arch.startswith("sm_") else None
    known = KNOWN_TARGETS.get(arch)
    if known is None or known.is_cpu or known.family in ("vulkan", "metal"):
        return None
    return min(known.claims, key=lambda claim: claim.bytes)


def _names_of(prefix: str) -> list[str]:
    return [name for name in KNOWN_TARGETS if name.startswith(prefix)]


_UNITS = {"": 1, "b": 1, "k": _KIB, "kb": _KIB, "kib": _KIB, "m": _KIB**2, "mb": _KIB**2, "mib": _KIB**2}


def parse_budget(text: str) -> int:
    """Bytes from `65536`, `64K`, `64KiB`, `1M` (K is 1024). Raises UsageError for anything else."""
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if not match or match[2] not in _UNITS or int(match[1]) == 0:
        raise UsageError(f"'{text}' is not a number of bytes", "write for example 65536, 64K or 64KiB")
    return int(match[1]) * _UNITS[match[2]]
