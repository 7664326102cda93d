"""The random programs of bench/programs/patterns.py are valid, ordinary and the same for the same seed."""

from __future__ import annotations

import random

from iree.compiler import ir

from bench.programs.pattern_epilogues import EPILOGUES
from bench.programs.pattern_producers import PRODUCERS
from bench.programs.pattern_roots import ROOTS
from bench.programs.patterns import program

COUNT = 60


def drawn(seed):
    r = random.Random(seed)
    return [program(r, 2e7) for _ in range(COUNT)]


def test_every_program_passes_irees_verifier():
    from fissile.pipelines.session import Session

    session = Session()
    for name, text in drawn(3):
        with session.context:
            assert ir.Module.parse(text).operation.verify(), name


def test_the_same_seed_draws_the_same_programs_and_another_does_not():
    assert drawn(3) == drawn(3) != drawn(4)


def test_every_root_and_most_producers_and_epilogues_are_drawn():
    names = " ".join(name for name, _text in drawn(5) + drawn(6) + drawn(7))
    assert all(root in names for root in ROOTS)
    assert sum(p in names for p in PRODUCERS) > len(PRODUCERS) - 2 and all(e in names for e in EPILOGUES)
