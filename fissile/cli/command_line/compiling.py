"""The commands that take iree-compile's command line: compile and reduce."""

from __future__ import annotations

from fissile.option import Argument, Option
from fissile.pipelines.compile.options import GROUPS, LIMITS_OF_TIME
from fissile.shared_options import (
    DISPATCH_TIMEOUT,
    LIMITS,
    REPORT,
    STRICT,
    VOICE,
)

from .declaration import Command, Example

COMPILE = Command(
    "compile",
    "fissile.cli.commands.compile",
    "iree-compile, guarded: what stock IREE refuses is repaired and reported",
    arguments=(
        Argument(
            "MODEL",
            "an ONNX model, an exported PyTorch program, or MLIR as text or bytecode; '-' is standard input",
        ),
    ),
    options=(
        (
            "files",
            (
                Option(
                    "output",
                    "where the module goes; '-', the default, is standard output",
                    value="FILE",
                    short="o",
                ),
            ),
        ),
        *GROUPS[:-1],
        ("limits", (*LIMITS_OF_TIME, *LIMITS)),
    ),
    examples=(
        Example("fissile compile model.mlir --target gfx942 -o model.vmfb", "for a target by its name"),
        Example(
            "fissile compile --iree-hal-target-device=hip --iree-rocm-target=gfx942 model.mlir -o model.vmfb",
            "with the flags of iree-compile",
        ),
        Example("fissile compile model.mlir --target gfx942 --repair=suggest", "only name the repair"),
        Example(
            "fissile compile model.mlir --target llvm-cpu -o model.vmfb --verify",
            "compare the numbers as well",
        ),
    ),
    description="Takes every flag of iree-compile (iree-compile --help lists them). Where stock IREE succeeds, the output is byte for "
    "byte the same. Where it fails for a reason that fissile knows, fissile repairs the program, compiles it and reports the repair.",
    flags="iree-compile flags",
    exit_status="0 clean or repaired: the numbers are right as far as fissile knows; 1 an error remains (no output); 2 usage, or no "
    "space, memory or processes left; 3 with --strict, or where stock IREE cannot stand in: fissile failed, a reproducer is named",
    own_parser=True,
)
REDUCE = Command(
    "reduce",
    "fissile.cli.commands.reduce",
    "a small program of its own that fails as a large one does",
    arguments=COMPILE.arguments,
    options=(
        (
            "what is written",
            (
                Option(
                    "output",
                    "where the reduced program goes (default: standard output)",
                    value="FILE",
                    short="o",
                ),
                Option("dispatch", "the dispatch to reduce to (default: the first that fails)", value="NAME"),
                COMPILE.options[1][1][0],
                STRICT,
            ),
        ),
        ("output", (*REPORT, *VOICE)),
        ("limits", (DISPATCH_TIMEOUT, *LIMITS)),
    ),
    examples=(
        Example("fissile reduce model.mlir --target gfx942 -o small.mlir", "for a target by its name"),
        Example(
            "fissile reduce model.mlir --target gfx942 --dispatch=main_dispatch_0 -o small.mlir",
            "one dispatch",
        ),
    ),
    description="Writes the ops of one failing dispatch as a function of its own, as few as still fail in the same way, with the command "
    "that shows it on stock IREE in its first lines. The reduced program is compiled again with stock IREE: it fails by the same rule, "
    "root and message, or FIS152 says in what it differs.",
    flags="iree-compile flags",
    exit_status="0 written; 1 the program fails before code generation, or the reduced one differs (FIS152); 2 usage, or nothing fails; "
    "3 with --strict: something could not be checked",
    own_parser=True,
)
