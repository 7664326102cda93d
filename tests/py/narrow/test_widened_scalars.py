"""Narrow arithmetic in 32 bits against NumPy's narrow types: every value of f16, every pair of i8. No
compile."""

import ml_dtypes
import numpy as np
import pytest
from iree.compiler import ir
from scalar_interpreter import interpret

from fissile.dialect import load_dialects
from fissile.passes.analysis.dispatch.narrow_types import BYTE_FLOATS, NARROW_TYPES, NarrowSet, missing_types
from fissile.passes.remedies.narrow.float_bits import bits_of_float, float_of_bits
from fissile.passes.remedies.narrow.widened_scalars import CannotWiden, ScalarWidener

ALL_HALVES = np.arange(65536, dtype=np.uint16)
PAIRS = [v.ravel().astype(np.int8) for v in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128))]


def floats() -> np.ndarray:
    """f32 values of every kind: all halves, their neighbours and midpoints, random bits, infinities and
    NaN."""
    halves = ALL_HALVES.view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        near = np.concatenate([np.nextafter(halves, np.float32(end)) for end in (np.inf, -np.inf)])
        middle = ((halves[:-1].astype(np.float64) + halves[1:]) / 2).astype(np.float32)
    random = np.random.default_rng(0).integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    return np.concatenate(
        [halves, near, middle, random, np.float32([65504, 65519.99, 65520, 65536, 1e38, 2**-25])]
    )


def bfloat16_bits(values: np.ndarray) -> np.ndarray:
    """Round to nearest even by exact arithmetic in 64 bits."""
    bits = values.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class Program:
    """A function body in a context of its own: ``build`` makes ops from arguments of the given types."""

    def __init__(self, types, build):
        self.context = ir.Context()
        load_dialects(self.context, ("arith", "func", "math"))
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            block = self.module.body
            holder = ir.Operation.create("builtin.module", regions=1, ip=ir.InsertionPoint(block))
            self.block = holder.regions[0].blocks.append(*[ir.Type.parse(t) for t in types])
            with ir.InsertionPoint(self.block):
                self.result = build(*self.block.arguments)

    def run(self, *values):
        given = dict(zip(self.block.arguments, values, strict=False))
        return interpret([op.operation for op in self.block.operations], given)[self.result]


def test_bits_of_f16_and_back_are_exact_for_every_half():
    read = Program(["i32"], lambda bits: float_of_bits("f16", bits)).run(ALL_HALVES.astype(np.int32))
    expected = ALL_HALVES.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(read, expected)
    assert (np.signbit(read) == np.signbit(expected)).all()


def test_upper_half_of_the_word_does_not_matter():
    program = Program(["i32"], lambda bits: float_of_bits("f16", bits))
    np.testing.assert_array_equal(
        program.run(ALL_HALVES.astype(np.int32) | np.int32(0x5A5A << 16)),
        program.run(ALL_HALVES.astype(np.int32)),
    )


def test_rounding_to_f16_is_numpys():
    values = floats()
    bits = Program(["f32"], lambda value: bits_of_float("f16", value)).run(values)
    assert ((bits >= 0) & (bits < 65536)).all()
    with np.errstate(all="ignore"):
        expected = values.astype(np.float16)
    got = bits.astype(np.uint16).view(np.float16)
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(got[numbers].view(np.uint16), expected[numbers].view(np.uint16))
    assert np.isnan(got[~numbers]).all() and (~numbers).any()


def test_rounding_to_bf16_is_to_nearest_even_and_keeps_nan():
    values = floats()
    bits = Program(["f32"], lambda value: bits_of_float("bf16", value)).run(values).astype(np.uint16)
    numbers = ~np.isnan(values)
    np.testing.assert_array_equal(bits[numbers], bfloat16_bits(values[numbers]))
    assert np.isnan((bits[~numbers].astype(np.uint32) << 16).view(np.float32)).all()
    back = Program(["i32"], lambda b: float_of_bits("bf16", b)).run(bits.astype(np.int32))
    np.testing.assert_array_equal(back.view(np.uint32), bits.astype(np.uint32) << 16)


