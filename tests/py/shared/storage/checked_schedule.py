"""The drawn programs whose schedule lets a dispatch run ahead of a check that the guard made."""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.passes.analysis.program.check_order import overtaken_checks, unclamped_accesses
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.passes.remedies.storage.held_loads import loads_of
from fissile.pipelines.compile.hooks.guard import GUARDED_AT
from fissile.pipelines.session import Session
from fissile.verdict import Answer


def programs_out_of_order(
    session: Session, module: ir.Operation, texts: dict[str, str], letter: str
) -> dict[str, str]:
    """What is out of order in ``module`` (at phase stream), of the programs ``texts``: named ``letter`` and a number.

    A dispatch that may run ahead of its check, or that a checked element tells where to access with no bound on it.
    """
    numbered = re.compile(rf"@({letter}\d+)(?!\d)")
    unbounded = {_program_of(op, numbered): f"not bounded: {op}" for op in unclamped_accesses(module)}
    found = {
        name: str(unbounded)
        for name, text in texts.items()
        if {name, ""} & unbounded.keys() and _checks_elements(session, text)
    }
    for late in overtaken_checks(module):
        if named := numbered.search(late.message):
            found[named[1]] = f"{late.message}\nsubmitted before it: {late.dispatch}"
    return found


def _program_of(op: ir.Operation, numbered: re.Pattern[str]) -> str:
    """The program that a dispatch's op comes from, "" where none is known: IREE names executables by the function."""
    while op is not None:
        if "sym_name" in op.attributes and (
            made := numbered.search("@" + ir.StringAttr(op.attributes["sym_name"]).value)
        ):
            return made[1]
        op = op.parent
    return ""


def _checks_elements(session: Session, text: str) -> bool:
    """Whether an access at loaded data is checked at run time: where all are proved, none needs a bound."""
    module = session.run(session.parse_text(text), GUARDED_AT)
    report = judge_storage(module.op)
    checked = [j.obligation for j in report.having(Answer.UNKNOWN)]
    return any(o.elements is not None or loads_of(report.extents, o.condition) for o in checked)
