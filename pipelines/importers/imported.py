"""A model in another format as a program that IREE takes: made by the importer that is installed, in a child process.

Findings about the program name the model's nodes (`Imported.named`). An ONNX op that IREE does not lower, and that the ONNX standard
defines by other ops, is replaced by that definition (`with_import`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from fissile.errors import UsageError
from fissile.finding import Finding, Help, Place, Severity
from fissile.passes.definition import PassFailed
from fissile.report import Report

from ..process.child import module_command, run_child
from ..process.phase_timeout import phase_timeout
from ..status import announce
from .recognise import EXPORTED, ONNX, RAISED, recognised

NOT_LOWERED = "FIS421"
NOT_IMPORTED = "FIS420"
CRASHED = "FIS107"
_ONLY_ADVICE = ("FIS407", "FIS411")
"""Ops that the import does not lower: what these say about a way out is no repair."""
_NEEDED = {
    # What is to be there, and what installs it.
    ONNX: (("onnx",), "pip install 'iree-base-compiler[onnx]'"),
    EXPORTED: (("torch", "iree.turbine"), "pip install torch iree-turbine"),
}
EVERY = "*"
"""Stands for all ops of a PyTorch program that have a decomposition (`torch_child`)."""
OWN = "own"
_OF_OLD_OPSETS = (NOT_LOWERED, CRASHED, "FIS407", "FIS001", "FIS162")
"""The errors that a model of an old opset may have because of it."""
_DEFINITIONS = {
    # How ops are named, the remedy, what takes an op's place, and what becomes of the numbers.
    ONNX: (
        "onnx.",
        "onnx-definition",
        "its definition in the ONNX standard",
        "the standard's own definition; sums may be added up in another order",
    ),
    OWN: (
        "onnx.",
        "onnx-equivalent",
        "other ops of the ONNX standard",
        "the same function; sums may be added up in another order, and a quantised value may be one step off",
    ),
    RAISED: (
        "onnx.",
        "onnx-opset",
        "a newer opset",
        "the same function, as the onnx package converts it",
    ),
    EXPORTED: (
        "",
        "torch-decomposition",
        "PyTorch's own decomposition",
        "PyTorch's own decomposition; sums may be added up in another order",
    ),
}
_OF_IMPORTED_PROGRAMS = "way out: give fissile the .onnx file"
"""Begins the note of `passes.checks.refusals.front_end_ops` that is for a program that another importer wrote."""
_CHILDREN = {
    ONNX: "fissile.pipelines.importers.onnx_child",
    EXPORTED: "fissile.pipelines.importers.torch_child",
}


@dataclass(frozen=True)
class Imported:
    """``program`` is MLIR bytecode made of ``model``, the path that the user gave; ``lines`` and ``types`` describe its nodes.

    ``can_expand`` are op types that the format's standard or, if ``own``, fissile defines by others; those in ``expanded`` were.
    """

    model: str
    format: str
    program: Path
    lines: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    can_expand: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    expanded: tuple[tuple[str, Finding], ...] = ()

    def named(self, report: Report, advice: str = "") -> Report:
        """``report`` with the model's nodes at its places, and with what was expanded; with ``advice``, as a suggestion."""
        findings = [self._labelled(finding) for finding in report.findings]
        done = [
            _repaired(
                kind,
                self._labelled(why),
                RAISED if kind == RAISED else OWN if kind in self.own else self.format,
            )
            for kind, why in self.expanded
        ]
        if done and advice:
            from ..repair.failures import (
                suggested,  # IREE's bindings: only where there is something to suggest
            )

            done = [suggested(one, advice) for one in done]
        return replace(
            report,
            findings=(*done, *findings),
            output="" if done and advice else report.output,
            facts={**report.facts, "imported": self.format},
        )

    def _labelled(self, finding: Finding) -> Finding:
        notes = tuple(one for one in finding.notes if not one.startswith(_OF_IMPORTED_PROGRAMS))
        return finding.with_(places=tuple(map(self._label, finding.places)), notes=notes)

    def _label(self, place: Place) -> Place:
        if place.file != self.model or not 1 <= place.line <= len(self.lines):
            return place
        line = self.lines[place.line - 1]
        if place.label.startswith(line):
            return place
        return replace(place, label=f"{line}: {place.label}" if place.label else line)

    def blamed(self, report: Report) -> tuple[str, Finding] | None:
        """The op type whose definition may take the place of what stock IREE refuses, and the error that names it.

        An error with a repair of its own is none: `fissile check` reports what `fissile compile` repairs.
        """
        for error in (one for one in report.errors if not one.helps or one.code in _ONLY_ADVICE):
            if error.code == NOT_LOWERED and self.format == EXPORTED:
                kinds = (error.subject, EVERY)
                kind = next((k for k in kinds if k in self.can_expand and k not in dict(self.expanded)), None)
                return (kind, error) if kind else None
            if (
                error.code in _OF_OLD_OPSETS
                and RAISED in self.can_expand
                and RAISED not in dict(self.expanded)
            ):
                return RAISED, self._labelled(error)
            named = error.subject.removeprefix("onnx.")
            if error.code == NOT_LOWERED and named in self.can_expand and named not in dict(self.expanded):
                return named, self._labelled(error)
            for place in error.places:
                if place.file == self.model and 1 <= place.line <= len(self.types):
                    kind = self.types[place.line - 1]
                    if kind in self.can_expand and kind not in dict(self.expanded):
                        return kind, self._labelled(error)
            if error.code == CRASHED and not error.places:
                for line, kind in enumerate(self.types, 1):
                    if kind in self.own and kind not in dict(self.expanded):
                        blamed = error.with_(subject=f"onnx.{kind}", places=(Place(self.model, line),))
                        return kind, self._labelled(blamed)
        return None


