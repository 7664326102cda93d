"""The verdict on each function of a module: fissile builds it, a device runs it, stock IREE is compared."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.corpus_numerics import TARGETS
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import Signature, parse_value
from fissile.pipelines.process.child import run_child

from .function import Function
from .value import Value

SAME = "same numbers"
REPAIRED = "refused by stock and repaired"
STOCK_WRONG = "wrong numbers with stock, right with fissile"
WRONG_TOO = "wrong numbers, with stock as well"
WRONG_REFUSED = "wrong numbers, refused by stock"
WRONG = "wrong numbers with fissile, right with stock"
REFUSED = "refused by both"
WITHHELD = "refused by fissile, wrong numbers with stock"
REFUSED_ALONE = "refused by fissile only"
VERDICTS = (SAME, REPAIRED, STOCK_WRONG, REFUSED, WITHHELD, WRONG_TOO, WRONG_REFUSED, WRONG, REFUSED_ALONE)
FAILURES = (WRONG_TOO, WRONG_REFUSED, WRONG, REFUSED_ALONE)
COMPILE_SECONDS = 300.0
"""Of a processor, for one compile."""
RUN_SECONDS = 120.0
MARGIN = 2.0
"""How many times the error bound a right answer may be away."""


@dataclass(frozen=True)
class Verdict:
    """``detail`` says what is wrong or why it was refused, ``codes`` are those of fissile's findings."""

    function: Function
    verdict: str
    detail: str = ""
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Built:
    """``reason``: why there is no module, or empty. ``findings`` are those of `fissile compile`."""

    vmfb: Path
    reason: str = ""
    findings: list[dict] = field(default_factory=list)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(sorted({finding["code"] for finding in self.findings}))

    def repaired(self, functions: Sequence[Function]) -> list[Function]:
        """The functions that a repair names by a line; all of them if a repair names none."""
        repairs = [finding for finding in self.findings if finding["severity"] == "repaired"]
        lines = {place["line"] for finding in repairs for place in finding["places"]}
        if any(not finding["places"] for finding in repairs):
            return list(functions)
        found, first = [], 1
        for function in functions:
            end = first + function.text().count("\n")
            if any(first <= line < end for line in lines):
                found.append(function)
            first = end
        return found


