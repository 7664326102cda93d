"""Ops on integers below 32 bits on the host: stock IREE computes many wrongly (FIS148); widened, each has Python's own result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from built import CPU
from host_calls import Wrong, wrong_calls

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics.build import compile_stock

WIDTHS = (1, 8, 16)
NUMBERS = (-2, -1, 0, 1, 5, 200, 40000)
WRONG_BY_STOCK = 67
"""Of all functions here. Where this is no longer so IREE has changed, and FIS148 may not be needed any more."""


def signed(value: int, bits: int) -> int:
    low = unsigned(value, bits)
    return low - (1 << bits) if low >> (bits - 1) else low


def unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


SIGNED: dict[str, Callable[[int, int], int]] = {
    "arith.divsi": truncated,
    "arith.remsi": lambda a, b: a - b * truncated(a, b),
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.floordivsi": lambda a, b: a // b,
    "arith.maxsi": max,
    "arith.minsi": min,
}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.divui": lambda a, b: a // b,
    "arith.remui": lambda a, b: a % b,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.maxui": max,
    "arith.minui": min,
}
SHIFTS: dict[str, Callable[[int, int], int]] = {
    "arith.shli": lambda a, n: a << n,
    "arith.shrsi": lambda a, n: a >> n,
    "arith.shrui": lambda a, n: a >> n,
}
ORDERS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
Expected = Callable[[int, int], int | None]


def functions() -> dict[str, tuple[str, Expected]]:
    """Name -> text and result. Each takes two i32, truncates them to %x and %y, and returns %r."""
    found: dict[str, tuple[str, Expected]] = {}

    def add(name: str, bits: int, body: str, expected: Expected) -> None:
        name = f"{name.replace('.', '_')}_{bits}"
        lines = (f"%x = arith.trunci %p : i32 to i{bits}", f"%y = arith.trunci %q : i32 to i{bits}", body)
        text = "\n  ".join((f"func.func @{name}(%p: i32, %q: i32) -> i64 {{", *lines, "return %r : i64"))
        found[name] = (f"{text}\n}}\n", expected)

    for bits in WIDTHS:
        back = f"%r = arith.extsi %z : i{bits} to i64"
        for name, of in (SIGNED | UNSIGNED | SHIFTS).items():
            add(name, bits, f"%z = {name} %x, %y : i{bits}\n  {back}", result_of(name, of, bits))
        carried = f"%s = arith.addi %x, %y : i{bits}"
        for name, of in ORDERS.items():
            for sign in ("",) if name in ("eq", "ne") else ("s", "u"):
                read = signed if sign == "s" else unsigned
                compared = f"arith.cmpi {sign}{name}, {{}}, %x : i{bits}\n  %r = arith.extui %z : i1 to i64"
                add(
                    f"cmp_{sign}{name}",
                    bits,
                    f"%z = {compared.format('%y')}",
                    lambda a, b, of=of, read=read, bits=bits: int(of(read(b, bits), read(a, bits))),
                )
                add(
                    f"carry_{sign}{name}",
                    bits,
                    f"{carried}\n  %z = {compared.format('%s')}",
                    lambda a, b, of=of, read=read, bits=bits: int(of(read(a + b, bits), read(a, bits))),
                )
        for cast, read in (("index_cast", signed), ("index_castui", unsigned)):
            add(
                cast,
                bits,
                f"{carried}\n  %i = arith.{cast} %s : i{bits} to index\n  %r = arith.index_cast %i : index to i64",
                lambda a, b, read=read, bits=bits: read(a + b, bits),
            )
        add(
            "from_index",
            bits,
            f"%j = arith.index_cast %p : i32 to index\n  %z = arith.index_cast %j : index to i{bits}\n  {back}",
            lambda a, _b, bits=bits: signed(a, bits),
        )
        loop = f"%c1 = arith.constant 1 : i{bits}\n  %c0_i64 = arith.constant 0 : i64\n  %c1_i64 = arith.constant 1 : i64\n  "
        loop += f"%r = scf.for %i = %x to %y step %c1 iter_args(%n = %c0_i64) -> (i64) : i{bits} {{\n  "
        loop += "%m = arith.addi %n, %c1_i64 : i64\n  scf.yield %m : i64\n  }"
        if bits > 1:
            add(
                "for",
                bits,
                loop,
                lambda a, b, bits=bits: max(0, signed(b, bits) - signed(a, bits)),
            )
        of_one = f"%r = arith.extui %z : i{bits} to i64"
        add(
            "absi",
            bits,
            f"%z = math.absi %x : i{bits}\n  {of_one}",
            lambda a, _b, bits=bits: unsigned(abs(signed(a, bits)), bits),
        )
        add(
            "ctlz",
            bits,
            f"%z = math.ctlz %x : i{bits}\n  {of_one}",
            lambda a, _b, bits=bits: unsigned(bits - unsigned(a, bits).bit_length(), bits),
        )
    return found


def result_of(name: str, of: Callable[[int, int], int], bits: int) -> Expected:
    """None where the op's result is not defined."""

    def expected(a: int, b: int) -> int | None:
        read = signed if name in SIGNED or name == "arith.shrsi" else unsigned
        x, y = read(a, bits), unsigned(b, bits) if name in SHIFTS else read(b, bits)
        if (name in SHIFTS and y >= bits) or (("div" in name or "rem" in name) and y == 0):
            return None
        if name in SIGNED and y == -1 and x == -(1 << (bits - 1)):
            return None
        return signed(of(x, y), bits)

    return expected