def _repaired(kind: str, why: Finding, format_: str) -> Finding:
    what, remedy, source, numerics = _DEFINITIONS[format_]
    is_whole = kind in (EVERY, RAISED)
    replaced = "every op that has one" if kind == EVERY else kind
    done, advice = f"replaced {replaced} by {source}", f"replace {replaced} by {source}"
    if kind == RAISED:
        done, advice = f"converted the model to {source}", f"convert the model to {source}"
    return Finding(
        NOT_LOWERED,
        f"IREE has no lowering for {why.subject if is_whole else what + kind} as it is used here",
        Severity.REPAIRED,
        subject=why.subject if is_whole else kind,
        places=why.places[:1],
        stock=why.stock,
        helps=(Help(done, remedy, True, (("numerics", numerics),), advice),),
    )


def with_import(
    path: str,
    folder: Path,
    command: str,
    run: Callable[[Imported | None], Report],
    repair: bool = True,
    advice: str = "",
) -> Report:
    """``run`` with the program that ``path`` was imported as; None where IREE reads it itself.

    Where an ONNX op is refused that has a definition, again with that, if ``repair``; ``advice`` is a note for a command that
    only suggests it. A model that the importer refuses has a report of ``command``. Raises UsageError where no importer is installed.
    """
    kind = recognised(path)
    if not kind:
        return run(None)
    _need(path, kind)
    try:
        model = _import(path, kind, folder, define=repair)
    except PassFailed as refused:
        return Report(command, refused.findings)
    first = report = run(model)
    tried = model
    while repair and (blamed := tried.blamed(report)) is not None:
        try:
            tried = replace(
                _import(path, kind, folder, [name for name, _why in (*tried.expanded, blamed)], repair),
                expanded=(*tried.expanded, blamed),
            )
        except PassFailed:  # the definition does not hold for what the node is given, or the converter takes another op as it is
            tried = replace(tried, can_expand=tried.can_expand - {blamed[0]}, own=tried.own - {blamed[0]})
            continue
        report = run(tried)
    left = {(error.code, error.target) for error in report.errors}
    entered = not any(code == NOT_LOWERED for code, _target in left) and not any(
        (why.code, why.target) in left for _kind, why in tried.expanded
    )
    return tried.named(report, advice) if entered else model.named(first, advice)


def _need(path: str, kind: str) -> None:
    """Raises UsageError where the importer for ``kind`` is not installed."""
    modules, install = _NEEDED[kind]
    if missing := [name for name in modules if not _is_there(name)]:
        raise UsageError(
            f"{path} is an {kind}; its importer needs {' and '.join(missing)}, not installed here", install
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _import(path: str, kind: str, folder: Path, expand: Sequence[str] = (), define: bool = False) -> Imported:
    """With ops ``expand`` replaced by their definitions, and, to ``define``, those without a type that have one.

    Raises PassFailed (FIS420) where the importer does not take the model.
    """
    if not Path(path).stat().st_size:
        raise PassFailed([_refused(path, kind, "the file is empty", (), "")])
    place = folder / f"import-{len(list(folder.glob('import-*')))}"
    place.mkdir()
    program = place / Path(path).name  # what names the program by its file names the model
    result, job = place / "result.json", place / "job.json"
    job.write_text(
        json.dumps(
            {
                "model": path,
                "name": path,
                "program": str(program),
                "result": str(result),
                "expand": list(expand),
                "define": define,
            }
        )
    )
    limit = phase_timeout(path)
    announce(f"importing {path}" + (f", limit {limit:g} s" if limit else ""))
    ended = run_child(module_command(_CHILDREN[kind], str(job)), limit or None)
    if not result.exists():
        last = [line for line in ended.err.splitlines() if line.strip()][-1:]
        why = ended.reason or (last[0].strip()[:300] if last else f"exit status {ended.status}")
        raise PassFailed([_refused(path, kind, f"the importer ended early: {why}", (), ended.err[-4000:])])
    found = json.loads(result.read_text())
    if "refused" in found:
        if found["system"]:
            raise UsageError(*found["system"])
        places = (Place(path, found["node"]),) if found["node"] else ()
        model = Imported(path, kind, program, tuple(found["lines"]))
        refused = _refused(path, kind, found["refused"], places, ended.err[-4000:])
        raise PassFailed([model._labelled(refused)])
    defined = found.get("defined", {})
    return Imported(
        path,
        kind,
        program,
        tuple(found["lines"]),
        tuple(found["types"]),
        frozenset(found["can_expand"]),
        frozenset(found.get("own", ())),
        tuple((name, _untyped(name, path, number)) for name, number in defined.items()),
    )


def _untyped(kind: str, path: str, node: int) -> Finding:
    """Why an op that the standard does not have was replaced: IREE's importer knows no type of its results."""
    return Finding(
        NOT_LOWERED,
        "",
        subject=f"onnx.{kind}",
        places=(Place(path, node),),
        stock="its importer knows no type of the result",
    )


def _refused(path: str, kind: str, why: str, places: tuple[Place, ...], detail: str) -> Finding:
    return Finding(
        NOT_IMPORTED,
        f"the {kind} is not imported: {why}",
        subject=path,
        places=places or (Place(path, 0),),
        detail=detail,
    )


def importable(path: Path, folder: Path) -> Path:
    """The program that ``path`` is, or that it was imported as. Raises UsageError, and PassFailed where the importer refuses it."""
    kind = recognised(path)
    if not kind:
        return path
    _need(str(path), kind)
    return _import(str(path), kind, folder, define=True).program
