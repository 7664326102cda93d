"""Every order of the nine passes, on every program: legal IR and the same results, or refused before it runs.

    python -m bench.lifetime.permutations [--programs 8] [--seed 0]

9! orders are 362880 for each program. Orders whose first passes leave the same program with the same passes to come go on alike, so each
such state is run once and the orders that lead through it are counted: all are covered, none is drawn. The programs are the two
of `orders.py` and generated ones (`programs.py`). A state is wrong where a pass fails, the module does not verify, or, in the end, a
result differs, memory is misused or the check for lifetimes finds an error although insert-kills ran. An order is refused where the
contracts of its passes do not chain. Exit status 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.checks.storage.lifetimes import lifetime_findings
from fissile.passes.definition import PassFailed
from fissile.pipelines.contracts import contract_of
from fissile.pipelines.pass_runner import run_pipeline

from . import orders
from .buffers import Misuse, NotRun
from .interpreter import call
from .programs import program
from .suite import CALLS, new_context

PASSES = {
    "insert-kills": "fissile-insert-kills",
    "check-lifetimes": "fissile-check-lifetimes",
    "constant folding": "iree-util-optimize-int-arithmetic",
    "canonicalisation": "canonicalize",
    "CSE": "cse",
    "DCE": "symbol-dce",
    "boundary placement": "fissile-place-boundaries",
    "storage guard": "fissile-assert-bounds",
    "lowering of storage": "fissile-lower-storage",
}


@dataclass(frozen=True)
class Given:
    """A program: its calls with the results that they must have, and the passes that fit it."""

    name: str
    text: str
    calls: Sequence[tuple[tuple, list]]
    passes: Sequence[str]


@dataclass
class Outcome:
    """How many orders ended how, over how many states that were run; ``wrong`` has a sentence for each complaint."""

    ended: Counter = field(default_factory=Counter)
    states: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _State:
    text: str
    left: frozenset[str]
    broken: frozenset[str]


def every_order(given: Given, context: ir.Context) -> Outcome:
    """Runs each state of all orders of ``given.passes`` once, level by level."""
    outcome = Outcome()
    required = {p.name: p for name in given.passes for p in contract_of(name).contract.requires}
    start = ir.Module.parse(given.text, context=context).operation
    broken = frozenset(name for name, prop in required.items() if not prop.holds(start))
    level: dict[_State, int] = {_State(str(start), frozenset(given.passes), broken): 1}
    first_way: dict[_State, tuple[str, ...]] = {next(iter(level)): ()}
    while level:
        following: dict[_State, int] = {}
        for state, ways in level.items():
            outcome.states += 1
            way = first_way[state]
            if not state.left:
                complaint = _judged(given, state.text, context)
                outcome.ended["wrong" if complaint else "right"] += ways
                if complaint:
                    outcome.wrong.append(f"{given.name}: {','.join(way)}: {complaint}")
                continue
            for name in sorted(state.left):
                contract = contract_of(name).contract
                if state.broken & {p.name for p in contract.requires}:
                    outcome.ended["refused"] += ways * _orders_of(len(state.left) - 1)
                    continue
                try:
                    text = _after(state.text, name, context)
                except PassFailed as failed:
                    outcome.ended["wrong"] += ways * _orders_of(len(state.left) - 1)
                    outcome.wrong.append(f"{given.name}: {','.join((*way, name))}: {failed.message}")
                    continue
                after = (state.broken | {p.name for p in contract.invalidates}) - {
                    p.name for p in contract.establishes
                }
                reached = _State(text, state.left - {name}, frozenset(after & required.keys()))
                following[reached] = following.get(reached, 0) + ways
                first_way.setdefault(reached, (*way, name))
        level = following
    return outcome


_KNOWN: dict[tuple[str, str], str] = {}


def _after(text: str, name: str, context: ir.Context) -> str:
    """The program behind pass ``name``; two states with the same program share the answer. Raises PassFailed."""
    if (text, name) not in _KNOWN:
        module = ir.Module.parse(text, context=context).operation
        run_pipeline(f"builtin.module({name})", module, report=lambda finding: None)
        module.verify()
        _KNOWN[text, name] = str(module)
    return _KNOWN[text, name]


def _orders_of(passes: int) -> int:
    return 1 if passes < 2 else passes * _orders_of(passes - 1)


def _judged(given: Given, text: str, context: ir.Context) -> str:
    """What is wrong with a program that all passes have run on; empty where nothing is."""
    module = ir.Module.parse(text, context=context).operation
    if "fissile-lower-storage" not in given.passes or ops_of(module, "memref.alloc"):
        if errors := [f for f in lifetime_findings(module) if f.effect.is_error]:
            return f"{errors[0].code}: {errors[0].message}"
    for arguments, results in given.calls:
        try:
            run = call(module, "main", arguments)
        except Misuse as misuse:
            return str(misuse)
        if str(run.results) != str(results):
            return f"{run.results} and not {results}"
        if run.leaked and ops_of(module, "memref.alloc"):
            return f"{len(run.leaked)} buffers leak"
    return ""


def programs(count: int, seed: int, context: ir.Context) -> list[Given]:
    """The two programs of `orders.py`, then ``count`` generated ones on buffers. Boundaries are for tensors only."""
    on_buffers = [name for name in PASSES.values() if name != "fissile-place-boundaries"]
    found = [
        Given(
            name, text, [(a, [n]) for a, n in zip(orders.CALLS, orders.EXPECTED[name], strict=True)], passes
        )
        for name, text, passes in (
            ("storage", orders.STORAGE, list(PASSES.values())),
            ("buffers", orders.BUFFERS, on_buffers),
        )
    ]
    for number in range(seed, seed + count):
        one = program(number, straight=number % 5 == 0)
        module = ir.Module.parse(one.text, context=context).operation
        try:
            calls = [(arguments, call(module, "main", arguments).results) for arguments in CALLS]
        except NotRun:
            continue
        found.append(Given(f"generated {number}", one.text, calls, on_buffers))
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--programs", type=int, default=8, help="generated programs beside the two of orders.py"
    )
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(argv)
    context, wrong, total = new_context(), 0, 0
    for given in programs(chosen.programs, chosen.seed, context):
        outcome = every_order(given, context)
        _KNOWN.clear()
        for line in outcome.wrong[:3]:
            print(line)
        ended = ", ".join(f"{how} {number}" for how, number in sorted(outcome.ended.items()))
        print(
            f"{given.name}: {len(given.passes)} passes, {ended} orders, {outcome.states} states", flush=True
        )
        wrong += outcome.ended["wrong"]
        total += sum(outcome.ended.values())
    print(f"{total} orders, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