EIGHT_BITS = {
    name: getattr(ml_dtypes, name.replace("f8", "float8_").lower())
    for name in ("f8E4M3FN", "f8E5M2", "f8E3M4", "f8E4M3FNUZ", "f8E5M2FNUZ")
}


@pytest.mark.parametrize(("name", "dtype"), EIGHT_BITS.items())
def test_every_8_bit_float_and_back(name, dtype):
    codes = np.arange(256, dtype=np.uint8)
    read = Program(["i32"], lambda bits: float_of_bits(name, bits)).run(
        codes.astype(np.int32) | np.int32(0x5A00)
    )
    expected = codes.view(dtype).astype(np.float32)
    np.testing.assert_array_equal(read, expected)
    assert (np.signbit(read) == np.signbit(expected))[~np.isnan(expected)].all()
    back = Program(["f32"], lambda value: bits_of_float(name, value)).run(read).astype(np.uint8)
    np.testing.assert_array_equal(back[~np.isnan(expected)], codes[~np.isnan(expected)])


@pytest.mark.parametrize(("name", "dtype"), EIGHT_BITS.items())
def test_rounding_to_8_bit_floats_is_to_nearest_even(name, dtype):
    """Values next to each number, midpoints, what overflows, random bits; NaN wherever there is no such number."""
    numbers = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    numbers = np.sort(numbers[np.isfinite(numbers)])
    middle = ((numbers[:-1].astype(np.float64) + numbers[1:]) / 2).astype(np.float32)
    beside = [np.nextafter(v, np.float32(end)) for v in (numbers, middle) for end in (np.inf, -np.inf)]
    values = np.concatenate([floats(), numbers, middle, *beside])
    bits = Program(["f32"], lambda value: bits_of_float(name, value)).run(values)
    assert ((bits >= 0) & (bits < 256)).all()
    with np.errstate(all="ignore"):
        expected = values.astype(dtype)
    got = bits.astype(np.uint8).view(dtype)
    missing = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(got.view(np.uint8)[~missing], expected.view(np.uint8)[~missing])
    assert np.isnan(got.astype(np.float32)[missing]).all() and missing.any()


