"""Quantised arithmetic: rescales, scaled products and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .entries import ELEMENTS, Program, drawn, element_of, full, op

SHAPE = (3, 5, 8)


def apply_scale(
    values: np.ndarray, multiplier: np.ndarray, shift: np.ndarray, double_round: bool
) -> np.ndarray:
    """TOSA's apply_scale_32, with exact integers: shapes are broadcast."""
    values, multiplier, shift = (np.asarray(one).astype(object) for one in (values, multiplier, shift))

    def scaled(value: int, by: int, places: int) -> int:
        rounding = 1 << (places - 1)
        if double_round and places > 31:
            rounding += (1 << 30) if value >= 0 else -(1 << 30)
        return (value * by + rounding) >> places

    return np.vectorize(scaled, otypes=[object])(values, multiplier, shift)


def rescaled(
    values: np.ndarray, zero: int, multiplier: Sequence[int], shift: Sequence[int], result_zero: int, to: str, double_round: bool = False,
    result_unsigned: bool = False,
) -> np.ndarray:  # fmt: skip
    """What `tosa.rescale` of ``values`` computes; per channel where there are several multipliers."""
    limits = np.iinfo(ELEMENTS[f"u{to}" if result_unsigned else to])
    made = (
        apply_scale(
            values.astype(object) - zero, np.array(multiplier, object), np.array(shift, object), double_round
        )
        + result_zero
    )
    clipped = np.clip(made, limits.min, limits.max).astype(np.int64)
    return clipped.astype(np.dtype(f"u{np.dtype(ELEMENTS[to]).name}")).view(ELEMENTS[to])


def add_rescale(
    program: Program, value: tuple[str, str], shape: Sequence[int], source: str, to: str, zero: int, multiplier: Sequence[int], shift: Sequence[int],
    result_zero: int, rounding: str = "SINGLE_ROUND", scale32: bool = True, input_unsigned: bool = False, output_unsigned: bool = False,
) -> tuple[str, str]:  # fmt: skip
    operands = [
        value, program.constant(multiplier, "i32" if scale32 else "i16"), program.constant(shift, "i8"), program.constant([zero], source),
        program.constant([result_zero], to),
    ]  # fmt: skip
    flags = {
        "scale32": scale32,
        "per_channel": len(multiplier) > 1,
        "input_unsigned": input_unsigned,
        "output_unsigned": output_unsigned,
    }
    held = ", ".join(
        [
            f"rounding_mode = #tosa.rounding_mode<{rounding}>",
            *(f"{name} = {str(on).lower()}" for name, on in flags.items()),
        ]
    )
    return program.add("tosa.rescale", operands, program.type(shape, to), held)


def _rescale(
    name: str, values: np.ndarray, to: str, zero: int, multiplier: Sequence[int], shift: Sequence[int], result_zero: int, rounding: str = "SINGLE_ROUND",
    scale32: bool = True, input_unsigned: bool = False, output_unsigned: bool = False, open_sizes: bool = False,
) -> None:  # fmt: skip
    program = Program(name, open_sizes)
    given = program.argument(values)
    source = element_of(values)
    made = add_rescale(program, given, values.shape, source, to, zero, multiplier, shift, result_zero, rounding, scale32, input_unsigned, output_unsigned)  # fmt: skip
    read = values.view(f"u{values.dtype.name}") if input_unsigned else values
    read_zero = zero % 256 if input_unsigned and source == "i8" else zero
    written_zero = result_zero % 256 if output_unsigned and to == "i8" else result_zero
    wanted = rescaled(
        read, read_zero, multiplier, shift, written_zero, to, rounding == "DOUBLE_ROUND", output_unsigned
    )
    program.ends([made], [wanted])


ONE = 1 << 30
sums = drawn("sums", SHAPE, "i32", -(2**20), 2**20)
for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND", "INEXACT_ROUND"):
    _rescale(f"rescale_i32_i8_{rounding}", sums, "i8", 0, [1395864371], [43], 3, rounding)
    _rescale(f"rescale_i8_i8_{rounding}", full("r8", SHAPE, "i8"), "i8", -4, [1518500250], [30], 11, rounding)
