"""What failures have in common in which narrow elements are at fault: one finding for each target and element type, repaired by packing.

Numbers of a program with such a failure are wrong, or not known to be right, or IREE refuses it; a finding's headline begins
with which, and a repaired finding's with what stock IREE does.
"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect

from ..failure import Failure

CLAIMS = {
    # What stock IREE makes of the program: before a repair, and behind it.
    Effect.UNPROVED: ("the numbers may be wrong", "stock IREE may compute wrong numbers"),
    Effect.MAY_BE_WRONG: ("the numbers may be wrong", "stock IREE may compute wrong numbers"),
    Effect.WRONG: ("the numbers will be wrong", "stock IREE computes wrong numbers"),
    Effect.REFUSED: ("IREE refuses a dispatch", "stock IREE refuses a dispatch"),
}
WORDS = "{packed} these buffers into 32-bit words; {computed} in 32 bits in between"


class NarrowElements(Failure):
    """``label`` is beside each place and ``note`` below, as long as nothing is packed. ``label`` and ``headline`` may name the
    {element}, ``headline`` also the {target}, the {bits} of an element as it is stored, and in how many dispatches ({count}).

    ``every_buffer``: all buffers of the dispatches are packed, else those of the element types that are found. ``in_place``: they
    stay as they are, and only what is computed changes. ``how`` says what packing does, with its verbs in braces.
    """

    packed = True
    headline: str
    label: str
    note: str
    every_buffer = False
    in_place = False
    how = WORDS

    def around(self, dispatch):
        """`Evidence` beside that of the code: what the program around ``dispatch`` shows."""
        from fissile.passes.analysis.kernel.evidence import NOTHING

        return NOTHING

    def explain(self, dispatch, evidence, ops):
        return next(iter(self.explain_all([(dispatch, evidence)])), None)

    def explain_all(self, found: Sequence[tuple]) -> list:
        """The findings about (dispatch, evidence)s, one for each target and element type."""
        by_type: dict[tuple[str, str], list[tuple]] = {}
        for dispatch, evidence in found:
            for element in evidence.types:
                by_type.setdefault((dispatch.target.name, element), []).append((dispatch, evidence))
        return [self._finding(target, element, where) for (target, element), where in by_type.items()]

    def _finding(self, target: str, element: str, where: list[tuple]):
        from fissile.finding import Finding
        from fissile.passes.analysis.kernel.evidence import gravest, gravity
        from fissile.passes.checks.dispatch_places import labelled

        worst = gravest(evidence for _dispatch, evidence in where)
        effect = worst.effect or self.effect
        bits = next((b.element_bits for d, _ in where for b in d.bindings if b.element == element), 0)
        graver_first = sorted(where, key=lambda one: -gravity(one[1]))
        places = dict.fromkeys(
            place
            for dispatch, _ in graver_first
            for place in labelled(dispatch.place, self.label.format(element=element))
        )
        headline = self.headline.format(
            element=element,
            target=target,
            bits=max(8, bits),
            count=f"{len(where)} dispatch{'es' if len(where) > 1 else ''}",
        )
        return Finding(
            self.code,
            f"{CLAIMS[effect][0]}: {headline}",
            effect=effect,
            subject=where[0][0].name,
            target=target,
            places=tuple(places)[:4],
            stock=worst.message,
            notes=(*filter(None, (worst.why,)), self.note),
        )

    def repaired(self, finding, help_):
        """``finding`` where its buffers were packed: what stock IREE does is what it says now."""
        from fissile.finding import Severity

        before, behind = CLAIMS[finding.effect]
        return finding.with_(
            severity=Severity.REPAIRED,
            message=f"{behind}{finding.message.removeprefix(before)}",
            notes=tuple(f"without packing, {note}" for note in finding.notes if note != self.note),
            helps=(help_,),
        )
