"""Which rule does a code generation failure fall under?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.rules import RULES

from ..dispatch_places import labelled, root_places

LONGEST_IN_HEADLINE = 100
"""Characters; a longer message of IREE stands in a line of its own."""


def check_codegen(dispatch: Dispatch, code: str, evidence: Evidence, ops: Sequence[SourceOp]) -> Finding:
    """A finding for a dispatch that IREE's code generation refuses, under rule ``code``: ``evidence`` quotes IREE and has the source
    ops that it names.
    """
    places: list[Place] = []
    for tag in evidence.tags:
        if tag < len(ops) and ops[tag].place is not None and tag != dispatch.root:
            places += labelled(ops[tag].place, "code generation stops here")
            break
    places += root_places(dispatch, ops)
    title = RULES[code].title.replace("a dispatch", "the dispatch", 1)
    return Finding(
        code,
        f"{title}: {evidence.message}" if len(evidence.message) <= LONGEST_IN_HEADLINE else title,
        subject=dispatch.name,
        target=dispatch.target.name,
        places=tuple(places),
        detail=evidence.text,
        stock=evidence.message,
    )
