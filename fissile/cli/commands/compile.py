"""`fissile compile`: iree-compile, flag for flag, guarded."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fissile.cli.report_output import ReportOutput
from fissile.errors import UsageError

USAGE = """\
usage: fissile compile [iree-compile flags] INPUT.mlir -o OUTPUT.vmfb [options]

Takes every flag of iree-compile (iree-compile --help lists them). Where stock IREE succeeds, the output is byte
for byte the same; where it fails for a reason fissile knows, fissile repairs and compiles it and reports the repair.

options:
  --repair=auto|suggest|off          repair what IREE refuses (default auto); suggest: say how, write nothing
  --fusion=tune                      cut off producers that are computed again for every use (FIS140; llvm-cpu)
  --tune                             time the repairs that pass on the runtime that is present, take the fastest
  --fissile-match-device=vulkan      compile for the Vulkan device that is present here
  --verify                           run repaired against original and compare the numbers
  --fissile-verify-seeds=N           how many seeded random inputs --verify draws (default 1)
  --fissile-pipeline-after=PHASE:PIPELINE
                                     run a textual pass pipeline, fissile's and IREE's passes mixed, after a phase
  --iree-preprocessing-pass-pipeline=PIPELINE
                                     IREE's own option; fissile's passes may stand in it
  --fissile-load-passes=FILE.py      load passes of your own
  --allow-pipelines-in-input         run pass pipelines that the input brings along (FIS005); only for input that you trust
  --check-lifetimes                  report the peak of live bytes, and transients that live longer than needed (FIS308)
  --verify-contracts                 check every pass's contract after every pass
  --emit-mlir=FILE                   write the repaired module too; iree-compile --compile-from=global-optimization
                                     takes it
  --emit-tuning-spec=FILE            where a lowering configuration repairs a dispatch, prefer it and write it as a
                                     spec: stock IREE compiles the program as it is with it (AMD, NVIDIA)
  --format=text|json|sarif|github    the report: for a person on stderr, for machines on stdout
  --report-file=FILE                 write the report in --format to FILE, and print the text as well
  --dispatch-timeout=SECONDS         code generation of one dispatch that takes longer counts as endless, and
                                     is repaired as any failure (default 30)
  --phase-timeout=SECONDS            one step that takes longer (the parse, a phase of IREE's, a pass of yours) counts as
                                     endless (default 600, and 10 more for each MiB of the input; 0: none)
  --fissile-time-limit=SECONDS       stop the compiler after this time
  --memory-limit=SIZE                memory of each process of the compile, 8G for example (default: the machine's)
  --allow-wrong-numbers              write the output even where its numbers are known to be wrong (exit 0, a warning)
  --fissile-werror                   warnings count as errors: exit 1 and no output
  --strict                           what fissile could not check (FIS902, FIS903) is exit status 3 and no output
  --fissile-verbose                  IREE's own messages and the time of each step as well

exit status: 0 clean or repaired: the numbers are right as far as fissile knows, 1 an error remains (no output),
             2 usage, or no space, memory or processes left, 3 with --strict, or where stock IREE cannot stand in:
fissile failed (a reproducer is named). Without --strict what fails in fissile is not checked (FIS902, FIS903), and the compile goes on.
"""


def run(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit status. Raises FissileError for what is no finding."""
    from fissile.cli.program import standard_output_is_open
    from fissile.pipelines.compile.request import parse_command_line
    from fissile.pipelines.process.supervisor import run_compile, run_stock

    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0 if argv else 2
    request = parse_command_line(argv)
    if request.stock:
        return run_stock(request)
    if request.output == "-" and not standard_output_is_open():
        raise UsageError("cannot write to standard output: it is closed", "name a file: -o FILE")
    output = ReportOutput(request.format, request.report_file, "the module" if request.output == "-" else "")
    report = run_compile(request)
    output.write(
        report, int(report.exit_code), lambda: _print(report, request), lambda: _text(report, request)
    )
    return int(report.exit_code)


def _text(report, request) -> str:
    from fissile.pipelines.report.text import render

    return render(report, request.input)


def _print(report, request) -> None:
    from fissile.cli.terminal import print_report
    from fissile.pipelines.report.untrusted_text import shown, shown_lines

    for message in report.messages:
        print("\n  ".join(shown_lines(message)), file=sys.stderr)
    print_report(report, request.input)
    if request.verbose:
        for finding in report.findings:
            if finding.detail:
                detail = "\n  ".join(shown_lines(finding.detail))
                print(f"\nIREE on {shown(finding.subject or finding.code)}:\n  {detail}", file=sys.stderr)
        steps = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in report.seconds.items())
        print(f"fissile: {steps}", file=sys.stderr)
