"""Where a command's report goes, and in which format: `--format` and `--report-file` of every command that reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fissile.errors import UsageError
from fissile.given_files import written_apart
from fissile.report import Report
from fissile.shared_options import PAGE, REPORT

if TYPE_CHECKING:
    import argparse


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    from fissile.cli.command_line.parser import add_option

    for option in REPORT:
        add_option(parser, option)


@dataclass(frozen=True)
class ReportOutput:
    """``form`` is one of `fissile.shared_options.FORMATS`; ``file`` empty: a report for machines goes to standard output.

    ``results``: what else the command writes to standard output, empty where nothing; a report for machines is not mixed with it.
    ``page`` is a file for the report as HTML, which quotes lines of ``source``, the input.
    """

    form: str = "text"
    file: str = ""
    results: str = ""
    page: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Raises UsageError where the report has no place to go, before anything is compiled."""
        if self.file == "-":
            raise UsageError(
                "--report-file does not write to standard output", "--format alone prints the report there"
            )
        if self.page == "-":
            raise UsageError("--report does not write to standard output", "name a file: --report=FILE.html")
        written_apart((("the input", self.source), ("--report-file", self.file), ("--report", self.page)))
        if self.page:
            _writable("report", self.page)
        if self.file:
            _writable("report-file", self.file)
        elif self.results and self.form != "text":
            raise UsageError(
                f"--format={self.form} and {self.results} both go to standard output",
                "name a file for one of them: -o FILE or --report-file=FILE",
            )

    @property
    def prints_text(self) -> bool:
        """Whether the report is printed for a person, alone or beside the file."""
        return self.form == "text" or bool(self.file)

    def write(
        self, report: Report, exit_status: int, print_text: Callable[[], None], text: Callable[[], str]
    ) -> None:
        """Prints ``report``, or writes it to the file and prints the text; ``text`` is what a file gets in that format."""
        from fissile.pipelines.report.formats import rendered

        machine = "" if self.form == "text" else rendered(report, self.form, exit_status)
        if self.file:
            content = text() if self.form == "text" else machine
            _write("report-file", self.file, content)
        if self.page:
            from fissile.pipelines.report.json_document import document

            write_page("report", self.page, document(report, exit_status), self.source)
        if self.prints_text:
            print_text()
        else:
            sys.stdout.write(machine)


def write_page(option: str, file: str, document: Mapping[str, Any], source: str = "") -> None:
    """Writes a report's JSON values as an HTML page; "-" is standard output.

    Raises UsageError where ``file``, the value of ``option``, cannot be written.
    """
    from fissile.pipelines.report.html.page import page
    from fissile.pipelines.report.untrusted_text import SourceLines

    text = page(document, SourceLines(source), source)
    if file == "-":
        sys.stdout.write(text)
    else:
        _write(option, file, text)


def _writable(option: str, file: str) -> None:
    from fissile.pipelines.process.atomic_write import place_of

    try:
        place_of(file)
    except UsageError as error:
        raise UsageError(
            f"cannot write --{option}={file}: {error.message.rpartition(': ')[2]}",
            "name a file that can be written",
        ) from None


def _write(option: str, file: str, content: str) -> None:
    from fissile.pipelines.process.atomic_write import write_atomically

    try:
        write_atomically(file, lambda partial: partial.write_text(content, encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot write --{option}={file}: {error.strerror}") from None


def report_output_of(words: Sequence[str]) -> ReportOutput:
    """The output that a command line asks for, for a parent whose child ended before it could report."""
    import argparse

    from fissile.cli.command_line.parser import add_option

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_report_arguments(parser)
    add_option(parser, PAGE)
    try:
        known, _rest = parser.parse_known_args(list(words))
        return ReportOutput(known.format, known.report_file, page=known.page)
    except (argparse.ArgumentError, UsageError):
        return ReportOutput()
