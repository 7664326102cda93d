"""Ops that move elements, and resizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .entries import ELEMENTS, Program, drawn, element_of


def _of(
    name: str, spelled: str, values: Sequence[np.ndarray], wanted: np.ndarray, attributes: str = "", *shapes: Sequence[int], open_sizes: bool = False
) -> None:  # fmt: skip
    program = Program(name, open_sizes)
    given = [*(program.argument(one) for one in values), *(program.shape(*one) for one in shapes)]
    program.ends(
        [program.add(f"tosa.{spelled}", given, program.type(wanted.shape, element_of(wanted)), attributes)],
        [wanted],
    )


for element in ("f32", "f16", "bf16", "i1", "i8", "i16", "i32"):
    x, y = (drawn(f"moved{element}{n}", (2, 3, 5), element) for n in (1, 2))
    _of(f"concat_{element}", "concat", [x, y], np.concatenate([x, y], 1), "axis = 1 : i32")
    _of(f"reverse_{element}", "reverse", [x], x[:, :, ::-1], "axis = 2 : i32")
    _of(f"transpose_{element}", "transpose", [x], x.transpose(2, 0, 1), "perms = array<i32: 2, 0, 1>")
    _of(f"reshape_{element}", "reshape", [x], x.reshape(5, 6), "", (5, 6))
    _of(f"slice_{element}", "slice", [x], x[:, 1:3, 2:4], "", (0, 1, 2), (2, 2, 2))
    _of(f"tile_{element}", "tile", [x], np.tile(x, (1, 3, 2)), "", (1, 3, 2))
    program = Program(f"pad_{element}")
    border = 5 if element not in ("i1",) else True
    given = [program.argument(x), program.shape(0, 1, 2, 0, 1, 3), program.constant([border], element)]
    wanted = np.pad(x, ((0, 1), (2, 0), (1, 3)), constant_values=ELEMENTS[element](border))
    program.ends([program.add("tosa.pad", given, program.type(wanted.shape, element))], [wanted])
    positions = drawn(f"at{element}", (2, 4), "i32", 0, 2)
    _of(f"gather_{element}", "gather", [x, positions], np.take_along_axis(x, positions[:, :, None], 1))
    chosen = np.array([[2, 0], [1, 2]], np.int32)
    put, source = x.copy(), y[:, :2]
    for batch, row in np.ndindex(chosen.shape):
        put[batch, chosen[batch, row]] = source[batch, row]
    _of(f"scatter_{element}", "scatter", [x, chosen, source], put)
x = drawn("open", (2, 3, 5), "f32")
_of("concat_open", "concat", [x, x], np.concatenate([x, x], 1), "axis = 1 : i32", open_sizes=True)
_of("concat_open_rows", "concat", [x, x], np.concatenate([x, x], 0), "axis = 0 : i32", open_sizes=True)
_of("reverse_open", "reverse", [x], x[::-1], "axis = 0 : i32", open_sizes=True)
_of("transpose_open", "transpose", [x], x.transpose(0, 2, 1), "perms = array<i32: 0, 2, 1>", open_sizes=True)
_of("reshape_open", "reshape", [x], x.reshape(2, 15), "", (-1, 15), open_sizes=True)
_of("tile_open", "tile", [x], np.tile(x, (1, 3, 2)), "", (1, 3, 2), open_sizes=True)
_of("slice_open", "slice", [x], x[:, 1:3, 2:4], "", (0, 1, 2), (-1, 2, 2), open_sizes=True)
positions = drawn("at", (2, 4), "i32", 0, 2)
_of("gather_open", "gather", [x, positions], np.take_along_axis(x, positions[:, :, None], 1), open_sizes=True)


def _extent(size: int, scale: Sequence[int], offset: int, border: int) -> int:
    up, down = scale
    return ((size - 1) * up - offset + border) // down + 1


def resized(
    values: np.ndarray, scale: Sequence[int], offset: Sequence[int], border: Sequence[int], bilinear: bool
) -> np.ndarray:
    """What `tosa.resize` computes of an image (N, H, W, C); integers of a bilinear one are not scaled back."""
    count, height, width, channels = values.shape
    rows, columns = (
        _extent(size, scale[2 * n : 2 * n + 2], offset[n], border[n]) for n, size in ((0, height), (1, width))
    )
    is_float = values.dtype.kind in "fV"
    wide = {"i8": np.int64, "i16": np.int64}.get(element_of(values), np.float64)
    made = np.zeros((count, rows, columns, channels), wide)
    for oy, ox in np.ndindex(rows, columns):
        y, x = oy * scale[1] + offset[0], ox * scale[3] + offset[1]
        iy, ix = y // scale[0], x // scale[2]
        dy, dx = y - iy * scale[0], x - ix * scale[2]
        y0, y1 = (min(max(n, 0), height - 1) for n in (iy, iy + 1))
        x0, x1 = (min(max(n, 0), width - 1) for n in (ix, ix + 1))
        corners = [values[:, a, b].astype(wide) for a in (y0, y1) for b in (x0, x1)]
        if not bilinear:
            up, left = (2 * dy >= scale[0]), (2 * dx >= scale[2])
            made[:, oy, ox] = corners[2 * up + left]
        elif is_float:
            fy, fx = dy / scale[0], dx / scale[2]
            made[:, oy, ox] = (
                corners[0] * (1 - fy) * (1 - fx)
                + corners[1] * (1 - fy) * fx
                + corners[2] * fy * (1 - fx)
                + corners[3] * fy * fx
            )
        else:
            ry, rx = scale[0] - dy, scale[2] - dx
            made[:, oy, ox] = (
                corners[0] * ry * rx + corners[1] * ry * dx + corners[2] * dy * rx + corners[3] * dy * dx
            )
    if is_float or not bilinear:
        return made.astype(values.dtype)
    return made.astype({"i8": np.int32, "i16": np.int64}[element_of(values)])


FORMS = {
    "double": ((4, 2, 4, 2), (0, 0), (0, 0)), "half_pixel": ((4, 2, 4, 2), (-1, -1), (1, 1)), "corners": ((14, 7, 14, 7), (0, 0), (0, 0)),
    "smaller": ((2, 4, 2, 4), (1, 1), (1, 1)), "uneven": ((6, 4, 10, 4), (-1, -2), (3, 2)), "broadcast": ((4, 1, 4, 1), (0, 0), (3, 3)),
}  # fmt: skip
for form, (scale, offset, border) in FORMS.items():
    for mode in ("NEAREST_NEIGHBOR", "BILINEAR"):
        for element in ("f32", "f16", "bf16", "i8"):
            shape = (1, 1, 1, 3) if form == "broadcast" else (2, 7, 5, 3)
            image = drawn(f"image{element}", shape, element, -100, 100)
            wanted = resized(image, scale, offset, border, mode == "BILINEAR")
            program = Program(f"resize_{form}_{mode}_{element}")
            given = [program.argument(image), *(program.shape(*one) for one in (scale, offset, border))]
            made = program.type(wanted.shape, element_of(wanted))
            program.ends(
                [program.add("tosa.resize", given, made, f"mode = #tosa.resize_mode<{mode}>")], [wanted]
            )
