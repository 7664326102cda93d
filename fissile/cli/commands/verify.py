"""`fissile verify`: run two programs, or one against expected outputs or a NumPy function, and compare the numbers."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fissile.cli.arguments import Parser
from fissile.cli.report_output import ReportOutput, add_report_arguments
from fissile.errors import ExitCode, UsageError, closest
from fissile.report import Report

_IREE_FLAGS = ("--iree-", "--mlir-", "--torch-")
"""Flags that go to iree-compile as they are, for every program that is compiled."""

_EPILOG = """\
The first program is the reference: IREE compiles it for llvm-cpu, with what llvm-cpu is known to compute wrongly
decomposed, and it runs here. The second one (or the first alone) runs on every runtime that is present, or on those
named with --on, and is compared with it. Where the two differ, NumPy's evaluation of the first program decides.

examples:
  fissile verify model.mlir                          every runtime against llvm-cpu
  fissile verify model.mlir repaired.mlir            a changed program against its original
  fissile verify model.mlir model.vmfb --on vulkan   what was compiled against its source
  fissile verify model.mlir --reference=golden.py:conv
  fissile verify model.mlir --input=x.npy --expected=y.npy

exit status: 0 all agree, 1 something differs or could not be compared, 2 usage
"""


def parser() -> argparse.ArgumentParser:
    """fissile's own options; what it does not know and reads like IREE's goes to IREE."""
    parser = Parser(
        prog="fissile verify",
        usage="fissile verify FIRST [SECOND] [options] [iree-compile flags]",
        description="Run two programs, or one against expected outputs or a NumPy function, and compare the numbers.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("first", type=Path, help="MLIR file or .vmfb")
    parser.add_argument("second", type=Path, nargs="?", help="MLIR file or .vmfb to compare with the first")
    parser.add_argument("--function", help="public function to call (default: the only one)")
    parser.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="RUNTIME",
        help="local-task, vulkan, cuda or hip; may be repeated (default: all that answer)",
    )
    parser.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="seeded random inputs to try (default 1)"
    )
    parser.add_argument(
        "--sizes",
        default="8",
        metavar="SIZE[,ARGUMENT.DIMENSION=SIZE…]",
        help="sizes of dynamic dimensions (default 8)",
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        metavar="ARGUMENT=LOW:HIGH",
        help="closed range of an argument's random values",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.npy",
        help="an input instead of random ones, in order; may be repeated",
    )
    parser.add_argument(
        "--expected",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.npy",
        help="an expected output, in order; may be repeated; needs --input",
    )
    parser.add_argument(
        "--reference", metavar="FILE.py:FUNCTION", help="a NumPy function that computes the outputs"
    )
    parser.add_argument(
        "--tolerance",
        metavar="exact|ABSOLUTE[,RELATIVE]|Nsteps,SHARE",
        help="what may differ (default: derived from the program's types and sums, docs/numerics.md)",
    )
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="per run (default 120)"
    )
    parser.add_argument(
        "--allow-pipelines-in-input",
        action="store_true",
        help="run pass pipelines that a program brings along (FIS005); only for programs that you trust",
    )
    add_report_arguments(parser)
    return parser


def run(argv: Sequence[str]) -> int:
    """Prints the certificate; returns the exit status. Raises UsageError for what the caller got wrong."""
    own = parser()
    args, flags = own.parse_known_args(list(argv))
    for flag in flags:
        if not flag.startswith(_IREE_FLAGS):
            known = [name for action in own._actions for name in action.option_strings]
            raise UsageError(
                f"unknown argument '{flag}'",
                closest(flag.split("=")[0], known) or "see fissile verify --help",
            )
    from fissile.pipelines.importers.imported import importable
    from fissile.pipelines.process.scratch import scratch

    if args.expected and not args.input:
        raise UsageError(
            "--expected needs the inputs that it was computed from", "give them with --input=FILE.npy"
        )
    if args.expected and args.reference:
        raise UsageError("--expected and --reference both say what is right", "give one of them")
    output = ReportOutput(args.format, args.report_file)
    if args.seeds < 1:
        raise UsageError(f"--seeds={args.seeds} tries nothing", "give 1 or more")
    with scratch() as folder:
        first = importable(args.first, folder)
        second = importable(args.second, folder) if args.second else None
        certificate = _certificate(args, first, second, flags)
    status = int(ExitCode.CLEAN if certificate.agrees else ExitCode.FINDINGS)
    report = Report("verify", certificate.findings, facts={"certificate": certificate.to_json()})
    output.write(
        report,
        status,
        lambda: print("\n".join(_lines(certificate))),
        lambda: "\n".join(_lines(certificate)) + "\n",
    )
    return status


def _certificate(args: argparse.Namespace, first: Path, second: Path | None, flags: Sequence[str]):
    from fissile.pipelines.numerics.inputs import Sizes
    from fissile.pipelines.numerics.verify import Options, verify

    return verify(
        first,
        second,
        inputs=[_load(path) for path in args.input] or None,
        expected=[_load(path) for path in args.expected] or None,
        reference=_reference(args.reference) if args.reference else None,
        options=Options(
            function=args.function,
            on=tuple(args.on),
            seeds=tuple(range(args.seeds)),
            sizes=Sizes.parse(args.sizes),
            ranges=dict(map(_range, args.range)),
            tolerance=_tolerance(args.tolerance),
            flags=tuple(flags),
            run_timeout=args.timeout,
            allow_pipelines=args.allow_pipelines_in_input,
        ),
    )


def _lines(certificate) -> list[str]:
    from fissile.pipelines.report.untrusted_text import shown

    lines = []
    for check in certificate.checks:
        if check.agrees:
            lines.append(f"ok: {shown(check.program)} on {shown(check.sentence)}")
    for skipped in certificate.skipped:
        lines.append(f"skipped: {shown(skipped)}")
    for finding in certificate.findings:
        lines.append(f"{finding.severity.value}[{finding.code}] {shown(finding.message)}")
    bad = sum(not check.agrees for check in certificate.checks)
    verdict = (
        certificate.sentence
        if certificate.agrees
        else f"{bad} of {len(certificate.checks)} runs do not agree"
    )
    return [*lines, f"{shown(certificate.subject)}: {shown(verdict)}"]


def _load(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}", "name a file that exists"
        ) from None
    except ValueError:
        raise UsageError(f"{path} is no .npy file of plain numbers", "write it with numpy.save") from None


def _reference(spelled: str):
    file, _, name = spelled.rpartition(":")
    if not file or not name.isidentifier():
        raise UsageError(f"'{spelled}' names no function", "write --reference=FILE.py:FUNCTION")
    if not Path(file).is_file():
        raise UsageError(f"no such file: {file}", "write --reference=FILE.py:FUNCTION")
    spec = importlib.util.spec_from_file_location("fissile_reference", file)
    if spec is None:
        raise UsageError(f"{file} is no Python file", "write --reference=FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a user's file: any error is theirs to read
        raise UsageError(
            f"{file} cannot be loaded: {type(error).__name__}: {error}", "correct the file"
        ) from None
    function = getattr(module, name, None)
    if not callable(function):
        known = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        raise UsageError(f"{file} has no function '{name}'", closest(name, known))
    return function


def _range(spelled: str) -> tuple[int, tuple[float, float]]:
    try:
        argument, _, limits = spelled.partition("=")
        low, high = map(float, limits.split(":"))
        if low > high:
            raise ValueError
        return int(argument), (low, high)
    except ValueError:
        raise UsageError(
            f"'{spelled}' is no range", "write --range=ARGUMENT=LOW:HIGH, as in 0=-1:1"
        ) from None


def _tolerance(spelled: str | None):
    from fissile.pipelines.numerics.compare import EXACT, Tolerance, steps_within

    if spelled is None:
        return None
    if spelled == "exact":
        return EXACT
    first, _, second = spelled.partition(",")
    try:
        if first.endswith(("step", "steps")):
            return steps_within(int(first.removesuffix("s").removesuffix("step")), float(second))
        return Tolerance(
            absolute=float(first), relative=float(second or 0), reason="given on the command line"
        )
    except ValueError:
        raise UsageError(
            f"'{spelled}' is no tolerance", "write exact, ABSOLUTE, ABSOLUTE,RELATIVE or 1steps,0.001"
        ) from None