def widened(body: str, types: list[str], result: str, operands):
    """The result of ``body`` (a function's text, %a and %b its arguments) computed in 32 bits."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in zip("abc", types, strict=False))
    context = ir.Context()
    load_dialects(context, ("arith", "func", "math"))
    with context, ir.Location.unknown():
        module = ir.Module.parse(
            f"func.func @f({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
        )
        narrow = NarrowSet(NARROW_TYPES)
        old = module.body.operations[0].operation.regions[0].blocks[0]
        holder = ir.Operation.create("builtin.module", regions=1, ip=ir.InsertionPoint(module.body))
        block = holder.regions[0].blocks.append(*[narrow.wide_type(a.type) for a in old.arguments])
        with ir.InsertionPoint(block):
            widener = ScalarWidener(narrow, lambda value: value)
            for before, after in zip(old.arguments, block.arguments, strict=True):
                widener.enter(before, after)
            ops = [op.operation for op in old.operations]
            widener.block(ops[:-1])
            value = widener.leave(ops[-1].operands[0])
        given = dict(zip(block.arguments, operands, strict=False))
        return interpret([op.operation for op in block.operations], given)[value]


@pytest.mark.parametrize(
    "name, reference",
    [
        ("arith.addi", np.add),
        ("arith.subi", np.subtract),
        ("arith.muli", np.multiply),
        ("arith.andi", np.bitwise_and),
        ("arith.xori", np.bitwise_xor),
        ("arith.maxsi", np.maximum),
        ("arith.minsi", np.minimum),
        ("arith.maxui", lambda a, b: np.maximum(a.view(np.uint8), b.view(np.uint8)).view(np.int8)),
        ("arith.minui", lambda a, b: np.minimum(a.view(np.uint8), b.view(np.uint8)).view(np.int8)),
    ],
)
def test_i8_ops_agree_on_every_pair(name, reference):
    a, b = PAIRS
    got = widened(f"%r = {name} %a, %b : i8", ["i8", "i8"], "i8", [v.astype(np.int32) for v in PAIRS])
    np.testing.assert_array_equal(got, reference(a, b).astype(np.int32))


@pytest.mark.parametrize(
    "name, reference",
    [
        ("arith.divui", lambda a, b: (a.view(np.uint8) // b.view(np.uint8)).view(np.int8)),
        ("arith.remui", lambda a, b: (a.view(np.uint8) % b.view(np.uint8)).view(np.int8)),
        ("arith.remsi", np.fmod),
        ("arith.divsi", lambda a, b: np.trunc(a / b.astype(np.float64)).astype(np.int64).astype(np.int8)),
    ],
)
def test_i8_divisions_agree_on_every_pair_without_zero(name, reference):
    a, b = (v[PAIRS[1] != 0] for v in PAIRS)
    got = widened(f"%r = {name} %a, %b : i8", ["i8", "i8"], "i8", [a.astype(np.int32), b.astype(np.int32)])
    np.testing.assert_array_equal(got, reference(a, b).astype(np.int32))


@pytest.mark.parametrize("name", ["arith.shli", "arith.shrsi", "arith.shrui"])
def test_i8_shifts_agree(name):
    a, b = np.arange(-128, 128).astype(np.int8).repeat(8), np.tile(np.arange(8, dtype=np.int8), 256)
    reference = {
        "arith.shli": a << b,
        "arith.shrsi": a >> b,
        "arith.shrui": (a.view(np.uint8) >> b.view(np.uint8)).view(np.int8),
    }
    got = widened(f"%r = {name} %a, %b : i8", ["i8", "i8"], "i8", [a.astype(np.int32), b.astype(np.int32)])
    np.testing.assert_array_equal(got, reference[name].astype(np.int32))


@pytest.mark.parametrize("result", ("low", "high"))
@pytest.mark.parametrize("name", ("mulsi_extended", "mului_extended"))
def test_both_halves_of_i8_products_agree_on_every_pair(name, result):
    a, b = (v if name == "mulsi_extended" else v.view(np.uint8) for v in PAIRS)
    whole = a.astype(np.int32) * b.astype(np.int32)
    right = (whole if result == "low" else whole >> 8).astype(np.int8)
    body = f"%low, %high = arith.{name} %a, %b : i8\n%r = arith.addi %{result}, %zero : i8"
    got = widened(
        f"%zero = arith.constant 0 : i8\n{body}", ["i8", "i8"], "i8", [v.astype(np.int32) for v in PAIRS]
    )
    np.testing.assert_array_equal(got, right.astype(np.int32))


@pytest.mark.parametrize("name", ("mulsi_extended", "mului_extended"))
def test_upper_halves_of_i16_products_agree_at_the_ends(name):
    ends = np.array([-32768, -32767, -256, -1, 0, 1, 255, 32767], np.int16)
    pairs = [v.ravel() for v in np.meshgrid(ends, ends)]
    a, b = (v if name == "mulsi_extended" else v.view(np.uint16) for v in pairs)
    right = ((a.astype(np.int64) * b.astype(np.int64)) >> 16).astype(np.int16)
    body = f"%low, %high = arith.{name} %a, %b : i16\n%zero = arith.constant 0 : i16\n%r = arith.addi %high, %zero : i16"
    got = widened(body, ["i16", "i16"], "i16", [v.astype(np.int32) for v in pairs])
    np.testing.assert_array_equal(got, right.astype(np.int32))


def test_carries_of_i8_agree_on_every_pair():
    a, b = (v.view(np.uint8).astype(np.int32) for v in PAIRS)
    body = "%sum, %carry = arith.addui_extended %a, %b : i8, i1\n%most = arith.constant -1 : i8\n%r = arith.select %carry, %most, %sum : i8"
    got = widened(body, ["i8", "i8"], "i8", [v.astype(np.int32) for v in PAIRS])
    np.testing.assert_array_equal(got, np.minimum(a + b, 255).astype(np.uint8).view(np.int8).astype(np.int32))


@pytest.mark.parametrize("predicate", ["eq", "slt", "ult", "uge", "sgt"])
def test_i8_comparisons_agree_on_every_pair(predicate):
    compare = {"eq": np.equal, "slt": np.less, "ult": np.less, "uge": np.greater_equal, "sgt": np.greater}[
        predicate
    ]
    a, b = (v.view(np.uint8) if predicate[0] == "u" else v for v in PAIRS)
    got = widened(
        f"%r = arith.cmpi {predicate}, %a, %b : i8", ["i8", "i8"], "i1", [v.astype(np.int32) for v in PAIRS]
    )
    np.testing.assert_array_equal(got, compare(a, b).astype(np.int32))


@pytest.mark.parametrize(
    "body, source, result, reference",
    [
        ("%r = arith.extui %a : i8 to i32", "i8", "i32", lambda a: a.view(np.uint8).astype(np.int32)),
        ("%r = arith.extsi %a : i8 to i64", "i8", "i64", lambda a: a.astype(np.int64)),
        ("%r = arith.uitofp %a : i8 to f32", "i8", "f32", lambda a: a.view(np.uint8).astype(np.float32)),
        (
            "%t = arith.extui %a : i8 to i16\n%r = arith.sitofp %t : i16 to f16",
            "i8",
            "f16",
            lambda a: a.view(np.uint8).astype(np.float32),
        ),
        (
            "%c = arith.constant 200 : i8\n%r = arith.addi %a, %c : i8",
            "i8",
            "i8",
            lambda a: (a + np.int8(-56)).astype(np.int32),
        ),
        (
            "%t = arith.trunci %a : i8 to i4\n%r = arith.extsi %t : i4 to i8",
            "i8",
            "i8",
            lambda a: ((a << 4).astype(np.int8) >> 4).astype(np.int32),
        ),
    ],
)
def test_conversions_agree_on_every_i8(body, source, result, reference):
    a = np.arange(-128, 128).astype(np.int8)
    got = widened(body, [source], result, [a.astype(np.int32)])
    np.testing.assert_array_equal(got, reference(a))


@pytest.mark.parametrize(
    "name, reference",
    [
        ("arith.addf", np.add),
        ("arith.subf", np.subtract),
        ("arith.mulf", np.multiply),
        ("arith.divf", np.divide),
        ("arith.maximumf", np.maximum),
    ],
)
def test_f16_ops_are_rounded_as_in_16_bits(name, reference):
    generator = np.random.default_rng(1)
    a, b = (generator.integers(0, 65536, 300_000).astype(np.uint16).view(np.float16) for _ in range(2))
    with np.errstate(all="ignore"):
        expected = reference(a, b).astype(np.float32)
    got = widened(
        f"%r = {name} %a, %b : f16", ["f16", "f16"], "f16", [a.astype(np.float32), b.astype(np.float32)]
    )
    np.testing.assert_array_equal(got, expected)


def test_an_unknown_op_is_refused():
    with pytest.raises(CannotWiden):
        widened("%r = arith.truncf %a upward : f32 to f16", ["f32"], "f16", [np.float32([1])])


def test_which_types_a_target_misses():
    assert missing_types([32], "vulkan-spirv") == {
        "i1",
        "packed_i1",
        "i2",
        "i4",
        "f4E2M1FN",
        "i8",
        "i16",
        "f16",
        "bf16",
        *BYTE_FLOATS,
    }
    assert missing_types([32, 16, 8], "vulkan-spirv") == {"bf16"}
    assert missing_types([32, 16], "vulkan-spirv") == {
        "i1",
        "packed_i1",
        "i2",
        "i4",
        "f4E2M1FN",
        "i8",
        "bf16",
        *BYTE_FLOATS,
    }
    assert missing_types([], "llvm-cpu") == frozenset()
    assert missing_types([32, 16, 8, 64], "rocm") == frozenset()
