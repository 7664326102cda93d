"""Products: matrices, convolutions with their zero points, and Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .elementwise import wide
from .entries import ELEMENTS, FLOATS, Program, drawn, full
from .rescaling import add_rescale, rescaled


def exact(x: np.ndarray, zero: int = 0) -> np.ndarray:
    return wide(x) if x.dtype.kind in "fV" else x.astype(np.int64) - zero


def convolved(
    x: np.ndarray, w: np.ndarray, stride: Sequence[int], pad: Sequence[int], dilation: Sequence[int]
) -> np.ndarray:
    """``x`` (N, sizes, C) over ``w`` (OC, sizes, C), both with their zero points taken off."""
    rank = x.ndim - 2
    held = np.pad(x, ((0, 0), *((pad[2 * n], pad[2 * n + 1]) for n in range(rank)), (0, 0)))
    spans = [(w.shape[1 + n] - 1) * dilation[n] + 1 for n in range(rank)]
    cut = np.lib.stride_tricks.sliding_window_view(held, spans, tuple(range(1, 1 + rank)))
    at = (
        slice(None),
        *(slice(None, None, s) for s in stride),
        slice(None),
        *(slice(None, None, d) for d in dilation),
    )
    axes = list(range(1 + rank, cut.ndim))
    return np.tensordot(cut[at], w, (axes, [w.ndim - 1, *range(1, 1 + rank)]))


def _geometry(stride: Sequence[int], pad: Sequence[int], dilation: Sequence[int]) -> str:
    parts = {"stride": stride, "pad": pad, "dilation": dilation}
    return ", ".join(f"{name} = array<i64: {', '.join(map(str, sizes))}>" for name, sizes in parts.items())


KEPT = {"i8": "i32", "i16": "i48", "f16": "f32", "bf16": "f32", "f32": "f32"}
"""Element of the image -> of the sum."""


def _convolution(
    name: str, op: str, element: str, shape: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int], dilation: Sequence[int],
    zeros: Sequence[int] = (0, 0), weights: str | None = None, constant: bool = True, open_sizes: bool = False,
) -> None:  # fmt: skip
    program = Program(name, open_sizes)
    held = weights or ("i8" if element == "i16" else element)
    image = drawn(f"{name}x", shape, element) if element in FLOATS else full(f"{name}x", shape, element)
    kernels = (
        drawn(f"{name}w", kernel, held) if held in FLOATS else drawn(f"{name}w", kernel, "i8", -127, 127)
    )
    channels = kernel[0] if op != "depthwise_conv2d" else kernel[2] * kernel[3]
    made = element if element in FLOATS else KEPT[element]
    bias = drawn(f"{name}b", (channels,), "i32" if made == "i48" else made, -99, 99)
    given = [program.argument(image)]
    given.append(program.constant(kernels, held))
    given.append(program.constant(bias, made))
    given += [program.constant([zeros[0]], element), program.constant([zeros[1]], held)]
    x, w = exact(image, zeros[0]), exact(kernels, zeros[1])
    if op == "depthwise_conv2d":
        parts = [
            convolved(x[..., c : c + 1], w[:, :, c].transpose(2, 0, 1)[..., None], stride, pad, dilation)
            for c in range(kernel[2])
        ]
        sums = np.concatenate(parts, -1)
    else:
        sums = convolved(x, w, stride, pad, dilation)
    sums = sums + exact(bias)
    type_ = program.type(sums.shape, made)
    result = program.add(
        f"tosa.{op}", given, type_, f"acc_type = {KEPT[element]}, {_geometry(stride, pad, dilation)}"
    )
    _end(program, result, sums, made)


def _end(program: Program, result: tuple[str, str], sums: np.ndarray, made: str) -> None:
    """A sum of 48 bits is no result of a function: it is rescaled, by 16 bits of scale, as converters do."""
    if made != "i48":
        program.ends([result], [sums.astype(ELEMENTS[made])])
        return
    scaled = add_rescale(program, result, sums.shape, "i48", "i16", 0, [21000], [25], 0, scale32=False)
    program.ends([scaled], [rescaled(sums.astype(np.int64), 0, [21000], [25], 0, "i16")])


CONV2D = ("conv2d", (2, 9, 8, 4), (6, 3, 3, 4))
for element in KEPT:
    zeros = (-3, 0) if element == "i8" else (0, 0)
    _convolution(f"conv2d_{element}", CONV2D[0], element, *CONV2D[1:], (1, 1), (1, 1, 1, 1), (1, 1), zeros)
    _convolution(
        f"conv2d_{element}_stride",
        CONV2D[0],
        element,
        (2, 9, 9, 4),
        CONV2D[2],
        (2, 2),
        (0, 0, 0, 0),
        (1, 1),
        zeros,
    )
    _convolution(
        f"conv2d_{element}_dilated", CONV2D[0], element, *CONV2D[1:], (1, 1), (2, 2, 2, 2), (2, 2), zeros
    )
    _convolution(
        f"conv2d_{element}_open",
        CONV2D[0],
        element,
        *CONV2D[1:],
        (1, 1),
        (1, 1, 1, 1),
        (1, 1),
        zeros,
        open_sizes=True,
    )
    _convolution(
        f"depthwise_{element}",
        "depthwise_conv2d",
        element,
        (2, 9, 8, 4),
        (3, 3, 4, 2),
        (1, 1),
        (1, 1, 1, 1),
        (1, 1),
        zeros,
    )
    _convolution(
        f"depthwise_{element}_stride",
        "depthwise_conv2d",
        element,
        (2, 9, 9, 4),
        (3, 3, 4, 1),
        (2, 2),
        (0, 0, 0, 0),
        (1, 1),
        zeros,
    )
    _convolution(
        f"conv3d_{element}",
        "conv3d",
        element,
        (1, 5, 6, 7, 3),
        (4, 3, 3, 3, 3),
        (1, 1, 1),
        (1, 1, 1, 1, 1, 1),
        (1, 1, 1),
        zeros,
    )
_convolution("conv2d_i8_zeros", CONV2D[0], "i8", *CONV2D[1:], (1, 1), (1, 1, 1, 1), (1, 1), (-128, 5))
_convolution(
    "depthwise_i8_zeros",
    "depthwise_conv2d",
    "i8",
    (2, 9, 8, 4),
    (3, 3, 4, 2),
    (1, 1),
    (1, 1, 1, 1),
    (1, 1),
    (-128, 5),
)


def _transposed(
    element: str, stride: Sequence[int], out_pad: Sequence[int], zero: int = 0, open_sizes: bool = False
) -> None:
    form = "open" if open_sizes else f"{stride[0]}{stride[1]}_{out_pad[0]}"
    program = Program(f"transpose_conv_{element}_{form}", open_sizes)
    image = drawn("tcx", (2, 5, 4, 3), element) if element in FLOATS else full("tcx", (2, 5, 4, 3), element)
    held, made = "i8" if element == "i16" else element, element if element in FLOATS else KEPT[element]
    kernels = drawn("tcw", (4, 3, 3, 3), held)
    bias = drawn("tcb", (4,), "i32" if made == "i48" else made, -99, 99)
    x, w = exact(image, zero), exact(kernels)
    sizes = [(x.shape[1 + n] - 1) * stride[n] + out_pad[2 * n] + out_pad[2 * n + 1] + 3 for n in (0, 1)]
    sums = np.zeros((2, *sizes, 4), x.dtype) + exact(bias)
    for iy, ix, ky, kx in np.ndindex(5, 4, 3, 3):
        y, at = iy * stride[0] + out_pad[0] + ky, ix * stride[1] + out_pad[2] + kx
        if 0 <= y < sizes[0] and 0 <= at < sizes[1]:
            sums[:, y, at] += x[:, iy, ix] @ w[:, ky, kx].T
    given = [program.argument(image), program.constant(kernels, held), program.constant(bias, made)]
    given += [program.constant([zero], element), program.constant([0], held)]
    attributes = f"acc_type = {KEPT[element]}, out_pad = array<i64: {', '.join(map(str, out_pad))}>, stride = array<i64: {stride[0]}, {stride[1]}>"
    _end(
        program,
        program.add("tosa.transpose_conv2d", given, program.type(sums.shape, made), attributes),
        sums,
        made,
    )


for element in KEPT:
    _transposed(element, (1, 1), (0, 0, 0, 0), 4 if element == "i8" else 0)
    _transposed(element, (2, 2), (0, 0, 0, 0), 4 if element == "i8" else 0)
    _transposed(element, (2, 3), (-1, -1, -1, -1))
    _transposed(element, (3, 2), (0, 1, -1, 2), open_sizes=True)


def _matmul(
    element: str, zeros: Sequence[int] = (0, 0), open_sizes: bool = False, kept: str | None = None
) -> None:
    made = kept or (element if element in FLOATS else KEPT[element])
    program = Program(
        f"matmul_{element}_{made}{'_zeros' if any(zeros) else ''}{'_open' if open_sizes else ''}", open_sizes
    )
    x, y = (
        drawn(f"mm{n}", shape, element) if element in FLOATS else full(f"mm{n}", shape, element)
        for n, shape in ((1, (2, 5, 9)), (2, (2, 9, 7)))
    )
    sums = exact(x, zeros[0]) @ exact(y, zeros[1])
    given = [program.argument(x), program.argument(y), *(program.constant([zero], element) for zero in zeros)]
    _end(program, program.add("tosa.matmul", given, program.type(sums.shape, made)), sums, made)


for element in KEPT:
    _matmul(element)
for element in ("f16", "bf16"):
    _matmul(element, kept="f32")
_matmul("i8", (-7, 12))
_matmul("i8", (-7, 12), open_sizes=True)
_matmul("f32", open_sizes=True)


def _fft(shape: Sequence[int], inverse: bool, open_sizes: bool = False) -> None:
    program = Program(
        f"fft2d_{'x'.join(map(str, shape))}_{'inverse' if inverse else 'forward'}{'_open' if open_sizes else ''}",
        open_sizes,
    )
    real, imaginary = (drawn(f"fft{n}", shape, "f32") for n in (1, 2))
    whole = wide(real) + 1j * wide(imaginary)
    wanted = np.fft.ifft2(whole) * np.prod(shape[1:]) if inverse else np.fft.fft2(whole)
    types = [program.type(shape, "f32")] * 2
    made = program.add_many(
        "tosa.fft2d",
        [program.argument(real), program.argument(imaginary)],
        types,
        f"inverse = {str(inverse).lower()}",
    )
    program.ends(made, [wanted.real.astype(np.float32), wanted.imag.astype(np.float32)])


def _rfft(shape: Sequence[int], open_sizes: bool = False) -> None:
    program = Program(f"rfft2d_{'x'.join(map(str, shape))}{'_open' if open_sizes else ''}", open_sizes)
    real = drawn("rfft", shape, "f32")
    wanted = np.fft.rfft2(wide(real))
    made = program.add_many("tosa.rfft2d", [program.argument(real)], [program.type(wanted.shape, "f32")] * 2)
    program.ends(made, [wanted.real.astype(np.float32), wanted.imag.astype(np.float32)])


for open_sizes in (False, True):
    _rfft((2, 4, 8), open_sizes)
    _fft((2, 4, 8), False, open_sizes)
_rfft((1, 16, 1))
_fft((1, 8, 4), True)
