"""An edit: one remedy on one source op of a module at global optimisation; and doing a set of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from iree.compiler import ir

from fissile.dialect import load_dialects
from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.catalogue import find_pass
from fissile.passes.containment import passes_on
from fissile.passes.definition import make_pass
from fissile.passes.remedies.fusion.lower_boundaries import LowerBoundaries
from fissile.passes.remedies.remedy import OpRemedy

from ..session import Module

CUT, FOLD, UNROLL = "fissile-place-boundaries", "fissile-fold-producers", "fissile-unroll-windows"


@dataclass(frozen=True, order=True)
class Edit:
    """One remedy, by its pass's name, on one source op, by its index in the module.

    ``options`` are the pass's others, as its text spells them (`flat=true`).
    """

    remedy: str
    op: int
    options: str = ""

    @property
    def by(self) -> OpRemedy:
        """The remedy with its options; it chooses no op by itself."""
        return remedy(self.remedy, self.options)


def remedy(name: str, options: str = "") -> OpRemedy:
    """The remedy called ``name``, which is imported if it was not."""
    made = make_pass(find_pass(name), options)
    assert isinstance(made, OpRemedy)
    return made


def edits(name: str, ops: Iterable[int], options: str = "") -> tuple[Edit, ...]:
    return tuple(Edit(name, op, options) for op in sorted(set(ops)))


def by_remedy(wanted: Iterable[Edit]) -> list[tuple[OpRemedy, list[Edit]]]:
    """``wanted`` by remedy and options, each once, in the order in which they are applied."""

    def key(edit: Edit) -> tuple:
        return edit.by.order, edit.remedy, edit.options

    groups = (list(group) for _key, group in groupby(sorted(sorted(set(wanted)), key=key), key))
    return [(group[0].by, group) for group in groups]


def apply_edits(module: Module, wanted: Iterable[Edit]) -> bool:
    """Applies ``wanted`` to ``module`` in place. All indices are those of the module as it comes in.

    A remedy's order is such that an op that is still to be edited is still there. Where one of two edits of an op takes it away, they do not
    go together: False, and the module is undefined.
    """
    groups = by_remedy(wanted)
    if not groups:
        return True
    for applied in (LowerBoundaries(), *(applied for applied, _edits in groups)):
        load_dialects(module.op.context, applied.dialects)
    known = source_ops(module.op)
    chosen = [(applied, [known[edit.op] for edit in group]) for applied, group in groups]
    with module.op.context, ir.Location.unknown():
        for applied, ops in chosen:
            if not all(map(_is_there, ops)):
                return False
            applied.rewrite(ops)
        LowerBoundaries().run(module.op, lambda finding: None)
    return True


def _is_there(op: ir.Operation) -> bool:
    try:
        return bool(op.name)
    except RuntimeError:  # it was erased
        return False


def works_alone(module: Module, edit: Edit) -> bool:
    """Whether ``edit`` by itself does not throw, on a clone of ``module``."""
    try:
        apply_edits(module.clone(), [edit])
    except Exception as error:
        return passes_on(error)
    return True


def passes_of(wanted: Iterable[Edit]) -> tuple[str, ...]:
    """``wanted`` as textual passes: `fissile-place-boundaries{ops=0,1}`, one for each remedy and its options."""
    return tuple(_text(group) for _applied, group in by_remedy(wanted))


def _text(group: Sequence[Edit]) -> str:
    ops = ",".join(str(edit.op) for edit in group)
    options = f" {group[0].options}" if group[0].options else ""
    return f"{group[0].remedy}{{ops={ops}{options}}}"


def instead(finding: Finding, title: str, wanted: Iterable[Edit]) -> Finding:
    """A repaired finding for which ``wanted`` was done after all; nothing to do leaves a note of it."""
    wanted = tuple(wanted)
    if not wanted:
        return finding.with_(severity=Severity.NOTE, helps=())
    facts = tuple(("pass", text) for text in passes_of(wanted))
    return finding.with_(helps=(Help(title, wanted[0].remedy, True, facts),))
