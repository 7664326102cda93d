"""Does the program itself say how an op is to be tiled and by which pipeline?"""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler._mlir_libs._ireeCompilerDialects import iree_codegen

from fissile.passes.iree.attributes import (
    COMPILATION_INFO,
    CONFIGURATIONS,
    TRANSLATION_INFO,
    Translation,
    read_translation,
)

_OWNERS = {"iree_gpu": " of IREE's GPU backends", "iree_cpu": " of llvm-cpu"}


def given_configuration(op: ir.Operation) -> str:
    """What the configuration that ``op`` carries is for, in a few words; empty where it carries none."""
    given = [name for name in CONFIGURATIONS if name in op.attributes]
    if not given:
        return ""
    translation = _translation(op)
    kind = translation.pipeline or "tiles only"
    subgroup = f" with subgroups of {translation.subgroup}" if translation.subgroup else ""
    return f"{kind}{_OWNERS.get(translation.owner, '')}{subgroup}"


def _translation(op: ir.Operation) -> Translation:
    if TRANSLATION_INFO in op.attributes:
        return read_translation(op.attributes[TRANSLATION_INFO])
    if COMPILATION_INFO in op.attributes:
        info = op.attributes[COMPILATION_INFO]
        if iree_codegen.CompilationInfoAttr.isinstance(info):
            return read_translation(iree_codegen.CompilationInfoAttr(info).translation_info)
    return Translation()
