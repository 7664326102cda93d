"""Does each phase of IREE's keep its contract, and which pass of the phase broke one? (`fissile compile --verify-contracts`)"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.finding import Finding
from fissile.passes.definition import Property
from fissile.passes.evaluation import offences_of
from fissile.passes.iree.pass_contracts import (
    PHASE_CONTRACTS,
    PHASE_PIPELINES,
    PIPELINE_ADAPTORS,
    NativeContract,
)

from .known import contract_from, contract_of
from .reproducer import write_reproducer
from .watch import HeldProperties, always_watched, broken_contract

_DUMP = re.compile(r"// -----// IR Dump After [^:\n]*:? ?(?P<name>[\w-]+) \('(?P<anchor>[\w.]+)' operation")
_NUMBERS = re.compile(r"(\d+(?:_\d+)*)_")


class PhaseWatch:
    """Keeps the program from before a phase, and evaluates the properties of the house again after it."""

    def __init__(self, module_op: ir.Operation, phase: str) -> None:
        named = contract_from(PHASE_CONTRACTS.get(phase, NativeContract())).establishes
        self._state = HeldProperties([*always_watched(), *named], module_op)
        self._phase = phase
        self._before = module_op.operation.clone()

    def after(self, module_op: ir.Operation) -> list[Finding]:
        """FIS502 for what IREE broke on the way to the phase, with the pass that did it where that is found."""
        contract = contract_from(PHASE_CONTRACTS.get(self._phase, NativeContract()))
        broken = self._state.after(f"phase '{self._phase}'", contract, module_op)
        return [self._blamed(message, prop, offences) for message, prop, offences in broken]

    def _blamed(self, message: str, prop: Property, offences: list) -> Finding:
        step = breaking_pass(self._before, self._phase, prop)
        if step is None:
            return broken_contract(message, f"phase {self._phase}", offences, None)
        reproducer = write_reproducer(step.before, step.pipeline, step.name, [prop])
        sentence = f"pass '{step.name}' of phase '{self._phase}' broke {prop.name}: {prop.sentence}"
        return broken_contract(sentence, step.name, offences, reproducer)


@dataclass(frozen=True)
class Step:
    """A pass of IREE's that was run alone: its name, a pipeline of it, and the IR ``before`` and ``after`` it."""

    name: str
    pipeline: str
    before: str
    after: str


def breaking_pass(before: ir.Operation, phase: str, prop: Property) -> Step | None:
    """The first pass of ``phase`` behind which ``prop`` does not hold, when the phase's pipelines run on a copy of ``before``.

    None where the phase has no named pipeline, or where that does not break the property (an option may have changed the phase).
    """
    for step in steps_of(before.clone(), phase):
        if prop in contract_of(step.name).contract.invalidates:
            continue
        op = ir.Module.parse(step.after, context=before.context).operation
        if offences_of(prop, op):
            return step
    return None


def steps_of(module_op: ir.Operation, phase: str) -> Iterator[Step]:
    """Every pass of ``phase`` that changes ``module_op``, in the order in which they run; the module is changed."""
    context = module_op.context
    text = module_op.get_asm(enable_debug_info=True)
    for pipeline in PHASE_PIPELINES.get(phase, ()):
        with tempfile.TemporaryDirectory(prefix="fissile-phase-") as folder:
            manager = PassManager.parse(f"builtin.module({pipeline})", context=context)
            # A dump of the whole module after a pass on one function needs the others to stand still.
            context.enable_multithreading(False)
            try:
                manager.enable_ir_printing(
                    print_after_all=True,
                    print_after_change=True,
                    print_module_scope=True,
                    enable_debug_info=True,
                    tree_printing_dir_path=folder,
                )
                manager.run(module_op)
            except ir.MLIRError:
                pass  # what ran before the pass that failed is judged
            finally:
                context.enable_multithreading(True)
            for file in sorted(Path(folder).rglob("*.mlir"), key=_position):
                after = file.read_text(encoding="utf-8")
                if (found := _DUMP.match(after)) is not None:
                    name, anchor = found["name"], found["anchor"]
                    if name not in PIPELINE_ADAPTORS:
                        yield Step(name, _alone(name, anchor), text, after)
                text = after


def _position(file: Path) -> tuple[tuple[int, ...], int]:
    """When a dump was made. A pass on a function that ran behind the module's n-th dump is numbered n_m; those that ran ahead of the
    module's first dump are numbered 0_m as well, and are older than it."""
    found = _NUMBERS.match(file.name)
    numbers = tuple(int(n) for n in found[1].split("_")) if found else ()
    written = file.stat().st_mtime_ns
    if len(numbers) > 1 and numbers[0] == 0:
        first = next(iter(file.parents[len(numbers) - 1].glob("0_[!0-9]*.mlir")), None)
        if first is not None and written < first.stat().st_mtime_ns:
            numbers = (-1, *numbers)
    return numbers, written


def _alone(name: str, anchor: str) -> str:
    return f"builtin.module({name})" if anchor == "builtin.module" else f"builtin.module({anchor}({name}))"
