"""One function's programs, run on the same inputs and compared case by case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from fissile.finding import Finding
from fissile.passes.iree.messages import NOT_FOR_THIS_DEVICE

from ..any_order import in_one_order
from ..certificate import Certificate, Check
from ..compare import Comparison, compare
from ..judge import EVALUATION, Sides, judged, unwitnessed
from ..reference import build_for
from ..runtimes import Runtime, named, present, run
from ..signature import Signature
from ..witness.evaluation import Evaluation
from .options import Options
from .refusals import is_refusal, other_seeds, refusal
from .witnessed import Arrays, Witness

Cases = list[tuple[int | None, Arrays]]
Answers = Sequence[Arrays | Finding]
Answer = Callable[[Arrays], Arrays | Finding]
"""What a program, or a reference function, makes of some inputs."""
Draw = Callable[[int], Arrays]

_REFUSED = "no other random inputs were accepted; `fissile verify --range` and `--input` give some that are"


class Comparing:
    """One function's programs on some inputs, built once per runtime."""

    def __init__(self, folder: Path, signature: Signature, options: Options, cases: Cases) -> None:
        self.folder = folder
        self.signature = signature
        self.options = options
        self.cases = cases
        self.witness: Witness | None = None
        self.replaced: list[str] = []
        """In words: each seed that another one stands for."""
        self._again: tuple[Draw, Answer] | None = None
        self._built: dict[tuple[Path, str], Path | Finding] = {}

    def draw_again(self, drawn: Draw | None, answer: Answer) -> None:
        """From now on other seeds stand for those whose inputs a check refuses; ``answer`` is the reference's. No ``drawn``: none do."""
        self._again = (drawn, answer) if drawn else None

    def reference(self, program: Path, drawn: Draw | None) -> tuple[str, Answers]:
        """What to compare with: the program on the first runtime that runs it, llvm-cpu before all others."""
        tried: list[Arrays | Finding] = []
        for runtime in present():
            run = partial(self.run, self.built(program, runtime), runtime=runtime)
            tried = [run(arrays) for _seed, arrays in self.cases]
            if not any(isinstance(answer, Finding) and not is_refusal(answer) for answer in tried):
                self.draw_again(drawn, run)
                return _on(program, runtime), tried
        return _on(program, present()[0]), tried

    def compare(
        self,
        subject: str,
        program: Path,
        against: str,
        answers: Answers,
        wide: bool = False,
        itself: str = "",
    ) -> Certificate:
        checks, skipped = [], []
        for runtime in named(self.options.on):
            if _on(program, runtime) == itself:
                skipped.append(f"{runtime}: it is the reference itself")
                continue
            made = self.compare_on(runtime, program, against, answers, wide)
            elsewhere = [c for c in made if c.finding and NOT_FOR_THIS_DEVICE in c.finding.message]
            if elsewhere and not self.options.on:
                skipped.append(f"{runtime}: {program.name} was not built for it")
                continue
            checks += made
        if not checks and itself:
            # Nothing but the reference ran: NumPy's evaluation is what there is to compare it with.
            (runtime,) = [r for r in named(self.options.on) if _on(program, r) == itself][:1]
            checks = self.compare_on(runtime, program, EVALUATION, [None] * len(self.cases))
            skipped = []
        return Certificate(subject, tuple(checks), (*skipped, *self.replaced))

    def compare_on(
        self, runtime: Runtime, program: Path, against: str, answers: Sequence, wide: bool = False
    ) -> list[Check]:
        """One check per case. An answer that is a finding, or None, leaves the witness as the reference."""
        vmfb = self.built(program, runtime)
        run = partial(self.run, vmfb, runtime=runtime)
        checks = []
        for (seed, arrays), answer in zip(self.cases, answers, strict=True):
            outputs = run(arrays)
            refused = refusal(outputs, answer) if seed is not None and self._again else None
            if refused and seed is not None and self._again:
                another = self._accepted(seed, run, has_answer=answer is not None)
                if another is None:
                    check = Check(program.name, str(runtime), seed, against)
                    checks.append(replace(check, finding=refused.with_(notes=(_REFUSED,)), refused=True))
                    continue
                instead, arrays, outputs, answer = another
                self.replaced.append(
                    f"{runtime}: seed {seed}, whose inputs a check refuses; seed {instead} stands for it"
                )
                seed = instead
            check = Check(program.name, str(runtime), seed, against)
            checks.append(self._compared(check, runtime, arrays, outputs, answer, wide))
        return checks

    def _accepted(self, seed: int, run: Answer, has_answer: bool):
        """Another seed than ``seed`` whose inputs no check refuses, with its inputs, outputs and the reference's; None: none was found."""
        assert self._again
        drawn, again = self._again
        for other in other_seeds(seed):
            arrays = drawn(other)
            outputs = run(arrays)
            if is_refusal(outputs):
                continue
            answer = again(arrays) if has_answer else None
            if not refusal(outputs, answer):
                return other, arrays, outputs, answer
        return None

    def _compared(
        self,
        check: Check,
        runtime: Runtime,
        arrays: Arrays,
        outputs: Arrays | Finding,
        answer: Arrays | Finding | None,
        wide: bool,
    ) -> Check:
        if isinstance(outputs, Finding):
            return replace(check, finding=outputs)
        if answer is None or isinstance(answer, Finding):
            return self._by_witness(check, arrays, outputs, answer)
        if len(outputs) != len(answer):
            sentence = f"results: {len(outputs)} of {check.program}, {len(answer)} of {check.against}"
            return replace(check, finding=Finding("FIS131", sentence, subject=check.program))
        compared = [
            compare(o, np.asarray(e), self.options.tolerance, wide)
            for o, e in zip(outputs, answer, strict=False)
        ]
        sides = Sides(runtime.name, check.against)
        return replace(check, comparisons=self._judged(compared, arrays, outputs, answer, sides))

    def _judged(
        self, compared: list[Comparison], inputs: Arrays, outputs: Arrays, answer: Arrays, sides: Sides
    ) -> tuple:
        if self.witness is None or not self.witness.needed and all(c.equal_bits for c in compared):
            return tuple(compared)
        evaluation = self.witness.of(inputs)
        if isinstance(evaluation, Evaluation) and len(evaluation.wide) != len(outputs):
            evaluation = f"results: {len(evaluation.wide)} instead of {len(outputs)}"
        if isinstance(evaluation, str):
            return tuple(
                c if c.equal_bits and not self.witness.needed else unwitnessed(c, evaluation)
                for c in compared
            )
        outputs, answer = (in_one_order(arrays, evaluation.loose) for arrays in (outputs, answer))
        return tuple(
            judged(
                o,
                np.asarray(e),
                evaluation,
                i,
                self.signature.results[i].element,
                sides,
                self.options.tolerance,
            )
            for i, (o, e) in enumerate(zip(outputs, answer, strict=False))
        )

    def _by_witness(self, check: Check, inputs: Arrays, outputs: Arrays, why: Finding | None) -> Check:
        """``outputs`` against the witness alone, where ``why`` there is no other reference (None: nothing else ran)."""
        evaluation = self.witness.of(inputs) if self.witness else "there is none for expected values"
        if isinstance(evaluation, str):
            sentence = (
                f"{why.message if why else 'there is no second program, no expected array and no second runtime'}; "
                f"no witness: {evaluation}"
            )
            return replace(
                check,
                finding=(why or Finding("FIS131", sentence, subject=check.program)).with_(message=sentence),
            )
        if len(evaluation.wide) != len(outputs):
            sentence = f"results: {len(outputs)} of {check.program}, {len(evaluation.wide)} of {EVALUATION}"
            return replace(check, finding=Finding("FIS131", sentence, subject=check.program))
        compared = (
            judged(
                o,
                None,
                evaluation,
                i,
                self.signature.results[i].element,
                Sides(check.runtime, EVALUATION),
                self.options.tolerance,
            )
            for i, o in enumerate(in_one_order(outputs, evaluation.loose))
        )
        return replace(check, against=EVALUATION, comparisons=tuple(compared))

    def built(self, program: Path, runtime: Runtime) -> Path | Finding:
        if program.suffix == ".vmfb":
            return program
        key = (program, runtime.name)
        if key not in self._built:
            output = self.folder / f"{len(self._built)}.vmfb"
            refused = build_for(program, runtime, output, self.options.flags, self.options.compile_timeout)
            self._built[key] = refused or output
        return self._built[key]

    def run(self, vmfb: Path | Finding, arrays: Arrays, runtime: Runtime) -> Arrays | Finding:
        if isinstance(vmfb, Finding):
            return vmfb
        return run(vmfb, self.signature, arrays, runtime, self.options.run_timeout, self.options.run_flags)


def _on(program: Path, runtime: Runtime) -> str:
    return f"{program.name} on {runtime.name}"
