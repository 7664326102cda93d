"""Do programs compute the same numbers? Run them on the runtimes that are here, and compare.

The first program is the reference: it runs on llvm-cpu, compiled by stock IREE, where it can. Everything else is
compared with it, or with expected arrays, or with a NumPy function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from fissile.errors import UsageError
from fissile.finding import Finding
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ..process.scratch import scratch
from .build import compile_stock
from .cases.comparing import Cases, Comparing, Draw
from .cases.options import Options
from .cases.witnessed import Arrays, Witness
from .certificate import Certificate, Check, joined
from .compare import Tolerance
from .index_arguments import index_limits
from .inputs import check_places, checked, draw
from .reference import portable_module
from .retarget import retarget
from .runtimes import named
from .signature import Signature, choose, refuse_pipelines_of, signatures_of_source, signatures_of_vmfb

DEFAULTS = Options()


def verify(
    first: Path | str,
    second: Path | str | None = None,
    *,
    inputs: Sequence[np.ndarray] | None = None,
    expected: Sequence[np.ndarray] | None = None,
    reference: Callable | None = None,
    options: Options = DEFAULTS,
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
    drawn: Draw | None = None
    if inputs is not None:
        cases: Cases = [(None, checked(inputs, signature))]
    else:
        ranges = (_limits(first, second, signature.function) if expected is None else {}) | options.ranges
        drawn = partial(draw, signature, sizes=options.sizes, ranges=ranges)
        cases = [(seed, drawn(seed)) for seed in options.seeds]
    with scratch() as folder:
        session = Comparing(folder, signature, options, cases)
        if expected is not None:
            return session.compare(
                subject, second or first, "the expected arrays", [list(expected)] * len(cases)
            )
        if reference is not None:
            numbers = [_called(reference, arrays) for _seed, arrays in cases]
            session.draw_again(drawn, partial(_called, reference))
            return session.compare(subject, second or first, "the NumPy reference", numbers, wide=True)
        every = [arrays for _seed, arrays in cases]
        session.witness = Witness(first, signature.function, every, options.witness_timeout)
        against, answers = session.reference(first, drawn)
        # The only program is not compared with its own run on the same runtime.
        return session.compare(subject, second or first, against, answers, itself="" if second else against)


def _not_run(subject: str, why: str) -> Certificate:
    check = Check(subject, "no runtime", None, "", finding=Finding("FIS131", why, subject=subject))
    return Certificate(subject, (check,))


def certify_transform(
    original: str, repaired: str, *, options: Options = DEFAULTS, tolerance: Tolerance | None = None
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
        drawn = partial(draw, signature, sizes=options.sizes, ranges=ranges)
        cases: Cases = [(seed, drawn(seed)) for seed in options.seeds]
        session = Comparing(folder, signature, options, cases)
        every = [arrays for _seed, arrays in cases]
        before = folder / "before.mlir"
        session.witness = Witness(before, signature.function, every, options.witness_timeout)
        run = partial(session.run, folder / "original.vmfb", runtime=runtime)
        session.draw_again(drawn, run)
        answers = [run(arrays) for arrays in every]
        parts.append(session.compare_on(runtime, folder / "repaired.vmfb", "the original", answers))
        skipped += tuple(session.replaced)
    whole = joined(subject, [Certificate(subject, tuple(checks)) for checks in parts])
    return replace(whole, skipped=(*skipped, *whole.skipped))


def _limits(first: Path, second: Path | None, function: str) -> dict[int, tuple[float, float]]:
    """Ranges of the arguments that are places in tensors, from the first program that has a source."""
    source = next((p for p in (first, second) if p and p.suffix != ".vmfb"), None)
    return dict(index_limits(source, function)) if source else {}


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
