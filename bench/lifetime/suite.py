"""Are releases placed right in random programs, and are wrong ones found?

    python -m bench.lifetime.suite [--programs 500] [--first 0] [--mutations 4]

Each program (`programs.py`) is run by an interpreter with poisoned memory before and after `fissile-insert-kills`: the results are equal,
nothing is used after its release, released twice or left over, the check finds nothing, a second run changes nothing, and in programs
without control flow the peak is the least that the order of ops allows. Then releases are dropped, doubled, moved, put on a constant and
into a pure region (`mutations.py`): each must be found, unless no call gets there (two branches exclude each other). Exit status 1 where anything is not so.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.checks.storage.lifetimes import lifetime_findings
from fissile.passes.remedies.lifetime.insert_kills import InsertKills

from .buffers import Misuse
from .interpreter import call
from .mutations import EXPECTED, GLOBAL, mutate, mutations
from .programs import Program, program

CALLS = ((True, True, 0), (True, False, 1), (False, True, 2), (False, False, 3))
"""The arguments of each program: two conditions and a count."""


def check_program(one: Program, count: Counter, most_mutations: int, context: ir.Context) -> list[str]:
    """What is wrong with the releases of one program, in sentences; ``count`` adds up what was tried."""
    module = ir.Module.parse(GLOBAL + one.text, context=context).operation
    before = [call(module, "main", arguments).results for arguments in CALLS]
    placed = []
    with context, ir.Location.unknown(context):
        InsertKills().run(module, placed.append)
    if not module.verify():
        return ["the module does not verify"]
    wrong = [f"{f.code}: {f.message}" for f in (*placed, *lifetime_findings(module))]
    for arguments, expected in zip(CALLS, before, strict=False):
        try:
            run = call(module, "main", arguments)
        except Misuse as misuse:
            wrong.append(f"{arguments}: {misuse}")
            continue
        if str(run.results) != str(expected):
            wrong.append(f"{arguments}: {run.results} and not {expected}")
        if run.leaked:
            wrong.append(f"{arguments}: {len(run.leaked)} buffers leak")
        if one.straight and run.peak != run.least_peak:
            wrong.append(f"{arguments}: the peak is {run.peak} bytes, {run.least_peak} are enough")
    text = str(module)
    with context, ir.Location.unknown(context):
        InsertKills().run(module, placed.append)
    if str(module) != text:
        wrong.append("a second run changes the program")
    releases = len(ops_of(module, "memref.dealloc"))
    count["releases"] += releases
    chosen = list(mutations(releases))
    random.Random(one.seed).shuffle(chosen)
    tried = 0
    for kind, number in chosen:
        if tried == most_mutations:
            break
        mutated = ir.Module.parse(text, context=context).operation
        if not mutate(mutated, kind, number, one.seed):
            continue
        tried += 1
        count[kind] += 1
        if not {f.code for f in lifetime_findings(mutated)} & EXPECTED[kind]:
            if goes_wrong(mutated):
                wrong.append(f"release {number} {kind}: not found")
            else:
                count["never run, so not wrong"] += 1
    return wrong


def goes_wrong(module: ir.Operation) -> bool:
    """Whether any call, with any conditions, uses memory wrongly or leaves some over."""
    for c, d, n in itertools.product((False, True), (False, True), range(4)):
        try:
            if call(module, "main", (c, d, n)).leaked:
                return True
        except Misuse:
            return True
    return False


def new_context() -> ir.Context:
    from fissile.pipelines.session import Session

    return Session().context


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first program's number, and seed")
    parser.add_argument("--mutations", type=int, default=4, help="mutations tried of each program")
    chosen = parser.parse_args(argv)
    count: Counter = Counter()
    context = new_context()
    bad = 0
    for seed in range(chosen.first, chosen.first + chosen.programs):
        one = program(seed, straight=seed % 5 == 0, dynamic=seed % 5 in (3, 4))
        count["straight" if one.straight else "with control flow"] += 1
        if wrong := check_program(one, count, chosen.mutations, context):
            bad += 1
            print(f"program {seed}: " + "; ".join(wrong[:3]))
    print(", ".join(f"{number} {what}" for what, number in count.items()))
    print(f"{chosen.programs} programs, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
