"""Would IREE crash over an attention, or refuse it, before its dispatch is configured?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.attention_configuration import Unconfigurable
from fissile.passes.analysis.dispatch.provenance import place_of

from ..dispatch_places import labelled


def check_attention_configuration(found: Iterable[Unconfigurable], target: str = "") -> list[Finding]:
    """FIS107 of each over which IREE crashes, FIS108 of each that it refuses."""
    return [_finding(one, target) for one in found]


def _finding(one: Unconfigurable, target: str) -> Finding:
    signal = one.defect.signal
    what = (
        f"IREE crashes ({signal}) as it configures the attention" if signal else "IREE refuses the attention"
    )
    return Finding(
        "FIS107" if signal else "FIS108",
        f"{what}: {one.defect.value}",
        subject=one.op.name,
        target=target,
        places=labelled(place_of(one.op), "this attention"),
        effect=Effect.CRASHES if signal else Effect.REFUSED,
    )
