"""What `fissile-opt`'s command line says: flags, and passes that are flags of their own."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from fissile.cli.command_line.parser import Parser
from fissile.cli.program import output_as_messages
from fissile.cli.report_output import add_report_arguments
from fissile.errors import UsageError, closest
from fissile.shared_options import LIMITS

_PASS_FLAG = re.compile(r"--?([a-z][a-z0-9-]*)(?:=(.*))?", re.DOTALL)


def _parser() -> Parser:
    parser = Parser(
        prog="fissile-opt",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs fissile's and IREE's passes on MLIR and prints the result.",
        epilog="Each fissile pass is also a flag: --fissile-lower-boundaries, with options after '=':\n"
        "--fissile-place-boundaries='ops=1,2'. Several passes run in the given order.\n\n"
        "exit status: 0 clean, 1 findings, 2 usage, 3 internal error",
    )
    parser.add_argument(
        "input", nargs="?", default="-", help="an MLIR file; '-', the default, is standard input"
    )
    parser.add_argument(
        "-o", dest="output", default="-", metavar="FILE", help="the result (default: standard output)"
    )
    parser.add_argument(
        "--pass-pipeline", default="", metavar="TEXT", help="builtin.module(pass,pass{option=1},…)"
    )
    parser.add_argument(
        "--split-input-file",
        action="store_true",
        help="process the parts between '// -----' lines separately",
    )
    parser.add_argument(
        "--verify-contracts",
        action="store_true",
        help="check the properties that the passes name, and fissile's own, after every pass",
    )
    parser.add_argument(
        "--verify-property",
        action="append",
        default=[],
        metavar="NAME",
        help="with --verify-contracts: check this property too",
    )
    parser.add_argument(
        "--verify-dialect",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="check the fissile ops of the input first",
    )
    parser.add_argument(
        "--load-passes", action="append", default=[], metavar="FILE", help="a Python file with passes"
    )
    parser.add_argument(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accepted for compatibility with mlir-opt; always on",
    )
    parser.add_argument(
        "--allow-pipelines-in-input",
        action="store_true",
        help="accept an input that contains pass pipelines (FIS005)",
    )
    add_report_arguments(parser)
    for limit in LIMITS:  # every program takes them before it reads its words
        parser.add_argument(f"--{limit.name}", metavar=limit.value, help=limit.help)
    parser.add_argument("--mlir-print-debuginfo", action="store_true", help="print locations")
    parser.add_argument("--list-passes", action="store_true", help="print fissile's passes and exit")
    return parser


def read_command_line(words: list[str]) -> tuple[argparse.Namespace, str]:
    """The flags, and the one pipeline that --pass-pipeline or the single passes make ("" where none).

    User passes are loaded first, since their names are flags too. Raises UsageError.
    """
    from fissile.passes.catalogue import known_passes, load_user_passes

    parser = _parser()
    known_flags = [flag for action in parser._actions for flag in action.option_strings]
    # As in mlir-opt, one dash does for two.
    words = [
        "-" + w if re.match(r"-[a-z][a-z-]", w) and "-" + w.split("=")[0] in known_flags else w for w in words
    ]
    for position, word in enumerate(words):
        if word.startswith("--load-passes"):
            file = word.partition("=")[2] or (words[position + 1] if position + 1 < len(words) else "")
            with output_as_messages():
                load_user_passes(file)
    names = set(known_passes())
    passes, rest = [], []
    for word in words:
        match = _PASS_FLAG.fullmatch(word)
        if match and match.group(1) in names:
            passes.append((match.group(1), match.group(2) or ""))
        else:
            rest.append(word)
    flags, unknown = parser.parse_known_args(rest)
    if unknown:
        word = unknown[0].split("=")[0]
        if not word.startswith("-"):
            raise UsageError(f"one input file, please: '{flags.input}' and '{word}' were given")
        raise UsageError(f"unknown flag or pass '{word}'", _way_out(word, [*known_flags, *names]))
    if passes and flags.pass_pipeline:
        raise UsageError(
            "both --pass-pipeline and single passes were given", "put the passes into the pipeline"
        )
    return flags, flags.pass_pipeline or _pipeline_of(passes)


_OF_MLIR_OPT = {
    "verify-each": "IR is verified after every pass of fissile's and of yours; there is no option to leave it out",
    "verify-diagnostics": "fissile-opt checks no expected messages: FileCheck on standard error, or --format=json, does",
    "mlir-print-d": "did you mean '--mlir-print-debuginfo'?",
    "mlir-print-ir": "fissile-opt does not print IR between passes: run it once for each part of the pipeline, or take iree-opt where "
    "all passes are IREE's",
    "mlir-print": "iree-opt prints in other forms what fissile-opt writes: fissile-opt … | iree-opt --mlir-print-…",
    "mlir-": "fissile-opt has no such option of MLIR's; iree-opt has it, for a pipeline of IREE's passes alone",
    "debug": "fissile-opt has no options of LLVM's; iree-opt has them, for a pipeline of IREE's passes alone",
}
"""What somebody who knows mlir-opt tries, by how it begins, and what there is instead: the nearest name would be of something else."""


def _way_out(word: str, known: list[str]) -> str:
    name = word.lstrip("-")
    for begin, instead in _OF_MLIR_OPT.items():
        if name.startswith(begin):
            return instead
    near = closest(name, [one.lstrip("-") for one in known])
    if near.startswith("did you mean"):
        return near.replace("'", "'--", 1)
    return "passes of IREE go into --pass-pipeline; fissile-opt --help lists the flags"


def _pipeline_of(passes: Sequence[tuple[str, str]]) -> str:
    from fissile.passes.catalogue import find_pass

    parts = []
    for name, options in passes:
        options = options[1:-1] if options.startswith("{") and options.endswith("}") else options
        call = f"{name}{{{options}}}" if options else name
        anchor = find_pass(name).anchor
        parts.append(call if anchor in ("builtin.module", "any") else f"{anchor}({call})")
    return f"builtin.module({','.join(parts)})" if parts else ""
