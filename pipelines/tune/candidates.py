"""The programs that a tuned compile chooses from: other fusions of the dispatches that fail, or compute producers again and again."""

from __future__ import annotations

from collections.abc import Sequence

from ..repair.edits import CUT, FOLD, Edit, edits
from ..repair.loop import Diagnosis, Repair, RepairLoop
from .search import MODELS_CHOICE, Candidate

MOST_FAMILIES = 6
"""Producers that are tried one by one: each costs a compile and three rounds on the device."""


def candidates(repair_loop: RepairLoop, repair: Repair, before: Diagnosis) -> list[Candidate]:
    """The model's choice first, then each other program that passes as it does."""
    families = repair_loop.producers_to_try(before)
    every = [tag for family in families for tag in family]
    offers = [] if before.failing else [Candidate("as it was", ())]
    if every:
        offers += [
            Candidate("every producer cut off", edits(CUT, every)),
            Candidate("every producer folded", edits(FOLD, every)),
        ]
    if 1 < len(families) <= MOST_FAMILIES:
        offers += one_by_one(repair.edits, [(str(repair_loop.ops[tags[0]]), tags) for tags in families])
    found = {repair.edits: Candidate(MODELS_CHOICE, repair.edits)}
    for offer in offers:
        if offer.edits in found:
            continue
        after = repair_loop.diagnose(offer.edits)
        if after.failed is None and not after.failing:
            found[offer.edits] = offer
    return list(found.values())


def one_by_one(chosen: tuple[Edit, ...], families: Sequence[tuple[str, tuple[int, ...]]]) -> list[Candidate]:
    """``chosen`` with the boundary of one family (its name, its ops) placed or removed, for each that no other remedy works on."""
    others = {edit.op for edit in chosen if edit.remedy != CUT}
    found: dict[str, Candidate] = {}
    for name, tags in families:
        if others & {*tags}:
            continue
        cuts = {*edits(CUT, tags)}
        missing = cuts - {*chosen}
        changed, how = (missing, "computed separately") if missing else (cuts, "left in its dispatch")
        shown = f"{name} {how}"
        shown += f" ({tags[0]})" if shown in found else ""
        found[shown] = Candidate(shown, tuple(sorted({*chosen} ^ changed)), tuple(sorted(changed)))
    return list(found.values())
