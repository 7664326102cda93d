"""The child process of `differential`: compiles programs as stock does and as fissile does, in one process, and compares the bytes.

Programs are the functions of one module, so that a compile is shared. What is not stock's bytes is split until each program has its
own verdict: first the programs that findings name, then halves, down to one program.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fissile.finding import Finding, Severity
from fissile.passes.containment import Containment, containing
from fissile.pipelines.compile import compile_run
from fissile.pipelines.compile.guarded_compile import GuardedCompile
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.session import PhaseFailed, Session
from fissile.report import Report

from .differential import MEMORY, MODULE, TARGETS, drawn, seconds_for
from .trial import BIN

Verdict = tuple[int, str, str]
"""A program's number, its verdict, and fissile's messages about it."""
OWN_FAILURES = ("FIS902", "FIS903")


@dataclass(frozen=True)
class Module:
    """``programs`` (their numbers and texts) as the functions of one module."""

    programs: Mapping[int, str]

    @property
    def text(self) -> str:
        return "".join(self.programs.values())

    def blamed(self, findings: Collection[Finding]) -> set[int]:
        """The programs in whose lines ``findings`` have a place."""
        lines = {place.line for finding in findings for place in finding.places}
        found, first = set(), 1
        for number, text in self.programs.items():
            last = first + text.count("\n")
            if any(first <= line < last for line in lines):
                found.add(number)
            first = last
        return found

    def only(self, numbers: Collection[int]) -> Module:
        return Module({number: text for number, text in self.programs.items() if number in numbers})

    def without(self, numbers: Collection[int]) -> Module:
        return self.only(self.programs.keys() - numbers)

    def halves(self) -> tuple[Module, Module]:
        numbers = list(self.programs)
        return self.only(numbers[: len(numbers) // 2]), self.only(numbers[len(numbers) // 2 :])


STOCK_RUNS = 16
"""How many answers of stock's are looked at where its first is not fissile's: the tiles of a softmax on llvm-cpu are [1] in one run
and [4] in the next."""


class Comparison:
    """Compiles for ``target`` as far as phase ``to``; files go to ``folder``."""

    def __init__(self, target: str, folder: Path, to: str = "end") -> None:
        self._target, self._to, self._folder = target, to, folder
        self._ours, self._stocks = folder / "ours.vmfb", folder / "stocks.vmfb"

    def verdicts(self, module: Module) -> Iterator[Verdict]:
        """One for each program."""
        if len(module.programs) == 1:
            for number, text in module.programs.items():
                try:
                    yield (number, *self.verdict(text))
                except Exception as error:
                    yield number, "internal error", f"{type(error).__name__}: {error}"[:400]
        elif module.programs:
            yield from self._shared(module)

    def _shared(self, module: Module) -> Iterator[Verdict]:
        try:
            report = self._fissile(module.text)
        except Exception:  # which program it is, the halves show
            report = None
        if report is None or set(_codes(report)) & set(OWN_FAILURES):
            for half in module.halves():
                yield from self.verdicts(half)
            return
        if report.exit_code:
            blamed = module.blamed([f for f in report.findings if f.severity is Severity.ERROR])
            apart = [module.only([number]) for number in sorted(blamed)] if blamed else []
        elif blamed := module.blamed(report.findings):
            apart = []
            yield from ((number, *self._by_findings(module, number, report)) for number in sorted(blamed))
        elif not self._stock(module.text) and self._is_same():
            yield from ((number, "same bytes", "") for number in module.programs)
            return
        else:
            apart, blamed = list(module.halves()), set(module.programs)
        if not blamed:
            apart, blamed = list(module.halves()), set(module.programs)
        for one in (*apart, module.without(blamed)):
            yield from self.verdicts(one)

    @staticmethod
    def _by_findings(module: Module, number: int, report: Report) -> tuple[str, str]:
        """The verdict on a program of a module that was built, that findings name."""
        own = [f for f in report.findings if number in module.blamed([f])]
        repaired = any(f.severity is Severity.REPAIRED and not f.effect.is_built for f in own)
        return "repaired" if repaired else "changed with a finding", " ".join(sorted({f.code for f in own}))

    def verdict(self, text: str) -> tuple[str, str]:
        """On one program by itself."""
        refused = self._stock(text)
        report = self._fissile(text)
        messages = "; ".join(f"{f.severity.value}[{f.code}] {f.message}" for f in report.findings)[:400]
        codes = _codes(report)
        if set(codes) & set(OWN_FAILURES):
            return "internal error", messages
        if refused:
            return ("repaired" if report.exit_code == 0 else "refused by both"), messages or refused
        if report.exit_code == 0 and self._is_same():
            return "same bytes", messages
        if report.exit_code == 0 and codes:
            return "changed with a finding", messages
        if report.exit_code == 0:
            if any(self._is_same() for _run in range(STOCK_RUNS) if self._stock_anew()):
                return "same bytes", "stock has more than one answer"
            return "changed without a finding", ""
        reasons = [f for f in report.findings if f.severity is Severity.ERROR and f.effect.is_built]
        return ("withheld: " + " ".join(codes), messages) if reasons else ("refused for no reason", messages)

    def _fissile(self, text: str) -> Report:
        source = self._written(text, self._ours)
        words = [*TARGETS[self._target], f"--compile-to={self._to}", str(source), "-o", str(self._ours)]
        request = parse_command_line(words)
        run = compile_run.CompileRun(request, self._ours, None, self._folder)
        run.session.set_flags(request.flags)  # the process's in a worker, the session's here
        with containing(Containment("")):
            return GuardedCompile(run).run()

    def _stock(self, text: str) -> str:
        """Compiles as iree-compile does; why it refuses, or nothing."""
        source = self._written(text, self._stocks)
        session = Session(TARGETS[self._target])
        session.context.allow_unregistered_dialects = False
        try:
            done = session.run(session.parse(source), self._to)
            session.write(done, self._stocks, "vm-bytecode" if self._to == "end" else "ir")
        except PhaseFailed as failure:
            return failure.message
        return ""

    def _stock_anew(self) -> bool:
        """One more answer of stock's, of another process: some of its choices depend on addresses."""
        self._stocks.unlink(missing_ok=True)
        words = [*TARGETS[self._target], f"--compile-to={self._to}", str(self._folder / "in.mlir")]
        subprocess.run(
            [str(BIN / "iree-compile"), *words, "-o", str(self._stocks)],
            stderr=subprocess.DEVNULL,
            timeout=900,
        )
        return self._stocks.exists()

    def _written(self, text: str, output: Path) -> Path:
        output.unlink(missing_ok=True)
        source = self._folder / "in.mlir"
        source.write_text(text)
        return source

    def _is_same(self) -> bool:
        return self._ours.read_bytes() == self._stocks.read_bytes()


def _codes(report: Report) -> list[str]:
    return sorted({finding.code for finding in report.findings})


def main() -> int:
    """`compared TRIAL FILE NUMBER…`: appends a line to FILE for each program of the trial, as soon as its verdict is there."""
    trial, file, numbers = sys.argv[1], Path(sys.argv[2]), [int(word) for word in sys.argv[3:]]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds_for(len(numbers)),) * 2)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    target, to, programs = drawn(trial)
    with tempfile.TemporaryDirectory() as folder, file.open("a", buffering=1) as out:
        comparison = Comparison(target, Path(folder), to)
        for first in range(0, len(numbers), MODULE):
            module = Module({number: programs[number][0] for number in numbers[first : first + MODULE]})
            for verdict in comparison.verdicts(module):
                out.write(json.dumps(verdict) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
