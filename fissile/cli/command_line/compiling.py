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
    "iree-compile with a guard: repair what stock IREE rejects or miscompiles",
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
                    "the module; '-', the default, is standard output",
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
        Example(
            "fissile compile model.mlir --target gfx942 --repair=suggest", "report the repair, write nothing"
        ),
        Example(
            "fissile compile model.mlir --target llvm-cpu -o model.vmfb --verify",
            "compare the numbers too",
        ),
    ),
    description="Takes every flag of iree-compile (iree-compile --help lists them). If stock IREE compiles the program correctly, the output "
    "is byte for byte the same. If it fails for a reason that fissile knows, fissile repairs the program, compiles it and reports the repair.",
    flags="iree-compile flags",
    exit_status="0 clean or repaired: the numbers are right as far as fissile knows; 1 an error remains (no output); 2 usage, or no "
    "space, memory or processes left; 3 fissile failed (with --strict, or if stock IREE cannot take over); it names a reproducer",
    own_parser=True,
)
REDUCE = Command(
    "reduce",
    "fissile.cli.commands.reduce",
    "write a small program that fails in the same way as a large one",
    arguments=COMPILE.arguments,
    options=(
        (
            "what is written",
            (
                Option(
                    "output",
                    "the reduced program (default: standard output)",
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
    description="Writes a function with as few ops of one failing dispatch as still fail in the same way. Its first lines show the command "
    "that reproduces the failure with stock IREE. fissile compiles the reduced program with stock IREE to confirm that it fails with the same "
    "rule, root op and message; otherwise FIS152 reports the difference.",
    flags="iree-compile flags",
    exit_status="0 written; 1 the program fails before code generation, or the reduced one differs (FIS152); 2 usage, or no dispatch fails; "
    "3 with --strict: something could not be checked",
    own_parser=True,
)
