"""Is a dispatch configured for another backend by the program itself?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp

from ..dispatch_places import root_places


def check_foreign_configuration(
    dispatch: Dispatch, message: str, text: str, ops: Sequence[SourceOp]
) -> Finding | None:
    """FIS108 where IREE cannot build the pipeline of ``dispatch`` and the program says which it is to be."""
    given = next((ops[tag] for tag in dispatch.tags if tag < len(ops) and ops[tag].configuration), None)
    if given is None:
        return None
    return Finding(
        "FIS108",
        f"the program configures {given.op} for {given.configuration}; {dispatch.target.name} has no such pipeline",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
        notes=(
            "the configuration is an attribute of the op (`compilation_info`): remove it, or compile for the target it was made for",
            f"IREE: {message}",
        ),
        detail=text,
    )
