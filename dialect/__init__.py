"""The MLIR dialect `fissile`: ops that say how a program is to be fused, stored and checked."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from iree.compiler import ir

from .ops import (
    BUDGET, GROUP_TERMINATOR, OP_NAMES, STORAGE_TYPE, AllocStorageOp, AllocTensorOp, BoundaryOp, GroupOp, KillOp,
    RequireOp,
)
from .places import ops_of, place_of, place_of_location

__all__ = [
    "AllocStorageOp", "AllocTensorOp", "BUDGET", "BoundaryOp", "GROUP_TERMINATOR", "GroupOp", "KillOp", "OP_NAMES",
    "RequireOp", "STORAGE_TYPE", "irdl_file", "ops_of", "place_of", "place_of_location", "register",
]


def register(context: ir.Context) -> None:
    """Makes ``context`` take the dialect's ops. Calling it again changes nothing."""
    context.allow_unregistered_dialects = True


def irdl_file() -> Path:
    """The dialect in IRDL, for `iree-opt --irdl-file`."""
    return Path(str(resources.files(__package__) / "fissile.irdl.mlir"))
