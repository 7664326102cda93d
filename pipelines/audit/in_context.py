"""What IREE refuses of a program although it takes each op alone (FIS414)."""

from __future__ import annotations

from fissile.finding import Finding
from fissile.passes.analysis.legality.refused import Audit

from ..probe.diagnostics import failure_code, parse_diagnostic, quoted


def check_rest(found: Audit, target: str) -> list[Finding]:
    """FIS414 where the program without the ops that were found is refused as well; the code of the failure's own rule where it has one."""
    if found.rest.ok:
        return []
    said = parse_diagnostic("error", found.rest.text)
    code = failure_code(found.rest.text)
    where = (
        f"in pass {found.rest.failing_pass}"
        if found.rest.failing_pass
        else "in a pass that IREE does not name"
    )
    rest = "the rest of the program" if found.refused else "the program"
    return [
        Finding(
            code if code in ("FIS004", "FIS003", "FIS101", "FIS102") else "FIS414",
            f"IREE refuses {rest} before phase {found.rest.failed}: {quoted(said.message)}",
            target=target,
            places=said.places[:1],
            notes=(f"it stops {where}", "each op of it compiles alone"),
            detail=found.rest.text,
        )
    ]
