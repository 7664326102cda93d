"""What the repair loop knows: how a module's dispatches look with certain edits, and the search for one failing dispatch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fissile.passes.analysis.dispatch.fusion_groups import FusionGroup, members

from ..probe.diagnostics import quoted
from ..probe.dispatch_check import CheckedDispatch
from ..session import PhaseFailed
from .cut_search import translate
from .edits import CUT, Edit
from .strategies import NONE_LEFT_OUT


@dataclass(frozen=True)
class Diagnosis:
    """What a module's dispatches look like with certain cuts: ``failed`` is set where IREE does not get that far."""

    checked: tuple[CheckedDispatch, ...] = ()
    groups: tuple[FusionGroup, ...] = ()
    failed: PhaseFailed | None = None

    @property
    def failing(self) -> tuple[CheckedDispatch, ...]:
        return tuple(c for c in self.checked if c.finding is not None)

    def computes(self, checked: CheckedDispatch) -> set[int]:
        """The source ops of ``checked`` and of all dispatches that IREE has merged with it: it has the tags of one of them."""
        dispatch = checked.dispatch
        alike = members(list(self.groups), dispatch.tags, dispatch.root) if dispatch.tags else []
        return {*dispatch.tags, *(tag for family in alike for tag in family)}

    @property
    def shared(self) -> frozenset[int]:
        """Source ops that stand in several dispatches."""
        count = Counter(tag for c in self.checked for tag in set(c.dispatch.tags))
        return frozenset(tag for tag, times in count.items() if times > 1)


@dataclass
class Case:
    """One failing dispatch and all of equal body: what is being tried for it."""

    first: CheckedDispatch
    families: list[tuple[int, ...]]
    trials: Iterator[tuple[Edit, ...]]
    tried: list[tuple[Edit, ...]] = field(default_factory=list)
    rejected: dict[tuple[Edit, ...], str] = field(default_factory=dict)
    """Why a trial was not taken, in one line."""
    next_trials: list[tuple[Edit, ...]] = field(default_factory=list)
    """What the last trial has suggested; before any other of ``trials``."""
    accepted: tuple[Edit, ...] | None = None
    partial: tuple[Edit, ...] | None = None
    """What leaves only such failures as IREE builds: taken where nothing is accepted. They stand in what the edits made."""
    to_leave_out: list[Edit] = field(default_factory=list)
    minimise: bool = True
    shared: frozenset[int] = frozenset()
    """Source ops that stand in other dispatches as well: a fill, a producer that each of its users has a copy of."""
    merged: Callable[[Edit], Iterable[Edit]] = lambda edit: ()
    """The same edit of each op that IREE has merged with the edited one, where it has the failure as well."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was accepted, of a case that has it."""
        assert self.accepted is not None
        return self.accepted

    def spread(self, wanted: Sequence[Edit]) -> set[Edit]:
        """``wanted`` for the first dispatch, and the same for what stands there in every dispatch of equal body, and for what IREE has
        merged with any of it."""
        alike = set(wanted) | {
            Edit(edit.remedy, tag, edit.options)
            for edit in wanted
            for family in self.families
            for tag in translate((edit.op,), self.families[0], family)
        }
        return alike | {more for edit in alike for more in self.merged(edit)}

    @property
    def all_tags(self) -> set[int]:
        return {tag for family in self.families for tag in family} | set(self.first.dispatch.tags)

    @property
    def own_tags(self) -> set[int]:
        """The source ops that tell which dispatches are this case's, whatever has become of them: those that stand in no other,
        or else the roots (a pooling that is copied as well, from a fill that others start from too)."""
        return self.all_tags - self.shared or self._roots or self.all_tags

    @property
    def _roots(self) -> set[int]:
        root = self.first.dispatch.root
        if root is None:
            return set()
        return {root} | {
            tag for family in self.families for tag in translate((root,), self.families[0], family)
        }

    def left(self, now: Diagnosis) -> tuple[CheckedDispatch, ...]:
        """The dispatches of this case that fail in ``now``."""
        own = self.own_tags
        return tuple(c for c in now.failing if own & now.computes(c))

    def has_cut_off(self, tags: set[int]) -> bool:
        """Whether the dispatch of ``tags`` stands behind boundaries that were accepted: they made it pass, and what another case has
        changed since makes it fail."""
        return tags <= {edit.op for edit in self.accepted or () if edit.remedy == CUT}

    def reject(self, tried: tuple[Edit, ...], now: Diagnosis) -> None:
        """Notes what ``now`` says against ``tried``."""
        left = self.left(now)
        if now.failed is not None:
            self.rejected[tried] = f"IREE stops: {quoted(str(now.failed))}"
        elif left and (finding := left[0].finding) is not None:
            self.rejected[tried] = f"{finding.code} is left: {finding.message}"

    def next_trial(self, offered: Callable[[], tuple[Edit, ...] | None]) -> tuple[Edit, ...] | None:
        """The next set to try: what the last trial has suggested, a new one of ``offered``, or the accepted one with one boundary
        left out; None when done."""
        if self.accepted is not None:
            while self.to_leave_out:
                out = self.to_leave_out.pop()
                smaller = tuple(edit for edit in self.accepted if edit != out)
                if smaller and smaller not in self.tried:
                    self.tried.append(smaller)
                    return smaller
            return None
        wanted = self.next_trials.pop(0) if self.next_trials else offered()
        if wanted is not None:
            self.tried.append(wanted)
        return wanted

    def failed_with(
        self, tried: tuple[Edit, ...], left: Sequence[CheckedDispatch], more: Iterable[tuple[Edit, ...]]
    ) -> None:
        """``tried`` leaves the dispatches ``left`` failing, and suggests ``more``."""
        if self.accepted is None:
            self.next_trials += [wanted for wanted in sorted(more) if wanted not in self.tried]
        milder = not _is_built(self.first) and all(_is_built(one) for one in left)
        if milder and self.partial is None:
            self.partial = tried

    def passed_with(self, tried: tuple[Edit, ...]) -> None:
        """``tried`` makes it pass: taken where it is the first, or smaller."""
        if self.accepted is None or len(tried) < len(self.accepted):
            self.accepted = tried
            spare = [edit for edit in tried if edit.remedy not in NONE_LEFT_OUT]
            self.to_leave_out = spare if len(tried) > 1 and self.minimise else []

    def take(self, wanted: tuple[Edit, ...] | None) -> None:
        """``wanted`` is what is committed."""
        self.accepted = wanted

    def still_fails(self, now: Diagnosis) -> bool:
        return now.failed is not None or bool(self.left(now))


def _is_built(failing: CheckedDispatch) -> bool:
    return failing.finding is not None and failing.finding.effect.is_built
