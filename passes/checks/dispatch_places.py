"""Where a finding about a dispatch points to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fissile.finding import Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp


def root_of(dispatch: Dispatch, ops: Sequence[SourceOp]) -> Place | None:
    """The place of the dispatch's root among the source ``ops``; the dispatch's own where the root is none of them."""
    return (
        ops[dispatch.root].place if dispatch.root is not None and dispatch.root < len(ops) else dispatch.place
    )


def labelled(place: Place | None, label: str) -> tuple[Place, ...]:
    """``place`` with ``label`` as the text beside it; nothing where there is no place."""
    return (replace(place, label=label),) if place is not None else ()


def root_places(dispatch: Dispatch, ops: Sequence[SourceOp]) -> tuple[Place, ...]:
    return labelled(root_of(dispatch, ops), "root of the dispatch")
