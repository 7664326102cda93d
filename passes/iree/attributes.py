"""Readers of IREE's attributes: what a dispatch is translated by, how its ops are tiled, which device it is for. IREE 3.13.

IREE's Python bindings have classes for `#iree_codegen.translation_info` and `#iree_gpu.lowering_config`; the target attribute and
the lowering configurations of llvm-cpu and SPIR-V have none, and are read from their text here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from iree.compiler import ir
from iree.compiler._mlir_libs._ireeCompilerDialects import iree_codegen, iree_gpu

EXECUTABLE_TARGET = "#hal.executable.target<"
"""How the text of an executable target attribute begins."""
PACKED_STORAGE = "#iree_encoding.packed_storage"
"""The encoding of i1 tensors with a boolean in each bit."""
TRANSLATION_INFO = "translation_info"
LOWERING_CONFIG = "lowering_config"
COMPILATION_INFO = "compilation_info"

INLINE_NEVER = "#util.inline.never"
NEVER_INLINED = ("inlining_policy", "no_inline")
"""On a util.func and on a func.func: IREE keeps the function apart (`attributes {noinline}` of MLIR's text is the second)."""
CONFIGURATIONS = (COMPILATION_INFO, LOWERING_CONFIG, TRANSLATION_INFO)
"""Attributes by which a program itself chooses tiles or a pipeline (MaterializeUserConfigs)."""


@dataclass(frozen=True)
class TargetFacts:
    """What IREE's executable target attribute says about the device. Limits in bytes; None: not stated."""

    backend: str
    arch: str
    workgroup_bytes: int | None
    stack_bytes: int | None
    storage_bits: frozenset[int]
    """Widths that a storage buffer's element may have; empty where the attribute does not say."""
    compute: frozenset[str] = frozenset()
    """Types that a GPU computes with, as IREE spells them (`fp32`, `int64`); empty where the attribute does not say."""
    subgroup: int = 32
    """Threads of a subgroup: the first that the target offers."""
    smallest_subgroup: int = 1
    """The smallest that it offers (getPreferredSubgroupSize); 1 where it offers none."""
    text: str = field(repr=False, default="")

    @property
    def name(self) -> str:
        return self.arch or self.backend


def read_target(attribute: ir.Attribute) -> TargetFacts:
    """Facts from a `#hal.executable.target`; its text may be 10 KB, so it is never printed."""
    return _read_target_text(str(attribute))


@lru_cache(maxsize=64)
def _read_target_text(text: str) -> TargetFacts:
    def found(pattern: str) -> str | None:
        match = re.search(pattern, text)
        return match[1] if match else None

    def number(pattern: str) -> int | None:
        digits = found(pattern)
        return None if digits is None else int(digits)

    subgroups = _integers(found(r"subgroup_size_choices = \[([\d, ]+)\]") or "")
    return TargetFacts(
        backend=found(r'#hal\.executable\.target<"([^"]+)"') or "",
        arch=found(r'arch = "([^"]*)"') or "",
        workgroup_bytes=number(r"max_workgroup_memory_bytes = (\d+)"),
        stack_bytes=number(r"max_stack_allocation_size = (\d+)"),
        storage_bits=frozenset(_integers(found(r"\bstorage = ((?:b\d+\|?)+)") or "")),
        compute=frozenset((found(r"\bcompute = ((?:\w+\|?)+)") or "").split("|")) - {""},
        subgroup=(subgroups or (32,))[0] or 32,
        smallest_subgroup=min(subgroups, default=1),
        text=text,
    )


@dataclass(frozen=True)
class Translation:
    """`#iree_codegen.translation_info`: the pipeline by which one dispatch is translated, and its threads."""

    pipeline: str = ""
    """Its bare name, such as TileAndFuse; empty where there is none."""
    owner: str = ""
    """The dialect that defines the pipeline: iree_gpu, iree_cpu, iree_codegen."""
    workgroup: tuple[int, ...] = ()
    """Threads of a workgroup along x, y, z; empty where it does not say."""
    subgroup: int | None = None
    options: dict[str, str | int] = field(default_factory=dict)
    """Booleans ("true", "false") and integers of the configuration, by name."""


def translation_of(op: ir.Operation) -> Translation:
    """The translation that ``op``, a dispatch's function, carries."""
    if TRANSLATION_INFO not in op.attributes:
        return Translation()
    return read_translation(op.attributes[TRANSLATION_INFO])


def read_translation(attribute: ir.Attribute) -> Translation:
    """``attribute`` as plain values."""
    if not iree_codegen.TranslationInfoAttr.isinstance(attribute):
        return Translation()
    info = iree_codegen.TranslationInfoAttr(attribute)
    owner, name = _pipeline(str(info.pass_pipeline))
    options: dict[str, str | int] = {}
    for key, value in re.findall(r"(\w+) = (true|false|\d+)", str(info.configuration or "")):
        options[key] = value if value in ("true", "false") else int(value)
    return Translation(name, owner, tuple(info.workgroup_size), info.subgroup_size or None, options)


def _pipeline(text: str) -> tuple[str, str]:
    """Owner and name of `#iree_gpu.pipeline<TileAndFuse>`, `#iree_gpu.spirv_pipeline<…>`, or of a bare name."""
    match = re.match(r"#(\w+)\.\w*pipeline<(\w+)", text)
    return (match[1], match[2]) if match else ("", re.sub(r"\W.*", "", text, flags=re.DOTALL))


@dataclass(frozen=True)
class Lowering:
    """A lowering configuration: how one op is tiled."""

    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Named lists of integers, such as workgroup and reduction."""
    levels: tuple[tuple[int, ...], ...] = ()
    """The unnamed tile levels of `#iree_codegen.lowering_config`."""
    intrinsic: tuple[int, int, int] | None = None
    """M, N and K of the matrix unit."""
    subgroups: tuple[int, ...] = ()
    """Subgroups per loop."""
    keys: tuple[str, ...] = ()
    """Every key of it and of the attributes inside."""


def lowering_of(op: ir.Operation) -> Lowering | None:
    """The lowering configuration that ``op`` carries."""
    return read_lowering(op.attributes[LOWERING_CONFIG]) if LOWERING_CONFIG in op.attributes else None


def read_lowering(attribute: ir.Attribute) -> Lowering:
    """``attribute`` as plain values: `#iree_gpu` by its class, `#iree_cpu` and `#iree_codegen` from text."""
    if iree_gpu.LoweringConfigAttr.isinstance(attribute):
        return _gpu_lowering(iree_gpu.LoweringConfigAttr(attribute))
    text = str(attribute)
    levels: tuple[tuple[int, ...], ...] = ()
    if match := re.search(r"tile_sizes = \[((?:\[[^\]]*\](?:, )?)*)\]", text):
        levels = tuple(_integers(level) for level in re.findall(r"\[([^\]]*)\]", match[1]))
    return Lowering(
        {name: _integers(sizes) for name, sizes in re.findall(r"(\w+) = \[([-\d, ]*)\]", text)},
        levels,
        keys=_keys(text),
    )


def _gpu_lowering(config: iree_gpu.LoweringConfigAttr) -> Lowering:
    entries = {entry.name: entry.attr for entry in config.attributes}
    unit = config.mma_kind
    named = getattr(unit, "mnk_shape", None)  # a scaled unit has no class
    lists = {
        name: tuple(_integer(size) for size in value)
        for name, value in entries.items()
        if isinstance(value, ir.ArrayAttr) and all(isinstance(size, ir.IntegerAttr) for size in value)
    }
    counts, mapping = config.subgroup_basis if "subgroup_basis" in entries else ((), ())
    return Lowering(
        lists,
        intrinsic=tuple(named) if named else _shape(unit),
        subgroups=tuple(counts[position] for position in mapping),
        keys=_keys(str(config)),
    )


def _keys(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[<{,] ?(\w+) = ", text))


def _shape(unit: ir.Attribute | None) -> tuple[int, int, int] | None:
    """The shape in a matrix unit's name."""
    match = re.search(r"_(\d+)x(\d+)x(\d+)_", str(unit)) if unit is not None else None
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _integer(attribute: ir.Attribute) -> int:
    return ir.IntegerAttr(attribute).value


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"-?\d+", text))
