"""The commands that look at a program and write none: check, audit, verify."""

from __future__ import annotations

from fissile.option import Argument, Option
from fissile.option_values import at_least_one, seconds
from fissile.shared_options import (
    ALLOW_PIPELINES,
    DISPATCH_TIMEOUT,
    LIMITS,
    NO_CACHE,
    PAGE,
    REPORT,
    STRICT,
    VOICE,
)

from .declaration import Command, Example

MODEL = Argument("MODEL", "an ONNX model, an exported PyTorch program, or MLIR as text or bytecode")
TARGET = Option(
    "target",
    "gfx942, sm_86, vulkan, vulkan:ampere, vulkan:device, llvm-cpu, …; may be repeated (`fissile targets` lists them)",
    value="NAME",
    repeated=True,
)
IREE_FLAGS = Option(
    "iree-flags",
    "more flags for iree-compile, quoted as one word: --iree-flags='--iree-input-type=torch'",
    value="FLAGS",
    default="",
)

CHECK = Command(
    "check",
    "fissile.cli.commands.check",
    "find what stock IREE rejects or miscompiles, without a full compile",
    arguments=(MODEL,),
    options=(
        (
            "what is checked",
            (
                TARGET,
                Option(
                    "budget", "a limit to check against instead of the target's: 65536, 64K", value="BYTES"
                ),
                Option(
                    "probe",
                    "generate code for dispatches whose prediction may be wrong (auto), for every dispatch, and compile to the end "
                    "(all), or for none (never)",
                    choices=("auto", "all", "never"),
                    default="auto",
                ),
                Option(
                    "memory",
                    "print the peak of live bytes over program time, and the tensors that are live there",
                ),
                Option(
                    "simulate",
                    "run the code of each dispatch for a GPU in NumPy, thread by thread, and compare it with what the dispatch says",
                ),
                IREE_FLAGS,
                ALLOW_PIPELINES,
                STRICT,
            ),
        ),
        (
            "baseline",
            (
                Option(
                    "baseline",
                    "compare with the bytes recorded in FILE; fail if a dispatch grew",
                    value="FILE",
                ),
                Option("update-baseline", "record the bytes in the baseline file"),
            ),
        ),
        ("output", (PAGE, *REPORT, *VOICE)),
        ("limits", (NO_CACHE, DISPATCH_TIMEOUT, *LIMITS)),
    ),
    examples=(
        Example(
            "fissile check model.mlir --target gfx942 --target vulkan --target llvm-cpu", "several targets"
        ),
        Example("fissile check model.mlir --target gfx942 --budget 32K", "a hypothetical device"),
        Example(
            "fissile check model.mlir --target llvm-cpu --baseline bytes.json --update-baseline",
            "record the bytes",
        ),
        Example(
            "fissile check model.mlir --target llvm-cpu --baseline bytes.json", "fail if a dispatch grew"
        ),
        Example(
            "fissile check model.mlir --target gfx942 --format=sarif --report-file=fissile.sarif",
            "a report for CI",
        ),
        Example(
            "fissile check model.mlir --target gfx942 --target vulkan --report=check.html",
            "a page to look at",
        ),
    ),
    exit_status="0 no error; 1 stock IREE rejects the program, never finishes, or miscompiles it; 2 usage; 3 with --strict: something "
    "could not be checked",
)
VERIFY = Command(
    "verify",
    "fissile.cli.commands.verify",
    "run two programs, or one against expected outputs, and compare the numbers",
    arguments=(
        Argument("FIRST", "a model or .vmfb: the reference"),
        Argument("SECOND", "a model or .vmfb to compare with the first", count="?"),
    ),
    options=(
        (
            "what is compared",
            (
                Option("function", "public function to call (default: the only one)", value="NAME"),
                Option(
                    "on",
                    "local-task, vulkan, cuda or hip; may be repeated (default: all that are available)",
                    value="RUNTIME",
                    repeated=True,
                ),
                Option("reference", "a NumPy function that computes the outputs", value="FILE.py:FUNCTION"),
                Option(
                    "expected",
                    "an expected output, in order; may be repeated; needs --input",
                    value="FILE.npy",
                    repeated=True,
                ),
                Option(
                    "tolerance",
                    "allowed difference: exact, ABSOLUTE[,RELATIVE] or Nsteps,SHARE (default: derived from the program's types and sums)",
                    value="TOLERANCE",
                ),
            ),
        ),
        (
            "inputs",
            (
                Option(
                    "seeds",
                    "number of random inputs to try (default 1)",
                    value="N",
                    kind=at_least_one,
                    default=1,
                ),
                Option(
                    "sizes",
                    "sizes of dynamic dimensions: SIZE[,ARGUMENT.DIMENSION=SIZE…] (default 8)",
                    value="SIZES",
                    default="8",
                ),
                Option(
                    "range",
                    "range of an argument's random values, ends included",
                    value="ARGUMENT=LOW:HIGH",
                    repeated=True,
                ),
                Option(
                    "input",
                    "an input array, in order, instead of random values; may be repeated",
                    value="FILE.npy",
                    repeated=True,
                ),
            ),
        ),
        ("output", (PAGE, *REPORT, *VOICE)),
        (
            "limits",
            (
                Option(
                    "timeout",
                    "time limit of one run (default 120)",
                    value="SECONDS",
                    kind=seconds,
                    default=120.0,
                ),
                ALLOW_PIPELINES,
                *LIMITS,
            ),
        ),
    ),
    examples=(
        Example("fissile verify model.mlir", "every available runtime against llvm-cpu"),
        Example("fissile verify model.mlir repaired.mlir", "a changed program against its original"),
        Example(
            "fissile verify model.mlir model.vmfb --on local-task", "a compiled module against its source"
        ),
        Example("fissile verify model.mlir --reference=golden.py:conv", "a program against a NumPy function"),
        Example("fissile verify model.mlir --input=x.npy --expected=y.npy", "a program against arrays"),
    ),
    description="The first program is the reference. IREE compiles it for llvm-cpu, after fissile has repaired what llvm-cpu is known "
    "to compute wrongly. The second program (or the first, if there is only one) runs on every available runtime, or on those named with "
    "--on. If results differ, NumPy's evaluation of the first program decides which one is right.",
    flags="iree-compile flags",
    exit_status="0 all agree; 1 something differs or could not be compared; 2 usage",
    own_parser=True,
)
AUDIT = Command(
    "audit",
    "fissile.cli.commands.audit",
    "list every op that IREE cannot compile, and what to do about it",
    arguments=(MODEL,),
    options=(
        (
            "what is checked",
            (
                TARGET,
                IREE_FLAGS,
                ALLOW_PIPELINES,
                Option(
                    "strict",
                    "unsupported dead code (FIS412) and a dropped effect (FIS413) are errors; what could not be checked (FIS902, FIS903) is exit status 3",
                ),
            ),
        ),
        (
            "output",
            (
                Option(
                    "reproducers",
                    "write a standalone program for each rejected op",
                    value="FOLDER",
                    default="",
                ),
                *REPORT,
                *VOICE,
            ),
        ),
        ("limits", (DISPATCH_TIMEOUT, *LIMITS)),
    ),
    examples=(
        Example("fissile audit model.mlir --target llvm-cpu --target gfx942", "two targets"),
        Example(
            "fissile audit model.mlir --target vulkan --reproducers repro/",
            "a standalone program for each op",
        ),
        Example("fissile audit model.mlir --target gfx942 --strict", "unsupported dead code is an error"),
    ),
    exit_status="0 IREE can compile every op; 1 it cannot; 2 usage; 3 with --strict: something could not be checked",
)
