"""Which rule does a code generation failure fall under?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.rules import RULES

from ..dispatch_places import labelled, root_places

LONGEST_IN_HEADLINE = 100
"""Characters; a longer message of IREE stands in a line of its own."""


def check_codegen(
    dispatch: Dispatch, code: str, message: str, text: str, tags: Sequence[int], ops: Sequence[SourceOp]
) -> Finding:
    """A finding for a dispatch that IREE's code generation refuses, under rule ``code``.

    ``message`` is IREE's message, ``tags`` the source ops that it names, ``text`` the whole diagnostic.
    """
    places: list[Place] = []
    for tag in tags:
        if tag < len(ops) and ops[tag].place is not None and tag != dispatch.root:
            places += labelled(ops[tag].place, "code generation stops here")
            break
    places += root_places(dispatch, ops)
    title = RULES[code].title.replace("a dispatch", "the dispatch", 1)
    return Finding(
        code,
        f"{title}: {message}" if len(message) <= LONGEST_IN_HEADLINE else title,
        subject=dispatch.name,
        target=dispatch.target.name,
        places=tuple(places),
        detail=text,
        stock=message,
    )
