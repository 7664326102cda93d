"""Do programs compute the same numbers? Run them on the runtimes that are here, and compare.

The first program is the reference: it runs on llvm-cpu, compiled by stock IREE, where it can. Everything else is
compared with it, or with expected arrays, or with a NumPy function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fissile.errors import UsageError
from fissile.finding import Finding
from fissile.passes.iree.messages import NOT_FOR_THIS_DEVICE
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ..process.scratch import scratch
from .any_order import in_one_order
from .build import compile_stock
from .certificate import Certificate, Check, joined
from .compare import Comparison, Tolerance, compare
from .index_arguments import index_limits
from .inputs import Sizes, check_places, checked, draw
from .judge import EVALUATION, Sides, judged, unwitnessed
from .reference import build_for, portable_module, suspects
from .retarget import retarget
from .runtimes import Runtime, named, present, run
from .signature import Signature, choose, refuse_pipelines_of, signatures_of_source, signatures_of_vmfb
from .witness.evaluation import Evaluation, evaluate

Arrays = list[np.ndarray]
Cases = list[tuple[int | None, Arrays]]


@dataclass(frozen=True)
class Options:
    """How a verification runs. Times are in seconds, per compile and per run.

    ``on`` names runtimes (all present ones if empty). ``tolerance`` None is the default of each output's type.
    ``flags`` are added to every compile, ``run_flags`` to every run.
    """

    function: str | None = None
    on: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    sizes: Sizes = Sizes()
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)
    tolerance: Tolerance | None = None
    flags: tuple[str, ...] = ()
    run_flags: tuple[str, ...] = ()
    compile_timeout: float = 300.0
    run_timeout: float = 120.0
    witness_timeout: float = 60.0
    allow_pipelines: bool = False
    """Whether pass pipelines that a program brings along may run (FIS005)."""


def verify(
    first: Path | str,
    second: Path | str | None = None,
    *,
    inputs: Sequence[np.ndarray] | None = None,
    expected: Sequence[np.ndarray] | None = None,
    reference: Callable | None = None,
    options: Options = Options(),
) -> Certificate:
    """Compares ``second`` (or ``first`` alone) with ``first`` on llvm-cpu, with ``expected``, or with ``reference``.

    Programs are MLIR files or vmfb modules. ``reference`` takes the inputs and returns an array or a tuple of them,
    in wide types (float64, int64) where it likes. ``inputs`` replace the seeded ones. `UsageError` for what the
    caller got wrong; what cannot run or differs is in the certificate.
    """
    first, second = Path(first), Path(second) if second else None
    for program in filter(None, (first, second)):
        if not program.is_file():
            raise UsageError(f"no such file: {program}", "give MLIR files or compiled .vmfb modules")
        if program.suffix != ".vmfb" and not options.allow_pipelines:
            refuse_pipelines_of(program)
    signature = _signature(first, second, options)
    subject = f"{second.name} against {first.name}" if second else first.name
    if signature.opaque:
        return _not_run(subject, signature.opaque)
    check_places(signature, options.sizes, options.ranges)
    if inputs is not None:
        cases: Cases = [(None, checked(inputs, signature))]
    else:
        ranges = (_limits(first, second, signature.function) if expected is None else {}) | options.ranges
        cases = [(seed, draw(signature, seed, options.sizes, ranges)) for seed in options.seeds]
    with scratch() as folder:
        session = _Verification(folder, signature, options, cases)
        if expected is not None:
            return session.compare(
                subject, second or first, "the expected arrays", [list(expected)] * len(cases)
            )
        if reference is not None:
            numbers = [_called(reference, arrays) for _seed, arrays in cases]
            return session.compare(subject, second or first, "the NumPy reference", numbers, wide=True)
        session.witness = Witness(first, signature.function, [arrays for _seed, arrays in cases], options)
        against, answers = session.reference(first)
        # The only program is not compared with its own run on the same runtime.
        return session.compare(subject, second or first, against, answers, itself="" if second else against)


def _not_run(subject: str, why: str) -> Certificate:
    check = Check(subject, "no runtime", None, "", finding=Finding("FIS131", why, subject=subject))
    return Certificate(subject, (check,))


class Witness:
    """NumPy's evaluation of a program on all cases, made when it is first wanted. ``needed`` where the reference build
    had a suspect pattern replaced: then it is wanted although two runtimes agree.
    """

    def __init__(self, source: Path, function: str, cases: list[Arrays], options: Options) -> None:
        self._source, self._function, self._cases = source, function, cases
        self._timeout = options.witness_timeout
        self._answers: list[Evaluation] | str | None = None
        self.needed = source.suffix != ".vmfb" and bool(suspects(source))

    def of(self, case: int) -> Evaluation | str:
        """What is known of one case, or why nothing is."""
        if self._answers is None:
            self._answers = evaluate(self._source, self._function, self._cases, self._timeout)
        return self._answers if isinstance(self._answers, str) else self._answers[case]


def certify_transform(
    original: str, repaired: str, *, options: Options = Options(), tolerance: Tolerance | None = None
) -> Certificate:
    """Proves a transform on llvm-cpu, whatever its target: both modules are MLIR text after global optimisation.

    Every public function whose types are known is run in both, with the same inputs. Where llvm-cpu refuses the
    original (stack memory, for one), both run on IREE's portable interpreter (vmvx) instead, and the certificate says so.
    """
    options = replace(options, tolerance=tolerance or options.tolerance)
    with scratch() as folder:
        skipped: list[str] = []
        refused: Finding | None = None
        (folder / "before.mlir").write_text(original, encoding="utf-8")
        for backend in ("llvm-cpu", "vmvx"):
            refused = _compile_pair(folder, original, repaired, backend, options)
            if refused is None:
                return _compare_pair(folder, backend, options, tuple(skipped))
            skipped.append(f"{backend}: {refused.message}")
        check = Check(
            "repaired module",
            "local-task",
            None,
            "the original",
            finding=refused and refused.with_(notes=tuple(skipped)),
        )
        return Certificate("repaired against original", (check,), tuple(skipped))


def _compile_pair(
    folder: Path, original: str, repaired: str, backend: str, options: Options
) -> Finding | None:
    for name, text in (("original", original), ("repaired", repaired)):
        source = folder / f"{name}.mlir"
        source.write_text(retarget(portable_module(text), backend))
        flags = [f"--compile-from={BOUNDARIES_PLACED_AT}", *options.flags]
        refused = compile_stock(source, folder / f"{name}.vmfb", flags, options.compile_timeout)
        if refused:
            return refused
    return None


def _compare_pair(folder: Path, backend: str, options: Options, skipped: tuple[str, ...]) -> Certificate:
    subject = "repaired against original"
    signatures = signatures_of_source(folder / "original.mlir")
    signatures = {n: s for n, s in signatures.items() if options.function in (None, n)}
    runtime = replace(named(["local-task"])[0], name=backend, description="")
    parts = []
    for signature in signatures.values():
        if signature.opaque:
            skipped += (signature.opaque,)
            continue
        ranges = index_limits(folder / "original.mlir", signature.function) | options.ranges
        cases: Cases = [(seed, draw(signature, seed, options.sizes, ranges)) for seed in options.seeds]
        session = _Verification(folder, signature, options, cases)
        session.witness = Witness(
            folder / "before.mlir", signature.function, [arrays for _seed, arrays in cases], options
        )
        answers = [session.run(folder / "original.vmfb", arrays, runtime) for _seed, arrays in cases]
        parts.append(session.compare_on(runtime, folder / "repaired.vmfb", "the original", answers))
    whole = joined(subject, [Certificate(subject, tuple(checks)) for checks in parts])
    return replace(whole, skipped=(*skipped, *whole.skipped))


Answers = Sequence[Arrays | Finding]


class _Verification:
    """One function's programs on some inputs, built once per runtime."""

    def __init__(self, folder: Path, signature: Signature, options: Options, cases: Cases) -> None:
        self.folder = folder
        self.signature = signature
        self.options = options
        self.cases = cases
        self.witness: Witness | None = None
        self._built: dict[tuple[Path, str], Path | Finding] = {}

    def reference(self, program: Path) -> tuple[str, Answers]:
        """What to compare with: the program on the first runtime that runs it, llvm-cpu before all others."""
        tried: list[Arrays | Finding] = []
        for runtime in present():
            tried = [self.run(self.built(program, runtime), arrays, runtime) for _seed, arrays in self.cases]
            if not any(isinstance(answer, Finding) for answer in tried):
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
        return Certificate(subject, tuple(checks), tuple(skipped))

    def compare_on(
        self, runtime: Runtime, program: Path, against: str, answers: Sequence, wide: bool = False
    ) -> list[Check]:
        """One check per case. An answer that is a finding, or None, leaves the witness as the reference."""
        vmfb = self.built(program, runtime)
        checks = []
        for case, ((seed, arrays), answer) in enumerate(zip(self.cases, answers, strict=True)):
            check = Check(program.name, str(runtime), seed, against)
            outputs = self.run(vmfb, arrays, runtime)
            if isinstance(outputs, Finding):
                checks.append(replace(check, finding=outputs))
            elif answer is None or isinstance(answer, Finding):
                checks.append(self._by_witness(check, case, outputs, answer))
            elif len(outputs) != len(answer):
                sentence = f"results: {len(outputs)} of {program.name}, {len(answer)} of {against}"
                checks.append(replace(check, finding=Finding("FIS131", sentence, subject=program.name)))
            else:
                compared = [
                    compare(o, np.asarray(e), self.options.tolerance, wide)
                    for o, e in zip(outputs, answer, strict=False)
                ]
                sides = Sides(runtime.name, against)
                checks.append(
                    replace(check, comparisons=self._judged(compared, case, outputs, answer, sides))
                )
        return checks

    def _judged(
        self, compared: list[Comparison], case: int, outputs: Arrays, answer: Arrays, sides: Sides
    ) -> tuple:
        if self.witness is None or not self.witness.needed and all(c.equal_bits for c in compared):
            return tuple(compared)
        evaluation = self.witness.of(case)
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

    def _by_witness(self, check: Check, case: int, outputs: Arrays, why: Finding | None) -> Check:
        """``outputs`` against the witness alone, where ``why`` there is no other reference (None: nothing else ran)."""
        evaluation = self.witness.of(case) if self.witness else "there is none for expected values"
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


