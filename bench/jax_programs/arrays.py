"""Functions of jax.numpy on arrays: searches, sets, updates at indices, transforms, number types, sorts, loops, windows."""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import RANDOM, add, f, i8, i32

LAYOUT = ("NHWC", "HWIO", "NHWC")

add("histogram", lambda a: jnp.histogram(a, bins=7, range=(-2, 2))[0], f(60))
add("bincount", lambda a: jnp.bincount(a, length=9), i32(9, 40))
add("digitize", lambda a, b: jnp.digitize(a, b), f(40), np.sort(f(6)))
add("interp", lambda a, b, c: jnp.interp(a, b, c), f(20), np.sort(f(8)), f(8))
add("nonzero", lambda a: jnp.nonzero(a > 0, size=20, fill_value=-1), f(30))
add("unique", lambda a: jnp.unique(a, size=9, fill_value=-1), i32(9, 30))
add("percentile", lambda a: jnp.percentile(a, 30.0, axis=1), f(5, 20))
add("quantile", lambda a: jnp.quantile(a, jnp.array([0.1, 0.7]), axis=0), f(20, 3))
add("convolve", jnp.convolve, f(20), f(5))
add("correlate", lambda a, b: jnp.correlate(a, b, "same"), f(20), f(5))
add("cross", jnp.cross, f(5, 3), f(5, 3))
add("gradient", lambda a: jnp.gradient(a), f(20))
add("diff", lambda a: jnp.diff(a, 2), f(3, 20))
add("cov", jnp.cov, f(4, 20))
add("corrcoef", jnp.corrcoef, f(4, 20))
add("lexsort", lambda a, b: jnp.lexsort((a, b)), i32(3, 20), i32(3, 20))
add("packbits", lambda a: jnp.packbits(a > 0), f(37))
add("unpackbits", jnp.unpackbits, RANDOM.integers(0, 256, 9).astype(np.uint8))
add("vander", lambda a: jnp.vander(a, 5), f(6))
add("matpow", lambda a: jnp.linalg.matrix_power(a, 5), f(4, 4) * 0.5)
add("choose", lambda i, a: jnp.choose(i, (a, a * 2, a * 3), mode="clip"), i32(3, 9), f(9))
add("select", lambda a: jnp.select([a > 1, a > 0], [a * 2, a * 3], -1.0), f(20))
add(
    "piecewise",
    lambda a: jnp.piecewise(a, [a < 0, a > 1], [lambda t: -t, lambda t: t * t, lambda t: t + 1]),
    f(20),
)
add("repeat", lambda a: jnp.repeat(a, 3, 1), f(3, 4))
add(
    "repeat_dyn",
    lambda a, r: jnp.repeat(a, r, total_repeat_length=15),
    f(6),
    np.array([1, 4, 0, 3, 5, 2], np.int32),
)
add("tile", lambda a: jnp.tile(a, (2, 3)), f(3, 4))
add("rot90", jnp.rot90, f(3, 4))
add("argminmax", lambda a: (a.argmin(1), a.argmax(0), a.argmax()), i32(5, 7, 9))
add("argmax_nan", lambda a: a.argmax(1), np.array([[1, np.nan, 3], [4, 5, np.inf]], np.float32))
add("cumsum_i8", lambda a: jnp.cumsum(a, dtype=jnp.int8), i8(40))
add("cumsum_rev", lambda a: lax.cumsum(a, axis=1, reverse=True), f(4, 9))
add("isin", jnp.isin, i32(20, 30), i32(20, 6))
add("setdiff", lambda a, b: jnp.setdiff1d(a, b, size=8, fill_value=-1), i32(20, 12), i32(20, 6))
add("union", lambda a, b: jnp.union1d(a, b, size=18, fill_value=-1), i32(20, 12), i32(20, 6))
add("putalong", lambda a, i, v: jnp.put_along_axis(a, i, v, 1, inplace=False), f(4, 9), i32(9, 4, 1), f(4, 1))
add(
    "at_ops",
    lambda a, i, v: (
        a.at[i].set(v),
        a.at[i].add(v),
        a.at[i].mul(v),
        a.at[i].min(v),
        a.at[i].max(v),
        a.at[i].divide(v),
        a.at[i].power(2),
    ),
    abs(f(9)) + 1,
    np.array([3, 5, 1], np.int32),
    abs(f(3)) + 1,
)
add("at_dup", lambda a, i, v: (a.at[i].add(v), a.at[i].mul(v), a.at[i].max(v)), f(9), i32(9, 20), f(20))
add(
    "at_oob",
    lambda a, i, v: (
        a.at[i].set(v, mode="drop"),
        a.at[i].get(mode="fill", fill_value=7),
        a.at[i].get(mode="clip"),
    ),
    f(9),
    np.array([3, 15, -2], np.int32),
    f(3),
)
add("at_slice", lambda a, v: a.at[1:7:2, ::3].set(v), f(9, 9), f(3, 3))
add("mask", lambda a: a.at[jnp.where(a > 0, size=9, fill_value=0)].set(0.0), f(12))
add("windows", lambda a: jnp.stack([a[i : i + 5] for i in range(8)]), f(12))
add("toeplitz", lambda a: a[jnp.abs(jnp.arange(6)[:, None] - jnp.arange(6))], f(6))
add("trapz", lambda a: jnp.trapezoid(a, dx=0.1), f(3, 9))
add("poly", lambda p, x: jnp.polyval(p, x), f(5), f(9))
add("ediff", lambda a: jnp.ediff1d(a, to_end=1.0, to_begin=0.0), f(9))
add("rfft", lambda a: (lambda z: (z.real, z.imag))(jnp.fft.rfft(a)), f(3, 30))
add("irfft", lambda a, b: jnp.fft.irfft(a + 1j * b), f(3, 9), f(3, 9))
add("fft2", lambda a: (lambda z: (z.real, z.imag))(jnp.fft.fft2(a)), f(2, 8, 12))
add("rfftn", lambda a: (lambda z: (z.real, z.imag))(jnp.fft.rfftn(a)), f(4, 6, 8))
add("fftshift", lambda a: jnp.fft.fftshift(a), f(7, 8))
add("fftconv", lambda a, b: jnp.fft.irfft(jnp.fft.rfft(a, 64) * jnp.fft.rfft(b, 64), 64), f(3, 32), f(3, 33))
add(
    "int4",
    lambda a, b: (a.astype(jnp.int4).astype(jnp.int8) @ b).astype(jnp.int32),
    RANDOM.integers(-8, 8, (6, 8)).astype(np.int8),
    i8(8, 5),
)
add(
    "uint4",
    lambda a: a.astype(jnp.uint4).astype(jnp.float32),
    RANDOM.integers(0, 16, (6, 9)).astype(np.uint8),
)
add(
    "f8",
    lambda a, b: lax.dot(
        a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e4m3fn), preferred_element_type=jnp.float32
    ),
    f(6, 8),
    f(8, 5),
)
add(
    "f8cast",
    lambda a: (
        a.astype(jnp.float8_e5m2).astype(jnp.float32),
        a.astype(jnp.float8_e4m3fn).astype(jnp.float32),
    ),
    f(40),
)
add(
    "bf16dot",
    lambda a, b: lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32),
    f(16, 32),
    f(32, 8),
)
add("f16softmax", lambda a: jax.nn.softmax(a.astype(jnp.float16)).astype(jnp.float32), f(6, 50))
add("i8dot", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), i8(16, 33), i8(33, 8))
add(
    "u8conv",
    lambda x, w: lax.conv_general_dilated(
        x.astype(jnp.int32), w.astype(jnp.int32), (1, 1), "SAME", dimension_numbers=LAYOUT
    ),
    RANDOM.integers(0, 256, (1, 9, 9, 3)).astype(np.uint8),
    i8(3, 3, 3, 4),
)
add(
    "i16",
    lambda a, b: (a * b, a + b, a - b, jnp.minimum(a, b)),
    RANDOM.integers(-30000, 30000, 20).astype(np.int16),
    RANDOM.integers(-300, 300, 20).astype(np.int16),
)
add(
    "u32",
    lambda a, b: (a * b, a // b, a % b, a > b, jnp.maximum(a, b), a >> 3),
    RANDOM.integers(0, 2**32, 20).astype(np.uint32),
    RANDOM.integers(1, 2**31, 20).astype(np.uint32),
)
add(
    "casts",
    lambda a: (
        a.astype(jnp.int8),
        a.astype(jnp.uint8),
        a.astype(jnp.int16),
        a.astype(bool),
        a.astype(jnp.float16).astype(jnp.float32),
    ),
    abs(f(40)) * 30,
)
add("sat", lambda a: jnp.clip(a, -128, 127).astype(jnp.int8), f(40) * 100)
add(
    "u8arith",
    lambda a, b: (a + b, a - b, a * b, a // (b | 1), jnp.maximum(a, b), a < b),
    RANDOM.integers(0, 256, 30).astype(np.uint8),
    RANDOM.integers(0, 256, 30).astype(np.uint8),
)
add(
    "complex",
    lambda a, b: (
        lambda z: (
            jnp.abs(z),
            jnp.angle(z),
            (z * z.conj()).real,
            jnp.exp(z).real,
            jnp.sqrt(z).imag,
            (z / (1 + 2j)).real,
        )
    )(a + 1j * b),
    f(20),
    f(20),
)
add("cmat", lambda a, b: (lambda z: (z.real, z.imag))((a + 1j * b) @ (b - 1j * a).T), f(4, 5), f(4, 5))
add("cexp", lambda a: (lambda z: (z.real, z.imag))(jnp.exp(1j * a) * jnp.cos(a)), f(20))
add("sort2keys", lambda a, b, c: lax.sort((a, b, c), num_keys=2), i32(4, 20), f(20), i32(99, 20))
add("sort_desc", lambda a: jnp.sort(a, descending=True), f(4, 15))
add("sort_nan", lambda a: jnp.sort(a), np.array([3, np.nan, -np.inf, 0, -0.0, 2], np.float32))
add("topk_i", lambda a: lax.top_k(a, 4), i32(9, 5, 20))
add("argsort_desc", lambda a: jnp.argsort(a, descending=True, stable=True), i32(5, 4, 15))
add("partition", lambda a: jnp.partition(a, 3), f(12))
add("map", lambda x: lax.map(lambda t: jnp.sin(t) @ t.T, x), f(3, 4, 5))
add("scan_stack", lambda x: lax.scan(lambda c, t: (c + t, c * t), x[0], x), f(6, 4))
add(
    "fori_dyn",
    lambda x, n: lax.fori_loop(0, n[0], lambda i, a: a * 1.1 + i, x),
    f(5),
    np.array([7], np.int32),
)
add("scan_rev", lambda x: lax.scan(lambda c, t: (c * 0.5 + t, c), x[0], x, reverse=True), f(6, 4))
add(
    "nested_scan",
    lambda x: lax.scan(lambda c, t: (lax.scan(lambda d, u: (d * 0.9 + u, d), c, t)[0], c), jnp.zeros(()), x),
    f(4, 5),
)
add(
    "assoc2",
    lambda a, b: lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b)),
    f(13, 2),
    f(13, 2),
)
add("switch3", lambda i, x: lax.switch(i[0], [jnp.sin, jnp.cos, lambda t: t * 2], x), i32(3, 1), f(6))
add("ragged", lambda x, n: jnp.where(jnp.arange(9) < n[:, None], x, 0).sum(1) / n, f(5, 9), i32(8, 5) + 1)
add("onehot", lambda i: jax.nn.one_hot(i, 7), i32(7, 5))
add("glu", jax.nn.glu, f(4, 10))
add(
    "conv_nchw_q",
    lambda x, w: jnp.clip(
        jnp.round(
            lax.conv_general_dilated(
                x.astype(jnp.float32) * 0.02, w.astype(jnp.float32) * 0.01, (2, 2), [(1, 1), (1, 1)]
            )
            / 0.05
        ),
        -128,
        127,
    ).astype(jnp.int8),
    i8(1, 16, 17, 17),
    i8(24, 16, 3, 3),
)
add(
    "locally",
    lambda x, w: lax.conv_general_dilated_local(x, w, (1, 1), "VALID", (3, 3), dimension_numbers=LAYOUT),
    f(1, 6, 6, 2),
    f(4, 4, 18, 3),
)
add(
    "batch_group",
    lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=LAYOUT, batch_group_count=2
    ),
    f(4, 7, 7, 3),
    f(3, 3, 3, 8),
)
add(
    "patches",
    lambda x: lax.conv_general_dilated_patches(x, (3, 3), (2, 2), "SAME", dimension_numbers=LAYOUT),
    f(1, 9, 9, 3),
)
add(
    "reducewin_var",
    lambda x: lax.reduce_window(x, 1.0, lax.mul, (1, 2, 3, 1), (1, 1, 2, 1), "SAME"),
    f(1, 7, 8, 2),
)
add(
    "reducewin_dil",
    lambda x: lax.reduce_window(
        x,
        0.0,
        lax.add,
        (1, 2, 2, 1),
        (1, 1, 1, 1),
        [(0, 0), (1, 1), (0, 1), (0, 0)],
        window_dilation=(1, 2, 2, 1),
    ),
    f(1, 7, 8, 2),
)
add(
    "reduce_multi",
    lambda x, y: lax.reduce(
        (x, y),
        (np.float32(-np.inf), np.int32(0)),
        lambda a, b: (jnp.where(a[0] >= b[0], a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])),
        (1,),
    ),
    f(5, 9),
    i32(99, 5, 9),
)
add("reduce_and", lambda x: (jnp.all(x > -1, 1), jnp.any(x > 2, 0)), f(5, 9))
add("logit", lambda x: jax.scipy.special.logit(jax.nn.sigmoid(x)), f(9))
add(
    "entr",
    lambda x: (jax.scipy.special.entr(x), jax.scipy.special.xlogy(x, x), jax.scipy.special.ndtr(x)),
    abs(f(9)),
)
add("ndtri", lambda x: jax.scipy.special.ndtri(x), (1 / (1 + np.exp(-f(9)))).astype(np.float32))
add(
    "rope_grad",
    jax.grad(
        lambda x: jnp.sum(
            (x[..., ::2] * jnp.cos(jnp.arange(4.0)) - x[..., 1::2] * jnp.sin(jnp.arange(4.0))) ** 2
        )
    ),
    f(2, 5, 8),
)
