"""Is a dispatch configured for another backend by the program itself?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.kernel.evidence import Evidence

from ..dispatch_places import root_places


def check_foreign_configuration(
    dispatch: Dispatch, code: str, evidence: Evidence, ops: Sequence[SourceOp]
) -> Finding | None:
    """A finding under rule ``code`` where IREE cannot build the pipeline of ``dispatch`` and the program says which it is to be."""
    given = next((ops[tag] for tag in dispatch.tags if tag < len(ops) and ops[tag].configuration), None)
    if given is None:
        return None
    return Finding(
        code,
        f"the program configures {given.op} for {given.configuration}; {dispatch.target.name} has no such pipeline",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
        notes=(
            "the configuration is an attribute of the op (`compilation_info`): remove it, or compile for the target it was made for",
            f"IREE: {evidence.message}",
        ),
        detail=evidence.text,
    )
