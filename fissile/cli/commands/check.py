"""`fissile check`: where every dispatch's on-chip bytes come from, for many targets."""

from __future__ import annotations

import argparse
import shlex

from fissile.cli.report_output import ReportOutput, add_report_arguments

EPILOG = """\
examples:
  fissile check model.mlir --target gfx942 --target sm_86 --target vulkan --target llvm-cpu
  fissile check model.mlir --target gfx942 --budget 32K          a hypothetical device
  fissile check model.mlir --target gfx942 --baseline bytes.json --update-baseline
  fissile check model.mlir --target gfx942 --baseline bytes.json fails when a dispatch grew
  fissile check model.mlir --target gfx942 --format=sarif --report-file=fissile.sarif

exit status: 0 no error, 1 stock IREE refuses the program, never ends, or builds it wrong, 2 usage, 3 with --strict: something could not be checked
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("input", help="MLIR file: what iree-compile takes")
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="NAME",
        help="gfx942, sm_86, vulkan, vulkan:ampere, vulkan:device, llvm-cpu, …; may be repeated "
        "(`fissile targets` lists them)",
    )
    parser.add_argument(
        "--budget", metavar="BYTES", help="a limit to check against instead of the target's: 65536, 64K"
    )
    parser.add_argument(
        "--probe",
        choices=("auto", "all", "never"),
        default="auto",
        help="generate code for all dispatches but those of a calibrated structure that fit by prediction (auto), for every one and "
        "compile to the end (all), or for none: only predict (never)",
    )
    add_report_arguments(parser)
    parser.add_argument(
        "--memory",
        action="store_true",
        help="print the peak of live bytes over program time, and the tensors alive there",
    )
    parser.add_argument("--verbose", action="store_true", help="list every dispatch with its buffers")
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare with the bytes recorded in FILE; fails where one grew"
    )
    parser.add_argument(
        "--update-baseline", action="store_true", help="record the bytes in the baseline FILE"
    )
    parser.add_argument(
        "--allow-pipelines-in-input",
        action="store_true",
        help="run pass pipelines that the input brings along (FIS005); only for input that you trust",
    )
    parser.add_argument(
        "--dispatch-timeout",
        type=float,
        default=30.0,
        metavar="SECONDS",
        help="code generation of one dispatch that takes longer counts as endless (default 30; 0: none)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="what could not be checked (FIS902, FIS903) is exit status 3"
    )
    parser.add_argument(
        "--iree-flags",
        default="",
        metavar="FLAGS",
        help="further flags of iree-compile in one word: --iree-flags='--iree-opt-level=O3'",
    )


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output; returns the exit status. Raises FissileError for what is no
    finding."""
    from fissile.errors import UsageError
    from fissile.target import parse_budget

    output = ReportOutput(args.format, args.report_file)
    budget = parse_budget(args.budget) if args.budget is not None else None
    if args.update_baseline and not args.baseline:
        raise UsageError("--update-baseline needs a file", "name it: --baseline FILE")
    if args.dispatch_timeout < 0:
        raise UsageError("--dispatch-timeout takes a number of seconds", "0 is no limit")
    try:
        flags = shlex.split(args.iree_flags)
    except ValueError as error:
        raise UsageError(f"--iree-flags: {error}") from None
    from fissile.pipelines.check.check_worker import run_check

    report = run_check(
        args.input,
        args.target,
        command=_strictly(args),
        budget=budget,
        flags=flags,
        probe=args.probe,
        dispatch_timeout=args.dispatch_timeout,
        baseline=args.baseline,
        update_baseline=args.update_baseline,
        memory=args.memory,
        allow_pipelines=args.allow_pipelines_in_input,
    )
    if args.strict:
        from fissile.pipelines.compile.stepping_aside import hold_strictly

        hold_strictly(report, _strictly(args))
    from fissile.pipelines.report.footprint_text import render_check

    def text() -> str:
        return render_check(report, every_dispatch=args.verbose, source=args.input)

    output.write(report, int(report.exit_code), lambda: print(text(), end=""), text)
    return int(report.exit_code)


def _strictly(args: argparse.Namespace) -> str:
    """The command line that shows what could not be checked, with its traceback."""
    from fissile.pipelines.process.limits import limits_in_force

    words = ["--strict", args.input, *(word for name in args.target for word in ("--target", name))]
    words += [f"--budget={args.budget}"] if args.budget else []
    words += [f"--probe={args.probe}"] if args.probe != "auto" else []
    words += [f"--iree-flags={args.iree_flags}"] if args.iree_flags else []
    return f"fissile check {shlex.join([*words, *limits_in_force(())])}"