FUNCTIONS = functions()


def wrong_in(path) -> Wrong:
    return wrong_calls(path, {name: expected for name, (_, expected) in FUNCTIONS.items()}, NUMBERS)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("narrow") / "in.mlir"
    path.write_text("".join(text for text, _ in FUNCTIONS.values()))
    return path


def test_widened_they_are_right(source, tmp_path):
    report = fissile.compile(source, tmp_path / "ours.vmfb", list(CPU))
    found = [f for f in report.findings if f.code != "FIS202"]  # the divisors that are not known
    assert {(f.code, f.severity.value) for f in found} == {("FIS148", "repaired")}
    assert {f.effect for f in found} == {Effect.UNPROVED}
    assert wrong_in(tmp_path / "ours.vmfb") == {}


def test_stock_computes_them_with_32_bits(source, tmp_path):
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is None
    wrong = wrong_in(tmp_path / "stock.vmfb")
    assert len(wrong) == WRONG_BY_STOCK
    assert wrong["cmp_slt_8"] and wrong["arith_maxsi_16"] and wrong["index_cast_8"] and wrong["carry_ult_8"]


SILENT = """
func.func @main(%t: tensor<4xi8>, %u: tensor<4xi1>, %i: index, %n: i32) -> (i64, i1, i32) {
  %c7 = arith.constant 7 : i8
  %a = tensor.extract %t[%i] : tensor<4xi8>
  %b = tensor.extract %u[%i] : tensor<4xi1>
  %low = arith.andi %a, %c7 : i8
  %most = arith.maxsi %low, %c7 : i8
  %wide = arith.extsi %a : i8 to i64
  %first = arith.cmpi slt, %n, %n : i32
  %same = arith.cmpi eq, %a, %c7 : i8
  %both = arith.andi %same, %b : i1
  %one = arith.xori %both, %first : i1
  %r = arith.extsi %most : i8 to i32
  return %wide, %one, %r : i64, i1, i32
}
"""


def test_what_is_right_with_32_bits_stays(tmp_path):
    """Numbers that are known not to be negative, low bits, equality of loaded numbers, booleans."""
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(SILENT)
    report = fissile.compile(source, ours, [*CPU, "--guard=off"])
    assert not report.findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()
