"""The options that `fissile compile` adds to iree-compile's, and those of iree-compile's driver."""

from __future__ import annotations

from fissile.errors import UsageError, closest
from fissile.option import Option
from fissile.option_values import at_least_one, count, seconds_or_none
from fissile.passes.iree.phases import PHASES
from fissile.shared_options import (
    ALLOW_PIPELINES,
    DISPATCH_TIMEOUT,
    LOAD_PASSES,
    NO_CACHE,
    PAGE,
    REPORT,
    STRICT,
    VOICE,
)

REPAIR_MODES = ("auto", "suggest", "off")
FUSION_MODES = ("default", "tune")
GUARD_MODES = ("assert", "check", "off")


def after_phase(text: str) -> tuple[str, str]:
    """PHASE:PIPELINE. Raises UsageError."""
    phase, colon, pipeline = text.partition(":")
    if not colon or not pipeline:
        raise UsageError(
            f"option '--pipeline-after' takes PHASE:PIPELINE, not '{text}'",
            "for example --pipeline-after=global-optimization:'builtin.module(canonicalize)'",
        )
    if phase not in PHASES:
        raise UsageError(f"option '--pipeline-after': unknown phase '{phase}'", closest(phase, list(PHASES)))
    return phase, pipeline


TARGET = Option(
    "target",
    "gfx942, sm_86, vulkan, vulkan:device, llvm-cpu, …: sets IREE's flags for it (`fissile targets` lists them)",
    value="NAME",
)
REPAIRS = (
    Option(
        "repair",
        "repair what IREE rejects or miscompiles (default auto); suggest: report the repair, write nothing",
        choices=REPAIR_MODES,
    ),
    Option(
        "guard",
        "if a size may exceed its storage: assert it at run time (default), only report it, or ignore it",
        choices=GUARD_MODES,
    ),
    Option(
        "fusion",
        "tune: mend what is right and slow on llvm-cpu (FIS140, FIS212, FIS213)",
        choices=FUSION_MODES,
    ),
    Option("pack-transients", "pack the memory of transients by size and lifetime (FIS311)"),
    Option("tune", "time the possible repairs on this machine and take the fastest"),
    Option(
        "tune-on",
        "with --tune: time on a worker of the Dask cluster at ADDRESS that has the device",
        value="ADDRESS",
    ),
    Option(
        "match-device",
        "compile for the Vulkan device of this machine",
        choices=("vulkan",),
        aliases=("fissile-match-device",),
    ),
)
CHECKS = (
    Option(
        "verify",
        "run the repaired program against the original and compare the numbers",
        aliases=("verify-numerics", "fissile-verify"),
    ),
    Option(
        "verify-seeds",
        "number of random inputs for --verify (default 1)",
        value="N",
        kind=at_least_one,
        aliases=("fissile-verify-seeds",),
    ),
    Option(
        "check-lifetimes",
        "report the peak of live bytes, transients that live too long (FIS308) or could use less memory (FIS311)",
    ),
    Option("verify-contracts", "check every pass's contract after every pass"),
    Option("werror", "treat warnings as errors: exit status 1 and no output", aliases=("fissile-werror",)),
    Option(
        "allow-wrong-numbers",
        "write the output even if its numbers are known to be wrong (exit status 0, a warning)",
        field="allow_wrong",
    ),
    STRICT,
)
PASSES = (
    Option(
        "pipeline-after",
        "run a textual pass pipeline of fissile's and IREE's passes after a phase; may be repeated",
        value="PHASE:PIPELINE",
        kind=after_phase,
        repeated=True,
        field="pipelines_after",
        aliases=("fissile-pipeline-after",),
    ),
    LOAD_PASSES,
    ALLOW_PIPELINES,
)
OUTPUTS = (
    Option("emit-mlir", "also write the repaired module; iree-compile --compile-from takes it", value="FILE"),
    Option(
        "emit-tuning-spec",
        "write the lowering configurations that repair the program, for stock IREE (AMD, NVIDIA)",
        value="FILE",
    ),
    Option(
        "save-temps",
        "keep what a model is imported as, and the IR from before the phase in which IREE fails",
        value="FOLDER",
        aliases=("fissile-save-temps",),
    ),
    PAGE,
    *REPORT,
    *VOICE,
)
LIMITS_OF_TIME = (
    NO_CACHE,
    DISPATCH_TIMEOUT,
    Option(
        "time-limit",
        "stop the compiler after this time (default 0: none)",
        value="SECONDS",
        kind=seconds_or_none,
        aliases=("fissile-time-limit",),
    ),
)
GROUPS = (
    ("target and repair", (TARGET, *REPAIRS)),
    ("checks", CHECKS),
    ("passes", PASSES),
    ("output", OUTPUTS),
    ("limits", LIMITS_OF_TIME),
)
"""What --help lists, by heading."""

OWN: dict[str, Option] = {
    spelling.lstrip("-"): option
    for _heading, options in GROUPS
    for option in options
    for spelling in option.spellings
    if option.name != "verify" or spelling != "--verify"  # which is iree-compile's as well
}
DRIVER: dict[str, Option] = {
    option.name: option
    for option in (
        Option("o", "the module", value="FILE", field="output"),
        Option("compile-mode", "", choices=("std", "vm", "hal-executable", "precompile")),
        Option("compile-from", "", choices=PHASES),
        Option("compile-to", "", choices=PHASES),
        Option("output-format", "", choices=("vm-bytecode", "vm-c", "vm-asm")),
        Option("emit-mlir-bytecode", "", field="mlir_bytecode"),
        Option("emit-mlir-bytecode-version", "", value="N", kind=count, field="mlir_bytecode_version"),
        Option("dump-compilation-phases-to", "", value="FOLDER", field="dump_phases_to"),
        Option("remarks-filter", "", value="REGEX"),
        Option("remarks-output-file", "", value="FILE", field="remarks_file"),
    )
}
DRIVER["output"] = DRIVER["o"]
"""iree-compile's driver flags that fissile reads itself."""
