"""What would make IREE take an op that it refuses: flags, a pass before, another type, static sizes, another target. Each is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.passes.iree.legality.candidates import (
    INPUT_TYPE_FLAG,
    INPUT_TYPES,
    NARROWER,
    REFERENCE_FLAGS,
    SETTLED_AT,
    SETTLING_FLAGS,
    SETTLING_PASSES,
    TARGET_FLAGS,
)
from fissile.passes.iree.phases import INPUT_CONVERTED_AT, PHASES

from .compiler import Compiler, text_of_module
from .refused import Refused

_STATIC = "4"
_DYNAMIC_TENSOR = re.compile(r"tensor<((?:[?\d]+x)*)")
_DYNAMIC_LIST = re.compile(r"<\[([?\d,]*)\]")
_UNRANKED = (("tensor<*x", "tensor<4x4x"), ("memref<*x", "memref<4x4x"), ("vtensor<*,", "vtensor<[4,4],"))


@dataclass(frozen=True)
class WaysOut:
    """Every one was seen to make IREE take the op alone. ``lacking``: element types, each with the one that is taken in its place."""

    flags: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    lacking: tuple[tuple[str, str], ...] = ()
    needs_static: bool = False
    needs_rank: bool = False
    needs_tensors: bool = False
    """It computes with vectors, and IREE takes it with tensors of the same sizes."""
    on_reference: bool | None = None
    """Whether llvm-cpu takes it; None where that is the target, or was not compiled."""


def ways_out(compiler: Compiler, refused: Refused, flags: Sequence[str]) -> WaysOut:
    """The ways out for ``refused``, up to the phase that it did not reach."""
    if refused.probe is None:
        return WaysOut()
    text, to = refused.probe.text, refused.outcome.failed
    far = max(to, SETTLED_AT, key=PHASES.index)

    def taken(text: str, flags: Sequence[str]) -> bool:
        """First as far as the op was refused: most candidates end there, and no code is generated for them."""
        return (
            compiler.compile(text, flags, to, refused.start).ok
            and compiler.compile(text, flags, far, refused.start).ok
        )

    early = to == INPUT_CONVERTED_AT
    imported = "" if early else compiler.imported(text, flags, refused.start)

    def changes(flag: str) -> bool:
        """Every flag is one of the import's: where the import makes the same program of the op, the op stays refused."""
        return not imported or compiler.imported(text, _with(flags, flag), refused.start) != imported

    settling = tuple(
        flag for flag in _flags(refused, text, flags) if changes(flag) and taken(text, _with(flags, flag))
    )
    lacking = tuple(
        (wide, narrow)
        for wide, narrow in NARROWER.items()
        if any(taken(other, flags) for other in _retyped(text, wide, narrow))
    )
    static, ranked = _static(text), _ranked(text)
    tensors = text.replace("vector<", "tensor<")
    return WaysOut(
        settling,
        ()
        if early
        else tuple(
            p for p in SETTLING_PASSES if (made := _after(compiler, p, text, flags)) and taken(made, flags)
        ),
        lacking,
        static != text and taken(static, flags),
        ranked != text and taken(ranked, flags),
        tensors != text and taken(tensors, flags),
        None if early or _is_reference(flags) else taken(text, _on_reference(flags)),
    )


def _flags(refused: Refused, text: str, flags: Sequence[str]) -> Iterator[str]:
    """Flags that are not among ``flags`` and may change what IREE makes of ``text``."""
    for flag, changes in SETTLING_FLAGS.items():
        if flag not in flags and any(word in text for word in changes):
            yield flag
    given = [flag for flag in flags if flag.startswith(INPUT_TYPE_FLAG)]
    if refused.outcome.failed == INPUT_CONVERTED_AT or given:
        yield from (
            f"{INPUT_TYPE_FLAG}={name}" for name in INPUT_TYPES if f"{INPUT_TYPE_FLAG}={name}" not in given
        )


def _with(flags: Sequence[str], flag: str) -> tuple[str, ...]:
    """``flags`` with ``flag``, which replaces another value of the same."""
    name = flag.split("=", 1)[0]
    return (*(other for other in flags if other.split("=", 1)[0] != name), flag)


def _on_reference(flags: Sequence[str]) -> tuple[str, ...]:
    return (*(flag for flag in flags if not flag.startswith(TARGET_FLAGS)), *REFERENCE_FLAGS)


def _is_reference(flags: Sequence[str]) -> bool:
    return REFERENCE_FLAGS[1] in flags


def _retyped(text: str, wide: str, narrow: str) -> list[str]:
    """``text`` with ``narrow`` in the place of ``wide``: everywhere, and in types alone, where an attribute needs its own."""
    word = rf"(?<![A-Za-z0-9_]){wide}(?![A-Za-z0-9_])|(?<=x){wide}(?![A-Za-z0-9_])"
    lists = rf"(?<!array<)(?:{word})"
    numbers = rf"(?<!\d : ){lists}"
    made = (re.sub(pattern, narrow, text) for pattern in (lists, numbers))
    return [other for other in dict.fromkeys(made) if other != text]


def _ranked(text: str) -> str:
    """``text`` with two sizes in the place of every unknown rank."""
    for unranked, ranked in _UNRANKED:
        text = text.replace(unranked, ranked)
    return text


def _static(text: str) -> str:
    """``text`` with a size in the place of every unknown dimension."""
    text = _DYNAMIC_TENSOR.sub(lambda m: f"tensor<{m[1].replace('?', _STATIC)}", text)
    return _DYNAMIC_LIST.sub(lambda m: f"<[{m[1].replace('?', _STATIC)}]", text)


def _after(compiler: Compiler, pipeline: str, text: str, flags: Sequence[str]) -> str:
    """``text`` after ``pipeline``; empty where that changes nothing, or fails."""
    try:
        context = compiler.session(flags).context
        module = ir.Module.parse(text, context)
        before = text_of_module(module.operation)
        PassManager.parse(pipeline, context=context).run(module.operation)
        after = text_of_module(module.operation)
    except (ir.MLIRError, ValueError):
        return ""
    return after if after != before else ""
