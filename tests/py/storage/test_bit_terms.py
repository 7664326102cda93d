"""What masks, shifts and counts of bits are as terms, held against all values of an i8."""

from __future__ import annotations

import pytest
from iree.compiler import ir

from fissile.passes.analysis.bounds.conditions import holds
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.size_terms import evaluate
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.verdict import Answer

ALL = range(-128, 128)
SOME = (-128, -100, -8, -3, -1, 0, 1, 2, 5, 7, 8, 64, 100, 127)


def wrap(number: int) -> int:
    return (number + 128) % 256 - 128


COMPUTED = {
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "shrsi": lambda a, b: a >> b,
    "shrui": lambda a, b: wrap((a & 255) >> b),
    "shli": lambda a, b: wrap(a << b),
}
COUNTED = {
    "ctpop": lambda a: (a & 255).bit_count(),
    "ctlz": lambda a: 8 - (a & 255).bit_length(),
    "cttz": lambda a: 8 if not a else (a & -a).bit_length() - 1,
}


@pytest.fixture
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


def returned(text: str) -> tuple[ir.Module, list[ir.Value], ir.Value]:
    module = ir.Module.parse(f"func.func @f(%a: i8, %b: i8) -> i8 {{\n{text}\nreturn %r : i8\n}}")
    block = module.body.operations[0].regions[0].blocks[0]
    return module, list(block.arguments), block.operations[len(block.operations) - 1].operands[0]


def agrees(arguments: list[ir.Value], result: ir.Value, a: int, b: int, wanted: int) -> bool:
    """Whether the result's term is ``wanted``, or the result by itself, of which all that is known holds of ``wanted``."""
    extents = Extents()
    found = extents.value(result)
    symbols = [extents.symbol(value) for value in (*arguments, result)]
    values = dict(zip((symbol.ident for symbol in symbols), (a, b, wanted), strict=True))
    facts = extents.facts_about([symbols[-1].ident])
    return evaluate(found, values) == wanted and all(holds(fact, values) for fact in facts)


@pytest.mark.parametrize("mask", [0, 1, 7, 6, 127, -1, -2, -8, -128, -3])
@pytest.mark.parametrize("op", ["andi", "ori", "xori"])
def test_a_mask(context, op, mask):
    for operands in ("%a, %m", "%m, %a"):
        _module, arguments, result = returned(
            f"%m = arith.constant {mask} : i8\n%r = arith.{op} {operands} : i8"
        )
        assert all(agrees(arguments, result, a, 0, COMPUTED[op](a, mask)) for a in ALL)


def test_masks_of_ones_are_exact(context):
    for mask in (0, 1, 7, 127, -1, -2, -8):
        _module, arguments, result = returned(f"%m = arith.constant {mask} : i8\n%r = arith.andi %a, %m : i8")
        extents = Extents()
        a = extents.symbol(arguments[0]).ident
        assert [evaluate(extents.value(result), {a: x}) for x in ALL] == [x & mask for x in ALL]


@pytest.mark.parametrize("op", ["andi", "ori", "xori"])
def test_two_values_of_which_one_or_both_are_not_negative(context, op):
    for given in ("%p = arith.andi %a, %m : i8\n%q = arith.andi %b, %m : i8", "%p = arith.andi %a, %m : i8"):
        second = "%q" if "%q" in given else "%b"
        _module, arguments, result = returned(
            f"%m = arith.constant 127 : i8\n{given}\n%r = arith.{op} %p, {second} : i8"
        )
        for a in SOME:
            for b in SOME:
                other = b & 127 if second == "%q" else b
                assert agrees(arguments, result, a, b, COMPUTED[op](a & 127, other))


@pytest.mark.parametrize("by", [0, 1, 3, 6])
@pytest.mark.parametrize("op", ["shli", "shrsi", "shrui"])
def test_a_shift(context, op, by):
    _module, arguments, result = returned(f"%m = arith.constant {by} : i8\n%r = arith.{op} %a, %m : i8")
    assert all(agrees(arguments, result, a, 0, COMPUTED[op](a, by)) for a in ALL)


@pytest.mark.parametrize("op", COUNTED)
def test_a_count_of_bits_is_between_none_and_all(context, op):
    _module, arguments, result = returned(f"%r = math.{op} %a : i8")
    assert all(agrees(arguments, result, a, 0, COUNTED[op](a)) for a in ALL)
    extents = Extents()
    assert extents.bounds_of(extents.value(result)) == (0, 8)


INDEX = """func.func @f(%x: tensor<16xf32>, %i: index) -> f32 {
  %m = index.constant 7
  %k = index.and %i, %m
  %n = index.add %k, %m
  %two = index.constant 2
  %h = index.shrs %n, %two
  %r = tensor.extract %x[%n] : tensor<16xf32>
  %q = tensor.extract %x[%h] : tensor<16xf32>
  %s = arith.addf %r, %q : f32
  return %s : f32
}"""


def test_the_index_dialect_is_arithmetic(context):
    module = ir.Module.parse(INDEX)
    block = module.body.operations[0].regions[0].blocks[0]
    extents = Extents()
    named = {op.operation.name: op.operation.results[0] for op in list(block.operations)[:-1]}
    i = extents.symbol(block.arguments[1]).ident
    assert [evaluate(extents.value(named["index.add"]), {i: x}) for x in (-1, 3, 8)] == [14, 10, 7]
    assert extents.bounds_of(extents.value(named["index.add"])) == (7, 14)
    assert extents.bounds_of(extents.value(named["index.shrs"])) == (1, 3)


RING = """func.func @f(%x: tensor<16xf32>, %hash: i32, %mask: i32, %rank: index) -> f32 {{
  %m = arith.constant {mask} : i32
  %k = arith.{op} %hash, %m : i32
  %i = arith.index_cast %k : i32 to index
  %r = tensor.extract %x[%i] : tensor<16xf32>
  return %r : f32
}}"""


@pytest.mark.parametrize(
    ("op", "mask", "answer"),
    [
        ("andi", 15, Answer.PROVED),
        ("andi", 12, Answer.PROVED),
        ("andi", 31, Answer.UNKNOWN),
        ("andi", -16, Answer.UNKNOWN),
        ("ori", 15, Answer.UNKNOWN),
        ("shrui", 28, Answer.PROVED),
        ("shrsi", 28, Answer.UNKNOWN),
    ],
)
def test_a_masked_index_is_inside_where_the_mask_is(context, op, mask, answer):
    module = ir.Module.parse(RING.format(op=op, mask=mask))
    [judged] = judge_storage(module.operation).judged
    assert judged.answer is answer


def test_masked_indices_of_the_index_dialect_are_inside(context):
    judged = judge_storage(ir.Module.parse(INDEX).operation).judged
    assert [one.answer for one in judged] == [Answer.PROVED, Answer.PROVED]
