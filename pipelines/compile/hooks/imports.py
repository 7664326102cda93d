"""What IREE's import reads as another op, without a message: found and repaired as soon as the input is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fissile.dialect import load_dialects
from fissile.dialect.source_text import text_of_file
from fissile.finding import Finding, Severity
from fissile.passes.catalogue import find_pass
from fissile.passes.containment import contained, contained_change

from ...repair.failures import suggested
from ...session import Module, Session
from ..misread.rows import DIALECTS, GLOBALS, ROWS, TOSA, Row
from .early_stops import stop_early

if TYPE_CHECKING:
    from fissile.passes.remedies.entry.front_end import FrontEndRemedy

_MOST_PLACES = 4
_MANY = 32
"""Findings that say the same of as many places are read one by one; more are one."""


def misread(
    module: Module, source: bytes, repair: bool, gpu: bool, flags: Sequence[str] = ()
) -> list[Finding]:
    """The findings of each row of `misread.rows`, of ``module``, which no phase has changed; repaired in place if ``repair``.

    ``source`` is its text without elements, or bytecode: a look at names, before the ops are walked. ``gpu``: it is compiled for one, with ``flags``.
    """
    if not any(name in source for name in (*DIALECTS, *TOSA, *GLOBALS)):
        return []
    found: list[Finding] = []
    for row in ROWS:
        if row.may_occur(source, flags):
            act = partial(_act, row, module, repair, gpu)
            found += contained_change("ops that IREE's import misreads", act, module.put_back, [])
            module.settle()
    return found


def _act(row: Row, module: Module, repair: bool, gpu: bool) -> list[Finding]:
    ops, findings = row.read(module.op.operation, gpu)
    if not repair or not ops:
        return _grouped(findings)
    remedy = cast("FrontEndRemedy", find_pass(row.remedy)())
    able = [remedy.fits(op) for op in ops]
    if any(able):
        module.about_to_change()
        load_dialects(module.op.context, remedy.dialects)
        remedy.replace([op for op, fits in zip(ops, able, strict=True) if fits])
    done = remedy.help(("pass", remedy.name), ("numerics", remedy.numbers))
    repaired = [
        one.with_(severity=Severity.REPAIRED, helps=(done,)) if fits else one
        for one, fits in zip(findings, able, strict=True)
    ]
    return _grouped(repaired)


def _grouped(findings: Sequence[Finding]) -> list[Finding]:
    """Those that say the same of many places, as the layers of a model have them, as one, with the first places and a count."""
    groups: dict[tuple, list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.code, one.severity, one.message), []).append(one)
    return [
        found for group in groups.values() for found in (_counted(group) if len(group) > _MANY else group)
    ]


def _counted(group: list[Finding]) -> list[Finding]:
    first = group[0]
    places = tuple(dict.fromkeys(place for one in group for place in one.places))
    return [first.with_(message=f"{first.message}, {len(group)} times", places=places[:_MOST_PLACES])]


def parsed(
    session: Session, source: Path, flags: Sequence[str], allow_pipelines: bool, gpu: bool
) -> tuple[Module, tuple[Finding, ...]]:
    """The program in ``source``, repaired, and what `misread` found, as suggestions. Raises PassFailed (FIS415)."""
    module = session.parse_input(source, allow_pipelines=allow_pipelines)
    content = text_of_file(source)
    found = misread(module, content, True, gpu, flags)
    stop_early(module, content, "end", flags)
    return module, tuple(suggested(one, "`fissile compile` applies it") for one in found)


def may_be_misread(source: Path) -> bool:
    """Whether stock IREE reads an op of the program in ``source`` as another one."""

    def look() -> bool:
        return bool(misread(Session().parse(source), text_of_file(source), False, False))

    return contained("ops that IREE's import misreads", look, True)
