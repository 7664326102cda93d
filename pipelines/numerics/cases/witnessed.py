"""NumPy's evaluation of a program, one case at a time: a case that it cannot evaluate takes nothing from the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..reference import suspects
from ..witness.evaluation import Evaluation, evaluate

Arrays = list[np.ndarray]


class Witness:
    """NumPy's evaluation of a program on each case, made when it is first wanted. ``needed`` where the reference build
    had a suspect pattern replaced: then it is wanted although two runtimes agree. ``timeout`` is in seconds.
    """

    def __init__(self, source: Path, function: str, cases: Sequence[Arrays], timeout: float) -> None:
        self._source, self._function, self._cases, self._timeout = source, function, list(cases), timeout
        self._answers: dict[int, Evaluation | str] = {}
        self.needed = source.suffix != ".vmfb" and bool(suspects(source))

    def of(self, arrays: Arrays) -> Evaluation | str:
        """What is known of one case, or why nothing is. Those of the start are evaluated together, others alone."""
        wanted = next((i for i, case in enumerate(self._cases) if case is arrays), None)
        if wanted is None:
            wanted = len(self._cases)
            self._cases.append(arrays)
        if wanted not in self._answers:
            numbers = [i for i in range(len(self._cases)) if i not in self._answers]
            cases = [self._cases[i] for i in numbers]
            answers = evaluate(self._source, self._function, cases, self._timeout)
            self._answers.update(zip(numbers, answers, strict=True))
        return self._answers[wanted]
