"""The request of `fissile compile`: iree-compile's command line, parsed, and fissile's own options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fissile.errors import UsageError, closest
from fissile.option import Option
from fissile.passes.iree.flags import (
    DRIVER_FLAGS,
    PREPROCESSING_FLAG,
    STOCK_ONLY_FLAGS,
    TARGET_FLAGS,
    TUNING_SPEC_FLAG,
)
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT, PHASES, SCHEDULED_AT
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

from ..targets import PRESENT_DEVICE
from .options import DRIVER, OWN

STDIN_NAME = "<stdin>"
_DESCRIPTOR = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")
"""What iree-compile calls standard input in locations."""


@dataclass(frozen=True)
class CompileRequest:
    """One compile. Plain data: it travels to the worker process as JSON (`fissile.wire`).

    ``flags`` go to IREE as they are. Files are paths as the user wrote them; ``output`` "-" is standard output.
    """

    input: str = ""
    name: str = ""
    """What locations call the input, where that is not its path."""
    output: str = "-"
    flags: tuple[str, ...] = ()
    compile_mode: str = "std"
    compile_from: str = "start"
    compile_to: str = "end"
    output_format: str = "vm-bytecode"
    mlir_bytecode: bool = False
    mlir_bytecode_version: int | None = None
    verify_ir: bool = True
    dump_phases_to: str = ""
    remarks_filter: str = ""
    remarks_file: str = "mlir-remarks.yaml"
    preprocessing: str = ""
    """IREE's --iree-preprocessing-pass-pipeline, in which fissile's passes may stand."""
    pipelines_after: tuple[tuple[str, str], ...] = ()
    """(phase, textual pipeline), run on the module when it has reached the phase."""
    load_passes: tuple[str, ...] = ()
    verify_contracts: bool = False
    check_lifetimes: bool = False
    """Reports transients that live longer than they are needed, in the program as IREE schedules it."""
    pack_transients: bool = False
    """Packs the transients that IREE allocates together by size and lifetime."""
    allow_pipelines: bool = False
    """Whether pass pipelines that the input brings along may run (FIS005)."""
    match_device: str = ""
    repair: str = "auto"
    guard: str = "assert"
    fusion: str = "default"
    tune: bool = False
    """Times the repairs that pass on the runtime that is present, and takes the fastest."""
    tune_on: str = ""
    """The Dask scheduler of a cluster whose workers have the device that ``tune`` times on; empty: this machine has it."""
    verify: bool = False
    verify_seeds: int = 1
    emit_mlir: str = ""
    emit_tuning_spec: str = ""
    """A file for the lowering configurations that repair the program, for stock IREE."""
    save_temps: str = ""
    """A folder for what a model is imported as, and for the IR from before the phase in which IREE fails."""
    format: str = "text"
    report_file: str = ""
    """A file for the report in ``format``; empty: standard output, and standard error for text."""
    page: str = ""
    """A file for the report as HTML."""
    no_cache: bool = False
    """Neither takes answers of earlier runs nor keeps its own."""
    werror: bool = False
    allow_wrong: bool = False
    """Writes an output whose numbers are known to be wrong, with a warning."""
    inner: bool = False
    """A compile with which fissile answers a question of its own: no audit follows, and nothing that IREE prints is shown."""
    strict: bool = False
    """What fissile could not check is exit status 3."""
    verbose: bool = False
    quiet: bool = False
    """Prints errors and warnings only."""
    target: str = ""
    """A target as `check` names it; its flags are among ``flags``."""
    time_limit: float = 0.0
    """Seconds for the whole compile; 0 is none."""
    dispatch_timeout: float = 30.0
    """Seconds of code generation per dispatch after which it counts as endless; 0 is none."""
    stock: bool = field(default=False)
    """A mode that fissile has nothing to say about: the command line goes to iree-compile unchanged."""
    argv: tuple[str, ...] = ()
    task: str = "compile"
    """`compile`, `reduce` to write a small program that fails alike, or `temps` to write the IR from before a phase that fails."""
    dispatch: str = ""
    """The dispatch to reduce to; empty: the first that fails."""

    @property
    def is_handed_over(self) -> bool:
        """Whether the input is a pipe that the caller opened for this process: /dev/stdin, or the /dev/fd/63 of a shell's `<(command)`. A named pipe
        may never have a writer, and is not read."""
        return bool(_DESCRIPTOR.fullmatch(self.input)) and Path(self.input).is_fifo()

    def read_from_pipe(self, folder: Path) -> CompileRequest:
        """This request with a file in ``folder`` as input, where the input is a pipe: that can be read once."""
        if not self.is_handed_over:
            return self
        kept = folder / "input"
        kept.write_bytes(Path(self.input).read_bytes())
        return replace(self, input=str(kept), name=self.name or self.input)

    @property
    def generates_code(self) -> bool:
        """Whether the compile goes on to code generation of its dispatches; before that, IREE refuses none for its code."""
        return PHASES.index(self.compile_to) > PHASES.index(DISPATCHES_CONFIGURED_AT)


_LIFETIMES = "builtin.module(fissile-check-lifetimes{peak=true})"


def parse_command_line(argv: Sequence[str]) -> CompileRequest:
    """The request behind `fissile compile ARGV`. Raises UsageError with a way out.

    LLVM's conventions: one or two dashes, `--flag=value` or `--flag value`, response files `@FILE`, `--` before the
    input. `--verify` is both: iree-compile's `--verify=true|false` (verify IR) and, without a value, fissile's
    (verify the numbers).
    """
    values: dict[str, Any] = {}
    flags: list[str] = []
    positional: list[str] = []
    words = _expand(argv)
    stock = False
    while words:
        word = words.pop(0)
        if word == "--":
            positional.extend(words)
            break
        if not word.startswith("-") or word == "-":
            positional.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name in STOCK_ONLY_FLAGS:
            stock = True
        elif name == "verify":
            _verify(values, equals, value)
        elif name == PREPROCESSING_FLAG:
            values["preprocessing"] = value if equals else _next(words, name)
        elif name in OWN or name in DRIVER:
            _set(values, name, (OWN | DRIVER)[name], equals, value, words)
        elif name.startswith("fissile-"):
            raise UsageError(f"unknown option '--{name}'", closest(name.removeprefix("fissile-"), list(OWN)))
        elif name in DRIVER_FLAGS:
            stock = True
        else:
            flags.append(word)
    if stock or values.get("compile_mode", "std") != "std":
        return CompileRequest(
            stock=True,
            argv=tuple(argv),
            output=str(values.get("output", "-")),
            input=positional[-1] if positional else "",
        )
    if values.get("check_lifetimes"):
        values["pipelines_after"] = (*values.get("pipelines_after", ()), (SCHEDULED_AT, _LIFETIMES))
    values["input"], extra = _input(positional, flags, list(argv))
    named = _flags_of_target(values, extra)
    request = CompileRequest(flags=(*named, *extra), argv=tuple(argv), **values)
    _consistent(request)
    return request


def _expand(argv: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in argv:
        if word.startswith("@") and len(word) > 1 and not Path(word).exists():
            words.extend(_response_file(word[1:]))
        else:
            words.append(word)
    return words


def _response_file(file: str) -> list[str]:
    """The words of a response file. Raises UsageError where it cannot be read, or is no text of words."""
    path = Path(file)
    if path.exists() and not (path.is_file() or path.is_fifo()):  # a pipe: a shell's @<(command)
        why = "Is a directory" if path.is_dir() else "not a regular file"
        raise UsageError(f"cannot read the response file {file}: {why}")
    try:
        return shlex.split(Path(file).read_text(encoding="utf-8"), comments=False)
    except OSError as error:
        raise UsageError(f"cannot read the response file {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the response file {file} is not UTF-8 text") from None
    except ValueError as error:
        raise UsageError(
            f"the response file {file} cannot be split into words: {error}", "quotes come in pairs"
        ) from None


def _next(words: list[str], name: str) -> str:
    if not words:
        raise UsageError(f"option '--{name}' needs a value", f"write --{name}=VALUE")
    return words.pop(0)


def _set(values: dict, name: str, option: Option, equals: str, value: str, words: list[str]) -> None:
    key = option.attribute
    if not option.takes_value:
        if equals and value.lower() not in ("true", "false", "1", "0"):
            raise UsageError(f"option '--{name}' takes true or false, not '{value}'")
        values[key] = not equals or value.lower() in ("true", "1")
        return
    if not equals:
        value = _next(words, name)
    if option.choices and value not in option.choices:
        raise UsageError(f"option '--{name}': unknown value '{value}'", closest(value, list(option.choices)))
    read = option.read(value)
    if key == "target" and values.get(key, read) != read:
        raise UsageError(
            f"--target={values[key]} and --target={read}: a compile is for one target",
            "compile once for each target; `fissile sweep` and `fissile check` take several",
        )
    values[key] = (*values.get(key, ()), read) if option.repeated else read


def _verify(values: dict, equals: str, value: str) -> None:
    if not equals:
        values["verify"] = True
    elif value.lower() in ("true", "false", "1", "0"):
        values["verify_ir"] = value.lower() in ("true", "1")
    else:
        raise UsageError(
            f"option '--verify' takes true or false, not '{value}'",
            "--verify alone compares numbers; --verify=false is iree-compile's: no IR verifier",
        )


def _input(positional: list[str], flags: list[str], argv: list[str]) -> tuple[str, list[str]]:
    """The input file, and the flags with values joined that stood behind a blank (`--flag value`)."""
    if len(positional) == 1:
        return positional[0], flags
    if not positional:
        raise UsageError(
            "no input file", "usage: fissile compile [iree-compile flags] INPUT.mlir -o OUTPUT.vmfb"
        )
    # More than one bare word: all but one are values of flags before them.
    joined, bare, previous = [], [], ""
    for word in argv:
        if word in flags:
            joined.append(word)
        elif word in positional:
            if previous in flags and "=" not in previous and joined and joined[-1] == previous:
                joined[-1] = f"{previous}={word}"
            else:
                bare.append(word)
        previous = word
    if len(bare) != 1:
        raise UsageError(
            f"more than one input file: {' '.join(bare) or ' '.join(positional)}",
            "one file a call; a flag's value is written --flag=value",
        )
    return bare[0], joined


def _flags_of_target(values: dict, flags: list[str]) -> list[str]:
    """IREE's flags for `--target=NAME`. Raises UsageError where the target is not known, or flags name one too."""
    name = str(values.get("target", ""))
    if not name:
        return []
    if other := next((flag for flag in flags if re.match(TARGET_FLAGS, flag.lstrip("-"))), ""):
        raise UsageError(f"--target={name} and {other} both name a target", "give one of them")
    if name.strip().lower() == PRESENT_DEVICE:
        values["match_device"] = "vulkan"
        return flags_for(find_target("vulkan"))
    return flags_for(find_target(name))


def _consistent(request: CompileRequest) -> None:
    if request.emit_tuning_spec and any(
        flag.lstrip("-").startswith(TUNING_SPEC_FLAG) for flag in request.flags
    ):
        raise UsageError(
            f"--emit-tuning-spec and --{TUNING_SPEC_FLAG} exclude each other",
            "a compile reads one spec: give a spec of your own, or have one written",
        )
    if request.tune_on and not request.tune:
        raise UsageError("--tune-on says where --tune times the candidates", "add --tune")
    if PHASES.index(request.compile_from) >= PHASES.index(request.compile_to):
        raise UsageError(
            f"--compile-from={request.compile_from} does not precede --compile-to={request.compile_to}"
        )
    for phase, _pipeline in request.pipelines_after:
        if not PHASES.index(request.compile_from) < PHASES.index(phase) <= PHASES.index(request.compile_to):
            raise UsageError(
                f"--pipeline-after={phase}:… is outside of what this compile runs",
                f"it runs the phases after {request.compile_from} up to {request.compile_to}",
            )
