"""Which ops on which element types stock IREE and fissile compile for a target, and whether the numbers are right: measured.

Each program is compiled by stock IREE to the end. Where a runtime of the target is here, what stock compiled is run, and compared with
NumPy. What stock refuses or builds wrong is compiled by `fissile compile`, run and compared in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from fissile.errors import FissileError
from fissile.passes.iree.targets import flags_for, runtime_for

from ..numerics import runtimes
from ..numerics.signature import signatures_of_vmfb
from ..process.child import module_command, run_child
from ..process.scratch import scratch
from ..targets import resolve_target
from . import arithmetic
from .batch import Batch, blamed
from .programs import Program

SECONDS_PER_BATCH = 600.0
PROGRAMS_PER_BATCH = 40
YES, REFUSED, CRASHES = "compiles", "refused", "crashes"
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class Cell:
    """One op on one element type.

    ``stock`` and ``fissile``: YES, REFUSED or CRASHES; ``why``: what stock says. ``numbers``: RIGHT or WRONG where the program was
    run and its result is known; ``runs_in``: the element type that its function has in the end, where that is another.
    ``repaired_numbers``: RIGHT or WRONG of what fissile built, where stock refused the program or built it wrong.
    """

    op: str
    element: str
    stock: str
    fissile: str
    why: str = ""
    numbers: str = ""
    runs_in: str = ""
    group: str = ""
    repaired_numbers: str = ""

    @property
    def needs_repair(self) -> bool:
        return self.stock != YES or self.numbers == WRONG


def measured(
    target: str,
    programs: Sequence[Program],
    known: dict[str, Cell],
    keep: Callable[[Sequence[Cell]], object] = lambda _cells: None,
    progress: Callable[[int, int], object] = lambda _done, _of: None,
) -> list[Cell]:
    """The cells of ``programs``. Those in ``known``, by `Program.key`, are not measured again; ``keep`` gets what is, as it comes."""
    flags = tuple(flags_for(resolve_target(target)))
    left = [one for one in programs if one.key not in known]
    found = dict(known)
    for batch in batches_of(left):
        progress(len(found) - len(known), len(left))
        cells = _cells(batch, flags)
        keep(cells)
        found |= {f"{cell.op} {cell.element}": cell for cell in cells}
    if left:
        progress(len(left), len(left))
    return [found[one.key] for one in programs]


def batches_of(programs: Iterable[Program]) -> list[list[Program]]:
    """``programs`` in order, as many at a time as one module gets; ONNX models among themselves."""
    batches = []
    for _onnx, alike in groupby(programs, lambda one: one.declares_opset):
        left = list(alike)
        batches += [left[i : i + PROGRAMS_PER_BATCH] for i in range(0, len(left), PROGRAMS_PER_BATCH)]
    return batches


def _cells(programs: Sequence[Program], flags: tuple[str, ...]) -> list[Cell]:
    with scratch() as folder:
        stock = _stock(programs, flags, folder)
        cells = []
        for one in programs:
            outcome = stock[one.key]
            numbers, runs_in = _run(one, outcome, flags)
            cells.append(
                Cell(
                    one.op,
                    one.element,
                    outcome["state"],
                    YES,
                    outcome.get("why", ""),
                    numbers,
                    runs_in,
                    one.group,
                )
            )
        unfit = [one for one, cell in zip(programs, cells, strict=True) if cell.needs_repair]
        repaired = _repaired(unfit, flags, folder)
        return [
            _with_repair(cell, one, repaired.get(one.key), flags) if cell.needs_repair else cell
            for one, cell in zip(programs, cells, strict=True)
        ]


def _with_repair(cell: Cell, program: Program, outcome: dict | None, flags: tuple[str, ...]) -> Cell:
    """``cell`` with what fissile builds of its program; ``outcome`` is None where it refuses it."""
    if outcome is None:
        return replace(cell, fissile=REFUSED)
    numbers, runs_in = _run(program, outcome, flags)
    return replace(cell, repaired_numbers=numbers, runs_in=runs_in)


def _stock(programs: Sequence[Program], flags: tuple[str, ...], folder: Path) -> dict[str, dict]:
    """What stock IREE does with each; of a batch that takes its process along, the halves are compiled."""
    found: dict[str, dict] = {}
    batches = [Batch(tuple((one.key, one.text) for one in programs))]
    job, results = folder / "job.json", folder / "results"
    while batches:
        results.unlink(missing_ok=True)
        job.write_text(
            json.dumps(
                {
                    "flags": flags,
                    "batches": [batch.programs for batch in batches],
                    "results": str(results),
                    "artifacts": str(folder) if runtime_for(flags) in _here() else "",
                }
            )
        )
        run_child(module_command(f"{__package__}.worker", str(job)), SECONDS_PER_BATCH)
        lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        found |= {line["key"]: line for line in lines if "key" in line}
        begun = next((line["begins"] for line in reversed(lines) if "begins" in line), None)
        if begun is None:
            begun = batches[0].keys
        texts = {one.key: one.text for one in programs}
        at = [key for key in begun if key not in found]
        if len(at) == 1:
            found[at[0]] = {"state": CRASHES, "why": "the compiler crashed or did not end"}
            at = []
        rest = [key for key in texts if key not in found and key not in at]
        halves = [at[: len(at) // 2], at[len(at) // 2 :], rest]
        batches = [Batch(tuple((key, texts[key]) for key in half)) for half in halves if half]
    return found


def _repaired(programs: Sequence[Program], flags: tuple[str, ...], folder: Path) -> dict[str, dict]:
    """Of ``programs``, those that `fissile compile` compiles: where each is built."""
    from ..audit.repairable import compiled_by_fissile

    done: dict[str, dict] = {}
    queue = [Batch(tuple((one.key, one.text) for one in programs))] if programs else []
    source = folder / "programs.mlir"
    while queue:
        batch = queue.pop(0)
        source.write_text(batch.text())
        output = folder / f"fissile-{batch.name}.vmfb"
        try:
            errors = compiled_by_fissile(source, flags, output=output).errors
        except FissileError:
            if len(batch.programs) > 1:
                queue = [*batch.split(()), *queue]
            continue
        if not errors:
            artifact = str(output) if runtime_for(flags) in _here() else ""
            done |= {
                key: {"artifact": artifact, "function": batch.function(index)}
                for index, key in enumerate(batch.keys)
            }
        elif len(batch.programs) > 1:
            named = blamed(batch, [place for error in errors for place in error.places])
            queue = [*batch.split(named), *queue]
    return done


def _here() -> Iterator[str]:
    return iter(runtime.name for runtime in runtimes.present())


def _run(program: Program, outcome: dict, flags: tuple[str, ...]) -> tuple[str, str]:
    """`Cell.numbers` and `Cell.runs_in` of what was built; empty where it cannot be run or the answer is not known."""
    if not outcome.get("artifact") or not program.reference:
        return "", ""
    artifact = Path(outcome["artifact"])
    try:
        signature = signatures_of_vmfb(artifact)[outcome["function"]]
        arrays = arithmetic.inputs(program.shapes, program.element, program.reference)
        [runtime] = runtimes.named([runtime_for(flags)])
        answer = runtimes.run(artifact, signature, arrays, runtime)
    except (FissileError, KeyError):  # no data can be made for the type
        return "", ""
    element = signature.results[0].element
    runs_in = "" if element == program.element else element
    if not isinstance(answer, list):
        return f"not run: {answer.message}", runs_in
    right = arithmetic.expected(program.reference, arrays, program.element)
    same = arithmetic.agrees(answer[0], right, element, program.reference)
    return RIGHT if same else WRONG, runs_in
