"""The drawn programs whose schedule lets a dispatch run ahead of a check that the guard made."""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.passes.analysis.bounds.shaped_values import last_of
from fissile.passes.analysis.program.check_order import CLAMPS, overtaken_checks, unclamped_accesses
from fissile.passes.analysis.program.private_calls import FUNCTIONS
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.passes.iree import ops as iree_ops
from fissile.passes.remedies.storage.held_loads import loads_of
from fissile.pipelines.compile.hooks.guard import GUARDED_AT
from fissile.pipelines.session import Session
from fissile.verdict import Answer


def programs_out_of_order(
    session: Session, module: ir.Operation, texts: dict[str, str], letter: str
) -> dict[str, str]:
    """What is out of order in ``module`` (at phase stream), of the programs ``texts``: named ``letter`` and a number.

    A dispatch that may run ahead of its check, or that a checked element tells where to access with no bound on it, there or in
    the dispatch that stores it: one of the program that stores such a tensor with bounds is taken for it.
    """
    numbered = re.compile(rf"@({letter}\d+)(?!\d)")
    bounded = {(_program_of(op, numbered), stored) for op, stored in _clamped_stores(module)}
    unbounded = {}
    for op in unclamped_accesses(module):
        name = _program_of(op, numbered)
        if not bounded & {(name, read) for read in _read_types(op)}:
            unbounded[name] = f"not bounded: {op}"
    found = {
        name: str(unbounded)
        for name, text in texts.items()
        if {name, ""} & unbounded.keys() and _checks_elements(session, text)
    }
    for late in overtaken_checks(module):
        if named := numbered.search(late.message):
            found[named[1]] = f"{late.message}\nsubmitted before it: {late.dispatch}"
    return found


def _clamped_stores(module: ir.Operation) -> list[tuple[ir.Operation, str]]:
    """The stores of a whole tensor of bounded elements, each with the tensor's type."""
    found: list[tuple[ir.Operation, str]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE:
            value = op.operands[0]
            maker = value.owner.operation if isinstance(value, ir.OpResult) else None
            if maker is not None and maker.name == "linalg.generic":
                given = last_of(maker.regions[0]).operands[0]
                if isinstance(given, ir.OpResult) and given.owner.operation.name in CLAMPS:
                    found.append((op, str(value.type)))
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def _read_types(access: ir.Operation) -> set[str]:
    """The types of the tensors that the kernel of ``access`` loads."""
    kernel, found = access, set[str]()
    while kernel.name not in FUNCTIONS:
        kernel = kernel.parent.operation

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD:
            found.add(str(op.results[0].type))
        return ir.WalkResult.ADVANCE

    kernel.walk(visit)
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
