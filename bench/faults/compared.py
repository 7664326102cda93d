"""The child process of `differential`: compiles programs as stock does and as fissile does, in one process, and compares the bytes."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from fissile.passes.net import Net, spread
from fissile.pipelines.compile import compile_run
from fissile.pipelines.compile.guarded_compile import GuardedCompile
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.session import PhaseFailed, Session

from .differential import TARGETS, drawn


def compared(target: str, text: str, folder: Path, to: str = "end") -> tuple[str, str]:
    """The verdict on one program, compiled as far as phase ``to``, and what fissile says of it."""
    source, ours, stocks = folder / "in.mlir", folder / "ours.vmfb", folder / "stocks.vmfb"
    source.write_text(text)
    for file in (ours, stocks):
        file.unlink(missing_ok=True)
    refused = _stock(target, source, stocks, to)
    request = parse_command_line([*TARGETS[target], f"--compile-to={to}", str(source), "-o", str(ours)])
    run = compile_run.CompileRun(request, ours, None, folder)
    run.session.set_flags(request.flags)  # the process's in a worker, the session's here
    with spread(Net("")):
        report = GuardedCompile(run).run()
    codes = sorted({finding.code for finding in report.findings})
    messages = "; ".join(
        f"{finding.severity.value}[{finding.code}] {finding.message}" for finding in report.findings
    )[:400]
    if any(code in ("FIS902", "FIS903") for code in codes):
        return "internal error", messages
    if refused:
        return ("repaired" if report.exit_code == 0 else "refused by both"), messages or refused
    if report.exit_code == 0 and ours.read_bytes() == stocks.read_bytes():
        return "same bytes", messages
    if report.exit_code == 0:
        return ("changed with a finding", messages) if codes else ("changed without a finding", "")
    reasons = [f for f in report.findings if f.severity.value == "error" and f.effect.is_built]
    return ("withheld: " + " ".join(codes), messages) if reasons else ("refused for no reason", messages)


def _stock(target: str, source: Path, output: Path, to: str) -> str:
    """Compiles as iree-compile does; why it refuses, or nothing."""
    session = Session(TARGETS[target])
    session.context.allow_unregistered_dialects = False
    try:
        session.write(session.run(session.parse(source), to), output, "vm-bytecode" if to == "end" else "ir")
    except PhaseFailed as failure:
        return failure.message
    return ""


def main() -> int:
    trial, file, numbers = sys.argv[1], Path(sys.argv[2]), map(int, sys.argv[3:])
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            target, text, _kinds = drawn(trial, number)
            try:
                verdict, messages = compared(target, text, Path(folder))
            except Exception as error:
                verdict, messages = "internal error", f"{type(error).__name__}: {error}"[:400]
            with file.open("a") as out:
                out.write(json.dumps([number, verdict, messages]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
