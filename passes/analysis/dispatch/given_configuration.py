"""Does the program itself say how an op is to be tiled and by which pipeline?"""

from __future__ import annotations

import re

from iree.compiler import ir

CONFIGURATIONS = ("compilation_info", "lowering_config", "translation_info")
"""Attributes that IREE takes such a decision from (MaterializeUserConfigs, 3.13)."""


def given_configuration(op: ir.Operation) -> str:
    """What the configuration that ``op`` carries is for, in a few words; empty where it carries none."""
    text = " ".join(str(op.attributes[name]) for name in CONFIGURATIONS if name in op.attributes)
    if not text:
        return ""
    pipeline = re.search(r"#iree_(\w+)\.pipeline<(\w+)>|pipeline = (\w+)", text)
    subgroup = re.search(r"subgroup_size = (\d+)", text)
    kind = pipeline[2] or pipeline[3] if pipeline else "tiles only"
    owner = (
        {"gpu": " of IREE's GPU backends", "cpu": " of llvm-cpu"}.get(pipeline[1] or "", "")
        if pipeline
        else ""
    )
    return f"{kind}{owner}" + (f" with subgroups of {subgroup[1]}" if subgroup else "")
