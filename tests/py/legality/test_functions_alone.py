"""Functions that IREE refuses as a whole, in a program of many: how many compiles it takes to find them."""

from __future__ import annotations

import pytest
from iree.compiler import ir

from fissile.passes.analysis.legality import audit as auditing
from fissile.passes.analysis.legality.compiler import Outcome

FUNCTIONS = 200


class Refusing:
    """Stands for IREE: a program is refused where one of its functions is in ``refused``, or two of them are in ``apart``."""

    def __init__(self, refused=(), apart=()):
        self.refused, self.apart, self.texts = refused, apart, []

    def compile(self, text, flags, to, start="start", whole=False):
        del flags, start, whole
        self.texts.append(text)
        there = [name for name in (*self.refused, *self.apart) if f'"{name}"' in text]
        bad = any(name in self.refused for name in there) or len(there) > 1
        return Outcome("flow", "end", "refused", text="refused") if bad else Outcome(to)


def audited(compiler, called=""):
    functions = [f"func.func @f{n}(%a: i32) -> i32 {{\n  return %a : i32\n}}\n" for n in range(FUNCTIONS)]
    with ir.Context():
        module = ir.Module.parse("".join(functions) + called)
        return auditing.audit(compiler, module.operation, ())


@pytest.mark.parametrize("refused", [("f0",), ("f199",), ("f7", "f8", "f150")])
def test_the_functions_that_fail_are_found_in_few_compiles(refused):
    compiler = Refusing(refused)
    found = audited(compiler)
    assert {one.function for one in found.functions} == set(refused) and found.rest.ok
    assert len(compiler.texts) < 30 * len(refused)


def test_none_is_to_blame_where_only_two_together_fail():
    found = audited(Refusing(apart=("f3", "f190")))
    assert not found.functions and not found.rest.ok


def test_there_is_an_end_where_all_of_them_fail():
    compiler = Refusing(tuple(f"f{n}" for n in range(FUNCTIONS)))
    found = audited(compiler)
    assert len(compiler.texts) < 12 * FUNCTIONS
    assert len(found.functions) == FUNCTIONS or not found.rest.ok