def _limits(first: Path, second: Path | None, function: str) -> dict[int, tuple[float, float]]:
    """Ranges of the arguments that are places in tensors, from the first program that has a source."""
    source = next((p for p in (first, second) if p and p.suffix != ".vmfb"), None)
    return dict(index_limits(source, function)) if source else {}


def _on(program: Path, runtime: Runtime) -> str:
    return f"{program.name} on {runtime.name}"


def _signature(first: Path, second: Path | None, options: Options) -> Signature:
    """From the first program that knows its types: a torch import's vmfb does not, its source does."""
    found, where = {}, first
    for program in filter(None, (first, second)):
        found = (signatures_of_vmfb if program.suffix == ".vmfb" else signatures_of_source)(program)
        if found:
            where = program
            break
    return choose(found, options.function, where.name)


def _called(reference: Callable, arrays: Arrays) -> Arrays:
    try:
        answer = reference(*[array.copy() for array in arrays])
    except UsageError:  # which names it already
        raise
    except Exception as error:  # a user's function: any error is theirs to read
        raise UsageError(
            f"the reference function failed: {type(error).__name__}: {error}",
            "it is called with one array per argument and returns the expected outputs",
        ) from None
    return checked_answer(answer)


def checked_answer(answer: object) -> Arrays:
    """What a reference function returned, as arrays. Raises UsageError for what is no array of numbers."""
    arrays = [np.asarray(one) for one in (answer if isinstance(answer, (tuple, list)) else (answer,))]
    for index, array in enumerate(arrays):
        if array.dtype == object:
            raise UsageError(
                f"result {index} of the reference function is not an array of numbers: {str(array)[:40]}",
                "return an array, or a tuple of one array for each result",
            )
    return arrays
