"""The `fissile-opt` program: runs passes on MLIR, fissile's and IREE's mixed, and prints the result.

fissile-opt model.mlir --pass-pipeline='builtin.module(fissile-lower-boundaries,canonicalize)'
fissile-opt model.mlir --fissile-lower-boundaries
iree-compile … --iree-hal-preprocess-executables-with="fissile-opt --pass-pipeline=…"
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fissile.cli.contained import contained
from fissile.cli.fitted_text import print_fitted
from fissile.cli.opt_flags import read_command_line
from fissile.cli.program import adopt_streams, output_as_messages, run_program, standard_output_is_open
from fissile.cli.report_output import ReportOutput
from fissile.cli.terminal import print_text
from fissile.errors import ExitCode, UsageError
from fissile.finding import Finding, Severity
from fissile.given_files import written_apart
from fissile.report import Report

if TYPE_CHECKING:
    from fissile.pipelines.probe.diagnostics import Diagnostic

STDIN_NAME = "<stdin>"
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `fissile-opt ARGV` and returns the exit status (`fissile.errors.ExitCode`).

    As a program (``argv`` None) the work is done in a child process: a pipeline that makes LLVM abort ends
    in a message and a status like any other failure.
    """
    if argv is None:
        adopt_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is not None:
        return run_program("fissile-opt", words, _work)
    return run_program("fissile-opt", words, lambda words: contained("fissile-opt", words, _work))


@dataclass(frozen=True)
class _Chunk:
    """A part of the input. ``text`` None means: the file, which may be bytecode, as it is."""

    name: str
    text: str | None


def _work(words: list[str]) -> ExitCode:
    flags, pipeline = read_command_line(words)
    if flags.list_passes:
        _print_passes()
        return ExitCode.CLEAN
    reported = ReportOutput(
        flags.format, flags.report_file, "the program" if flags.output == "-" else "", source=flags.input
    )
    written_apart((("-o", flags.output), ("--report-file", flags.report_file)))
    chunks = _chunks(flags.input, flags.split_input_file)

    from fissile.pipelines.session import Session

    session = Session()
    status, printed, found = ExitCode.CLEAN, [], []
    for chunk in chunks:
        of_chunk: list[Finding] = []
        try:
            printed.append(_transform(session, chunk, pipeline, flags, of_chunk.append))
        except _Stopped as stopped:
            of_chunk += stopped.findings
        found += of_chunk
        _print_findings(
            of_chunk if reported.prints_text else [], "" if chunk.name == STDIN_NAME else chunk.name
        )
        if any(finding.severity is Severity.ERROR for finding in of_chunk):
            status = ExitCode.FINDINGS
    if printed or status is ExitCode.CLEAN:
        _write("// -----\n".join(printed), flags.output)
    report = Report("fissile-opt", tuple(found), "" if flags.output == "-" else flags.output)
    reported.write(report, int(status), lambda: None, lambda: _text(found, flags.input))
    return status


class _Stopped(Exception):
    """The input, or the pipeline on it, was refused; there is nothing to print."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__()
        self.findings = tuple(findings)


def _transform(
    session, chunk: _Chunk, pipeline: str, flags: argparse.Namespace, report: Callable[[Finding], None]
) -> str:
    """One part of the input, parsed, verified, run through the pipeline and printed."""
    from fissile.dialect import register
    from fissile.dialect.verify import verify_dialect
    from fissile.passes.analysis.program.source_lines import text_may_be_quoted
    from fissile.passes.definition import PassFailed
    from fissile.pipelines.brought_code import refuse_brought_code
    from fissile.pipelines.contracts import property_named, watching
    from fissile.pipelines.pass_runner import run_pipeline
    from fissile.pipelines.session import PhaseFailed

    register(session.context)
    runs_constants = pipeline is not None and "iree-" in str(
        pipeline
    )  # a pass of IREE's may evaluate constants
    try:
        if chunk.text is None:
            module = session.parse_input(
                chunk.name, allow_pipelines=flags.allow_pipelines_in_input, runs_constants=runs_constants
            )
        else:
            text_may_be_quoted(chunk.name, chunk.text)
            module = session.parse_text(chunk.text, chunk.name)
            if not flags.allow_pipelines_in_input:
                refuse_brought_code(module.op, chunk.text.encode(), runs_constants)
    except PassFailed as refused:
        raise _Stopped(refused.findings) from None
    except PhaseFailed as failed:
        raise _Stopped(
            [_unread(one) for one in failed.errors] or [Finding("FIS001", failed.message)]
        ) from None
    if flags.verify_dialect and (wrong := verify_dialect(module.op)):
        raise _Stopped(wrong)
    if pipeline:
        try:
            watched = map(property_named, flags.verify_property)
            with output_as_messages(), watching(watched):
                run_pipeline(pipeline, module.op, report=report, verify_contracts=flags.verify_contracts)
        except PassFailed as failed:
            raise _Stopped(failed.findings) from None
    return module.text(locations=flags.mlir_print_debuginfo).rstrip("\n") + "\n"


def _unread(said: Diagnostic) -> Finding:
    """What the parser said, as a finding; of an op of fissile's, how it is written."""
    from fissile.passes.checks.refusals.unknown_op import check_unread_op

    unknown = check_unread_op(said.message, said.places[:1])
    if unknown is not None and unknown.code == "FIS402":
        return unknown.with_(detail=said.text)
    return Finding("FIS001", said.message, places=said.places[:1], detail=said.text)


def _chunks(source: str, split: bool) -> list[_Chunk]:
    """The input, whole or in parts, each padded with empty lines so that its places are the file's."""
    if source == "-":
        data = sys.stdin.buffer.read()
    else:
        path = Path(source)
        if not path.is_file():
            raise UsageError(f"not a file: {source}" if path.exists() else f"no such file: {source}")
        if not split:
            return [_Chunk(source, None)]
        data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise UsageError(
            f"{'standard input' if source == '-' else source} is not text",
            "bytecode is read from a named file, without --split-input-file",
        ) from None
    name = STDIN_NAME if source == "-" else source
    if not split:
        return [_Chunk(name, text)]
    chunks, start = [], 0
    for end, after in [m.span() for m in _SPLIT.finditer(text)] + [(len(text), len(text))]:
        if text[start:end].strip():
            chunks.append(_Chunk(name, "\n" * text.count("\n", 0, start) + text[start:end]))
        start = after
    return chunks


def _write(text: str, output: str) -> None:
    """All of ``text`` or nothing: a file is replaced only when its new content is complete."""
    if output == "-":
        if not standard_output_is_open():
            raise UsageError("cannot write to standard output: it is closed", "name a file: -o FILE")
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from fissile.pipelines.process.atomic_write import write_atomically

    write_atomically(output, lambda file: file.write_text(text))


def _print_passes() -> None:
    from fissile.passes.catalogue import find_pass, known_passes

    for name in known_passes():
        first = (find_pass(name).__doc__ or "").strip().split("\n\n")[0]
        print_fitted(f"{name:<32}  {' '.join(first.split())}\n")


def _print_findings(findings: Sequence[Finding], source: str) -> None:
    if findings:
        print_text(_text(findings, source), sys.stderr)


def _text(findings: Sequence[Finding], source: str) -> str:
    from fissile.finding import ordered
    from fissile.pipelines.report.text import render_finding
    from fissile.pipelines.report.untrusted_text import SourceLines

    lines = SourceLines(source)
    return "".join(render_finding(finding, lines) + "\n" for finding in ordered(findings))


if __name__ == "__main__":
    sys.exit(main())
