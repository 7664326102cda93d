"""Convolutions that llvm-cpu does not vectorise, whatever is fused with them: the order of their operands is none that IREE knows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fissile.dialect.places import ops_of
from fissile.finding import Place
from fissile.passes.iree.backends import backend_named

from ..dispatch.dispatches import Dispatch
from ..dispatch.provenance import place_of, tags_of, tags_read
from ..dispatch.structure import iterations_of
from .transposed_operands import is_vectorised_convolution
from .windows import windows_of


@dataclass(frozen=True)
class Unvectorised:
    """``tag`` is the source op where the module is tagged; ``elements`` are those of one window, ``steps`` all multiplications."""

    tag: int | None
    place: Place | None
    elements: int
    steps: int
    strided: bool
    """Whether the image's last dimension is windowed, with a stride."""


def unvectorised_convolutions(dispatch: Dispatch, transposed: Collection[object] = ()) -> list[Unvectorised]:
    """Those of ``dispatch`` (configured). The places ``transposed`` are of convolutions that read a transposition; on a tagged module the tags say so."""
    if not is_left_unvectorised(dispatch):
        return []
    found = []
    for op in ops_of(dispatch.inner_module(), "linalg.generic"):
        place = place_of(op)
        if tags_read(op) or place in transposed or (windows := windows_of(op)) is None:
            continue
        if is_vectorised_convolution(op):
            continue
        last = len(windows.structure.maps[windows.image].results) - 1
        strided = any(window.dim == last and window.stride > 1 for window in windows.windows)
        tags = tags_of(op)
        found.append(
            Unvectorised(tags[0] if tags else None, place, windows.count, iterations_of(op) or 0, strided)
        )
    return found


def is_left_unvectorised(dispatch: Dispatch) -> bool:
    """Whether its code generation is not the one that vectorises a convolution."""
    wanted = backend_named(dispatch.target.backend).vectorises_convolutions
    return bool(wanted) and dispatch.codegen != wanted
