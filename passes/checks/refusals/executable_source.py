"""Is a refused program an executable on its own, which IREE compiles in another mode?"""

from __future__ import annotations

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.iree.ops import HAL_EXECUTABLE_SOURCE

WAY_OUT = (
    f"the program holds a {HAL_EXECUTABLE_SOURCE}, whose body IREE takes for host code here: "
    "--compile-mode=hal-executable compiles it"
)


def note_executable_source(finding: Finding, module: ir.Operation) -> Finding:
    """``finding`` about ``module``, as it was parsed, with the mode that the program is meant for, where it is such a one."""
    held = (op.operation.name for op in module.regions[0].blocks[0].operations)
    return finding.with_(notes=(*finding.notes, WAY_OUT)) if HAL_EXECUTABLE_SOURCE in held else finding