class Judge:
    """Compiles and runs for ``target``, a key of `TARGETS`; files go to ``folder``."""

    def __init__(self, target: str, folder: Path) -> None:
        name, self._flags = TARGETS[target]
        (self._runtime,) = runtimes.named([name])
        self._folder = folder

    def verdicts(self, functions: Sequence[Function]) -> list[Verdict]:
        """One for each of the functions, which are compiled together as far as fissile builds them."""
        built = self._fissile(functions)
        if built.reason:
            if len(functions) > 1:
                return [verdict for one in functions for verdict in self.verdicts([one])]
            return [self._refused(functions[0], built)]
        repaired = built.repaired(functions)
        answers = [self._difference(one, built.vmfb) for one in functions]
        return [
            self._answered(one, built, answer, one in repaired)
            for one, answer in zip(functions, answers, strict=True)
        ]

    def _refused(self, function: Function, built: Built) -> Verdict:
        stock = self._stock(function)
        verdict = REFUSED
        if not stock.reason:
            verdict = WITHHELD if self._difference(function, stock.vmfb) else REFUSED_ALONE
        return Verdict(function, verdict, built.reason, built.codes)

    def _answered(self, function: Function, built: Built, answer: str, is_repaired: bool) -> Verdict:
        if not answer and not is_repaired:
            return Verdict(function, SAME)
        stock = self._stock(function)
        stocks = "" if stock.reason else self._difference(function, stock.vmfb)
        if answer:
            verdict = WRONG_REFUSED if stock.reason else WRONG_TOO if stocks else WRONG
            return Verdict(function, verdict, answer, built.codes)
        verdict = REPAIRED if stock.reason else STOCK_WRONG if stocks else SAME
        return Verdict(function, verdict, stock.reason or stocks, built.codes)

    def _fissile(self, functions: Sequence[Function]) -> Built:
        words = [str(Path(sys.executable).with_name("fissile")), "compile", "--no-cache", "--format=json"]
        return self._built(words, functions, "ours.vmfb")

    def _stock(self, function: Function) -> Built:
        return self._built([str(Path(sys.executable).with_name("iree-compile"))], [function], "stocks.vmfb")

    def _built(self, words: list[str], functions: Sequence[Function], name: str) -> Built:
        source, vmfb = self._folder / "in.mlir", self._folder / name
        source.write_text(text_of(functions))
        vmfb.unlink(missing_ok=True)
        ended = run_child([*words, *self._flags, str(source), "-o", str(vmfb)], COMPILE_SECONDS)
        try:
            findings = json.loads(ended.out)["findings"]
        except (ValueError, KeyError):
            findings = []
        if ended.status == 0 and vmfb.exists():
            return Built(vmfb, "", findings)
        errors = [f"{one['code']} {one['message']}" for one in findings if one["severity"] == "error"]
        lines = [line.removeprefix(f"{self._folder}/") for line in ended.err.splitlines() if "error" in line]
        reason = [*errors[:1], *filter(None, [ended.reason]), *lines[:1], f"exit status {ended.status}"]
        return Built(vmfb, reason[0], findings)

    def _difference(self, function: Function, vmfb: Path) -> str:
        """How the results differ from NumPy's, or why there are none; empty if they agree."""
        inputs = [value.data for value in function.passed]
        answer = runtimes.run(vmfb, signature(function), inputs, self._runtime, RUN_SECONDS)
        if not isinstance(answer, list):
            return answer.message
        pairs = zip(answer, function.results, strict=True)
        found = [(number, difference(got, wanted)) for number, (got, wanted) in enumerate(pairs)]
        return "; ".join(
            f"result {number} ({function.results[number].type}): {d}" for number, d in found if d
        )


def text_of(functions: Iterable[Function]) -> str:
    """A module of the functions."""
    return "".join(function.text() for function in functions)


def signature(function: Function) -> Signature:
    """What `runtimes.run` has to know to call the function."""
    arguments, results = (
        tuple(parse_value(value.type) for value in values) for values in (function.passed, function.results)
    )
    return Signature(function.name, arguments, results)


def difference(got: np.ndarray, wanted: Value) -> str:
    """How many elements of ``got`` are too far from ``wanted``, and the worst; empty if none is."""
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    if wanted.is_float:
        with np.errstate(invalid="ignore"):  # infinities and NaN, which are too far
            far = np.abs(got.astype(np.float64) - wanted.wide)
        bad = ~(far <= MARGIN * wanted.error)
        allowed = f", allowed {MARGIN * wanted.error:.2g}"
    else:
        bad, allowed = got != wanted.data, ""
    if not bad.any():
        return ""
    at = tuple(int(n) for n in np.argwhere(bad)[0])
    return (
        f"{bad.sum()} of {bad.size} elements, {got[at]} instead of {wanted.data[at]} at {list(at)}{allowed}"
    )


def keep(verdict: Verdict, folder: Path) -> None:
    """Writes the function, its inputs, the flags that run it and NumPy's results into ``folder``."""
    function = verdict.function
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    inputs = [value.data for value in function.passed]
    words = runtimes.input_flags(folder, signature(function), inputs)
    shown = " ".join(word.replace(f"{folder}/", "") for word in words)
    head = [verdict.verdict, verdict.detail, f"--function={function.name} {shown}"]
    lines = "".join(f"// {line}\n" for text in head for line in text.splitlines())
    (folder / "program.mlir").write_text(lines + function.text())
    for number, value in enumerate(function.results):
        np.save(folder / f"expected{number}.npy", value.wide)
