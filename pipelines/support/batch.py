"""Many small programs as functions of one module, and which of them an error names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fissile.finding import Place

_MAIN = re.compile(r"@main\b")


@dataclass(frozen=True)
class Batch:
    """``programs``: key and text each, a function @main in MLIR."""

    programs: tuple[tuple[str, str], ...]

    @property
    def keys(self) -> list[str]:
        return [key for key, _text in self.programs]

    @property
    def name(self) -> str:
        return hashlib.sha256("\0".join(self.keys).encode()).hexdigest()[:16]

    def function(self, index: int) -> str:
        return f"f{index}"

    def text(self) -> str:
        """One module: function N is program N's."""
        return "".join(
            _MAIN.sub(f"@{self.function(index)}", text) for index, (_key, text) in enumerate(self.programs)
        )

    def index_at(self, line: int) -> int | None:
        """Which program's text has ``line`` of `text`, from 1."""
        first = 1
        for index, (_key, text) in enumerate(self.programs):
            last = first + text.count("\n")
            if first <= line < last:
                return index
            first = last
        return None

    def refused(self, errors: Iterable[tuple[str, Sequence[Place]]]) -> tuple[dict[str, str], list[Batch]]:
        """By key, what an error says of one program and no other; and what is to be compiled again.

        ``errors``: message and places. The first line may stand for the whole module, so an error there says nothing of its program.
        """
        why: dict[int, str] = {}
        doubtful: set[int] = set()
        for message, places in errors:
            named = set(blamed(self, places))
            if len(named) == 1 and all(place.line > 1 for place in places):
                why.setdefault(named.pop(), message)
            else:
                doubtful |= named
        left = Batch(tuple(one for index, one in enumerate(self.programs) if index not in why))
        doubtful_keys = {self.keys[index] for index in doubtful - set(why)}
        again = [index for index, key in enumerate(left.keys) if key in doubtful_keys]
        if not left.programs:
            queue = []
        elif why and not again or len(left.programs) == 1:
            queue = [left]
        else:
            queue = left.split(again)
        return {self.keys[index]: message for index, message in why.items()}, queue

    def split(self, unwanted: Iterable[int]) -> list[Batch]:
        """Each of ``unwanted`` alone, and the others together; the two halves where there is none."""
        alone = sorted(set(unwanted))
        if not alone:
            middle = len(self.programs) // 2
            return [Batch(self.programs[:middle]), Batch(self.programs[middle:])]
        left = tuple(one for index, one in enumerate(self.programs) if index not in alone)
        return [*([Batch(left)] if left else []), *(Batch((self.programs[index],)) for index in alone)]


def blamed(batch: Batch, places: Sequence[Place]) -> list[int]:
    """The programs of ``batch`` that stand at ``places``."""
    found = (batch.index_at(place.line) for place in places)
    return sorted({index for index in found if index is not None})
