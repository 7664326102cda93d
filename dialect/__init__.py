"""The MLIR dialect `fissile`: ops that say how a program is to be fused, stored and checked."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from iree.compiler import ir

from .ops import (
    BUDGET,
    GROUP_TERMINATOR,
    OP_NAMES,
    STORAGE_TYPE,
    AllocStorageOp,
    AllocTensorOp,
    BoundaryOp,
    GroupOp,
    KillOp,
    RequireOp,
)
from .places import is_defined_inside, ops_of, place_of, place_of_location

__all__ = [
    "AllocStorageOp",
    "AllocTensorOp",
    "BUDGET",
    "BoundaryOp",
    "GROUP_TERMINATOR",
    "GroupOp",
    "KillOp",
    "OP_NAMES",
    "RequireOp",
    "STORAGE_TYPE",
    "irdl_file",
    "is_defined_inside",
    "load_dialects",
    "ops_of",
    "place_of",
    "place_of_location",
    "register",
]


def register(context: ir.Context) -> None:
    """Makes ``context`` take the dialect's ops. Calling it again changes nothing."""
    context.allow_unregistered_dialects = True


def load_dialects(context: ir.Context, names: Iterable[str]) -> None:
    """Loads MLIR dialects, so that ops of theirs that Python builds are registered ops.

    Raises ValueError for an unknown one.

    With unregistered ops allowed, an op of a dialect that is known but not loaded is created without an error
    as an unregistered op, and IREE crashes when it meets it (seen on 3.13 with compute_barrier.start).
    """
    for name in names:
        context.get_dialect_descriptor(name)


def irdl_file() -> Path:
    """The dialect in IRDL, for `iree-opt --irdl-file`."""
    return Path(str(resources.files(__package__) / "fissile.irdl.mlir"))