channels = [int(n) for n in np.random.default_rng(5).integers(ONE, 2 * ONE, 8)]
shifts = [38, 39, 40, 41, 42, 43, 40, 37]
_rescale("rescale_channels", sums, "i8", 0, channels, shifts, -7)
_rescale("rescale_channels_double", sums, "i8", 0, channels, shifts, -7, "DOUBLE_ROUND")
_rescale("rescale_i8_i32", full("r1", SHAPE, "i8"), "i32", 5, [ONE], [10], 0)
_rescale("rescale_i8_i16", full("r2", SHAPE, "i8"), "i16", 5, [ONE], [24], 0)
_rescale("rescale_i16_i8", full("r3", SHAPE, "i16"), "i8", 0, [ONE], [38], 5)
_rescale("rescale_i16_i16", full("r4", SHAPE, "i16"), "i16", 0, [1717986918], [31], 0)
_rescale("rescale_i16_i32", full("r5", SHAPE, "i16"), "i32", 0, [ONE], [20], 0)
_rescale("rescale_i32_i32", sums, "i32", 0, [1617986918], [29], 0)
_rescale("rescale_i32_i16", sums, "i16", 0, [ONE], [36], 0)
_rescale("rescale_large_shift", full("r6", SHAPE, "i32"), "i32", 0, [1999999999], [62], 0)
_rescale("rescale_small_shift", drawn("r7", SHAPE, "i32", -9, 9), "i32", 0, [3], [2], 0)
_rescale("rescale_ends", full("r8", SHAPE, "i32"), "i32", 0, [ONE], [30], 0)
_rescale(
    "rescale_scale16", drawn("r9", SHAPE, "i32", -30000, 30000), "i8", 0, [16384], [22], 2, scale32=False
)
_rescale("rescale_scale16_i8", full("r10", SHAPE, "i8"), "i8", -3, [22000], [14], 2, scale32=False)
_rescale(
    "rescale_scale16_channels", sums, "i8", 0, [20000 + 999 * n for n in range(8)], [26] * 8, 2, scale32=False
)
_rescale("rescale_from_ui8", full("r11", SHAPE, "i8"), "i8", -128, [ONE], [30], 0, input_unsigned=True)
_rescale("rescale_to_ui8", full("r12", SHAPE, "i8"), "i8", 0, [ONE], [30], -128, output_unsigned=True)
_rescale("rescale_ui8_i32", full("r13", SHAPE, "i8"), "i32", 3, [ONE], [20], 0, input_unsigned=True)
_rescale("rescale_i32_ui8", sums, "i8", 0, [ONE], [43], 9, output_unsigned=True)
_rescale("rescale_i32_ui16", sums, "i16", 0, [ONE], [36], 0, output_unsigned=True)
_rescale("rescale_open", sums, "i8", 0, [1395864371], [43], 3, open_sizes=True)
_rescale("rescale_open_channels", sums, "i8", 0, channels, shifts, -7, open_sizes=True)


def _true_ui8(name: str, zero: int, result_zero: int) -> None:
    """As converters write a model of unsigned bytes: the tensor's own type has no sign bit."""
    program = Program(name)
    values = full(name, SHAPE, "ui8")
    given = program.argument(values)
    made = add_rescale(
        program, given, SHAPE, "ui8", "i8", zero, [ONE], [30], result_zero, input_unsigned=True
    )
    wanted = rescaled(values, zero, [ONE], [30], result_zero, "i8")
    back = add_rescale(
        program, made, SHAPE, "i8", "ui8", result_zero, [ONE], [30], zero, output_unsigned=True
    )
    again = rescaled(wanted, result_zero, [ONE], [30], zero, "i8", result_unsigned=True).view(np.uint8)
    program.ends([made, back], [wanted, again])


_true_ui8("rescale_true_ui8", 128, 0)
_true_ui8("rescale_true_ui8_zero", 117, -11)


def _scaled(name: str, rounding: str, shift: int, low: int, high: int) -> None:
    double = rounding == "DOUBLE_ROUND"
    by = drawn(f"{name}m", SHAPE, "i32", ONE, 2 * ONE - 1)
    op(
        name, [drawn(name, SHAPE, "i32", low, high), by, np.full(SHAPE, shift, np.int8)],
        lambda x, m, s: apply_scale(x, m, s, double).astype(np.int64).astype(np.int32), "apply_scale", f"rounding_mode = #tosa.rounding_mode<{rounding}>",
    )  # fmt: skip


for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND"):
    _scaled(f"apply_scale_{rounding}_35", rounding, 35, -(2**25), 2**25)
    _scaled(f"apply_scale_{rounding}_31", rounding, 31, -(2**25), 2**25)
    _scaled(f"apply_scale_{rounding}_50", rounding, 50, -(2**31), 2**31 - 1)
    _scaled(f"apply_scale_{rounding}_22", rounding, 22, -999, 999)


def table16(values: np.ndarray, table: np.ndarray) -> np.ndarray:
    """TOSA's table of 513 entries: interpolated, with 7 bits of fraction."""
    clipped = np.clip(values.astype(np.int64), -32768, 32767)
    index, fraction = (clipped >> 7) + 256, clipped & 0x7F
    base, following = (table.astype(np.int64)[at] for at in (index, index + 1))
    return ((base << 7) + (following - base) * fraction).astype(np.int32)


def _looked_up(
    name: str, table: np.ndarray, values: np.ndarray, constant: bool, open_sizes: bool = False
) -> None:
    program = Program(name, open_sizes)
    given = program.argument(values)
    if constant:
        held = program.constant(table, element_of(table))
    else:
        program.open_sizes, was = False, open_sizes
        held = program.argument(table)
        program.open_sizes = was
    wide = len(table) == 513
    wanted = table16(values, table) if wide else table[values.astype(np.int64) + 128]
    program.ends(
        [program.add("tosa.table", [given, held], program.type(values.shape, "i32" if wide else "i8"))],
        [wanted],
    )


for constant in (True, False):
    _looked_up(f"table_i8_{constant}", full("t8", (256,), "i8"), full("v8", SHAPE, "i8"), constant)
    _looked_up(
        f"table_i16_{constant}",
        drawn("t16", (513,), "i16", -32000, 32000),
        full("v16", SHAPE, "i16"),
        constant,
    )
    _looked_up(f"table_open_{constant}", full("t8", (256,), "i8"), full("v8", SHAPE, "i8"), constant, True)
