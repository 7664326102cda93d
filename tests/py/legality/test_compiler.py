"""What `Compiler` asks IREE for once, and what for each target."""

from __future__ import annotations

import legality_programs as programs_of
import pytest
from iree.compiler import ir

from fissile.passes.analysis.legality.audit import _dead, audit
from fissile.passes.analysis.legality.compiler import Compiler, Outcome
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

TARGETS = ("llvm-cpu", "gfx942")


@pytest.fixture
def begun():
    return []


@pytest.fixture
def compiler(begun):
    return Compiler(begins=lambda _key, _whole, step: begun.append(step))


def outcomes(compiler, text, to):
    return [compiler.compile(text, flags_for(find_target(name)), to) for name in TARGETS]


def test_what_the_import_refuses_is_refused_for_every_target_at_once(compiler, begun):
    first, second = outcomes(compiler, programs_of.AND, "end")
    assert first == second and first.failed == "input"
    assert begun == ["start", "input"] and compiler.compiled == 1


def test_what_the_import_takes_is_compiled_for_each_target(compiler, begun):
    assert all(one.ok for one in outcomes(compiler, programs_of.REDUCE, "flow"))
    assert begun.count("input") == 2 and compiler.compiled == 2


def test_a_crash_of_the_import_in_another_process_is_known_for_every_target(begun):
    keys = []
    first = Compiler(begins=lambda key, _whole, step: keys.append((step, key)))
    [crashed, _other] = outcomes(first, programs_of.AND, "input")
    known = {key: crashed for step, key in keys if step == "input"}
    second = Compiler(known, lambda _key, _whole, step: begun.append(step))
    assert [one.failed for one in outcomes(second, programs_of.AND, "end")] == ["input", "input"]
    assert begun == []


def test_the_ops_of_a_large_program_are_compiled_in_groups(compiler):
    """80 ops of types of their own, and one that the import refuses: 3 groups, and 5 times the halves of the one with that op."""
    shapes = [f"tensor<{n}xf32>" for n in range(2, 82)]
    arguments = ", ".join(f"%x{i}: {shape}" for i, shape in enumerate(shapes))
    ops = "\n".join(f"  %y{i} = arith.negf %x{i} : {shape}" for i, shape in enumerate(shapes))
    returned = f"  return {', '.join(f'%y{i}' for i in range(80))} : {', '.join(shapes)}"
    many = f"func.func @many({arguments}) -> ({', '.join(shapes)}) {{\n{ops}\n{returned}\n}}\n"
    module = ir.Module.parse(many + programs_of.AND, compiler.session().context)
    found = audit(compiler, module.operation, flags_for(find_target("llvm-cpu")), "input")
    assert [one.name for one in found.refused] == ["torch.aten.__and__.Tensor"]
    assert compiler.compiled < 40


def test_where_a_group_takes_the_process_along_each_op_is_compiled_alone(compiler, monkeypatch):
    """Halves would cost a process each time."""
    asked = []

    def compile(text, *_how, **_more):
        asked.append(text.count("sym_name"))
        died = asked[-1] > 1
        return Outcome("start", "input", "the compiler crashes", died=True) if died else Outcome("input")

    monkeypatch.setattr(compiler, "compile", compile)
    text = "func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>) {\n"
    text += (
        "".join(f"  %y{n} = arith.negf %{n} : tensor<{i}xf32>\n" for i, n in enumerate("abc", 2))
        + "  return\n}"
    )
    module = ir.Module.parse(text, compiler.session().context)
    _dead(compiler, module.operation, (), "input", "start", ())
    assert asked == [3, 1, 1, 1]
