"""`fissile audit`: every op of a program that IREE cannot compile, in one run, before code is generated for the program."""

from __future__ import annotations

import argparse
import shlex

from fissile.cli.report_output import ReportOutput, add_report_arguments

EPILOG = """\
examples:
  fissile audit model.mlir --target llvm-cpu --target gfx942
  fissile audit model.mlir --target vulkan --reproducers repro/   a standalone program for each op
  fissile audit model.mlir --target gfx942 --strict               unsupported dead code is an error

exit status: 0 IREE can compile every op, 1 it cannot, 2 usage, 3 with --strict: something could not be checked
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
        help="gfx942, vulkan, llvm-cpu, …; may be repeated (`fissile targets` lists them)",
    )
    add_report_arguments(parser)
    parser.add_argument(
        "--reproducers",
        default="",
        metavar="DIR",
        help="write a standalone program for each op that is refused",
    )
    parser.add_argument("--verbose", action="store_true", help="list which phase handles the other ops")
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
        help="the compile of one op that takes longer counts as endless (default 30; 0: none)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="unsupported dead code (FIS412) is an error; what could not be checked (FIS902, FIS903) is exit status 3",
    )
    parser.add_argument(
        "--iree-flags",
        default="",
        metavar="FLAGS",
        help="further flags of iree-compile in one word: --iree-flags='--iree-input-type=torch'",
    )


def run(args: argparse.Namespace) -> int:
    """Prints the report on standard output; returns the exit status. Raises FissileError for what is no finding."""
    from fissile.errors import UsageError

    output = ReportOutput(args.format, args.report_file)
    if not args.target:
        raise UsageError("no target to audit for", "--target gfx942; `fissile targets` lists them")
    if args.dispatch_timeout < 0:
        raise UsageError("--dispatch-timeout takes a number of seconds", "0 is no limit")
    try:
        flags = shlex.split(args.iree_flags)
    except ValueError as error:
        raise UsageError(f"--iree-flags: {error}") from None
    from fissile.pipelines.audit.command import audit_command

    report = audit_command(
        args.input,
        args.target,
        flags,
        command=_again(args),
        strict=args.strict,
        reproducers=args.reproducers,
        dispatch_timeout=args.dispatch_timeout,
        allow_pipelines=args.allow_pipelines_in_input,
    )
    if args.strict:
        from fissile.pipelines.compile.stepping_aside import hold_strictly

        hold_strictly(report, _again(args))
    from fissile.pipelines.report.audit_text import render_audit

    def text() -> str:
        return render_audit(report, every_op=args.verbose, source=args.input)

    output.write(report, int(report.exit_code), lambda: print(text(), end=""), text)
    return int(report.exit_code)


def _again(args: argparse.Namespace) -> str:
    """The command line that shows what could not be checked, with its traceback."""
    from fissile.pipelines.process.limits import limits_in_force

    words = ["--strict", args.input, *(word for name in args.target for word in ("--target", name))]
    words += [f"--iree-flags={args.iree_flags}"] if args.iree_flags else []
    return f"fissile audit {shlex.join([*words, *limits_in_force(())])}"
