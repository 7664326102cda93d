"""Functions of JAX, each with its arguments: control flow, recurrences, gradients, sorts, signal processing, integers."""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import add, dq, f, i8, i32, u8

# control flow, recurrences
add(
    "scan_rnn",
    lambda h, x, w, u: lax.scan(lambda h, x: (lambda n: (n, n))(jnp.tanh(h @ w + x @ u)), h, x)[1],
    f(4, 16),
    f(12, 4, 8),
    f(16, 16),
    f(8, 16),
)


def lstm(c, x, w):
    def step(c, x):
        h, cc = c
        z = jnp.concatenate([x, h], -1) @ w
        i, g, o, ff = jnp.split(z, 4, -1)
        cc = jax.nn.sigmoid(ff) * cc + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(cc)
        return (h, cc), h

    return lax.scan(step, (c, c), x)[1]


add("lstm", lstm, f(2, 8), f(10, 2, 6), f(14, 32))
add(
    "while_newton",
    lambda x: lax.while_loop(
        lambda s: (s[1] < 20) & (jnp.abs(s[0] * s[0] - x).max() > 1e-4),
        lambda s: ((s[0] + x / s[0]) / 2, s[1] + 1),
        (jnp.ones_like(x), 0),
    )[0],
    np.abs(f(10)) + 0.5,
)
add("cond", lambda p, x: lax.cond(p[0] > 2, lambda y: y @ y, lambda y: y + 1, x), i32(5, 1), f(8, 8))
add("switch", lambda p, x: lax.switch(p[0], [jnp.sin, jnp.cos, jnp.exp, lambda y: y * 2], x), i32(4, 1), f(9))
add("fori_dus", lambda x: lax.fori_loop(0, 8, lambda i, a: a.at[i].set(a[i] * i + a.sum() / 100), x), f(8, 3))
add("assoc_scan", lambda x: lax.associative_scan(jnp.add, x), f(33, 4))
add("cumsum_cumprod", lambda x: jnp.cumsum(x, 0) + jnp.cumprod(x * 0.5, 1), f(12, 14))
add("cummax", lambda x: lax.cummax(x, 1), f(6, 40))
# linear algebra, signal
add("gram", lambda x: x @ x.T + 8 * jnp.eye(8), f(8, 8))
add("fft", lambda x: jnp.abs(jnp.fft.rfft(x)), f(4, 64))
add("ifft2", lambda x: jnp.fft.ifft2(jnp.fft.fft2(x)).real, f(16, 32))
add(
    "conv_grad",
    lambda x, w: jax.grad(lambda w: (lax.conv_general_dilated(x, w, (2, 2), "SAME") ** 2).sum())(w),
    f(1, 4, 14, 14),
    f(6, 4, 3, 3),
)
add(
    "conv_input_grad",
    lambda x, w: jax.grad(lambda x: (lax.conv_general_dilated(x, w, (2, 2), "SAME") ** 2).sum())(x),
    f(1, 4, 14, 14),
    f(6, 4, 3, 3),
)
add(
    "maxpool_grad",
    lambda x: jax.grad(
        lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") ** 2).sum()
    )(x),
    f(1, 3, 12, 12),
)
add(
    "avgpool_same",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9,
    f(2, 15, 15, 5),
)
add("resize_bilinear", lambda x: jax.image.resize(x, (1, 20, 24, 3), "bilinear"), f(1, 10, 12, 3))
add("resize_nearest", lambda x: jax.image.resize(x, (1, 17, 9, 3), "nearest"), f(1, 8, 12, 3))
add("einsum5", lambda a, b, c: jnp.einsum("abc,cd,bde->ae", a, b, c), f(4, 5, 6), f(6, 7), f(5, 7, 3))
add("tril_solve", lambda x: jnp.tril(x) @ jnp.triu(x), f(30, 30))
add(
    "pairwise_dist",
    lambda x, y: jnp.sqrt(jnp.maximum(((x[:, None] - y[None]) ** 2).sum(-1), 0)),
    f(30, 8),
    f(25, 8),
)
add("logsumexp", lambda x: jax.nn.logsumexp(x * 10, -1), f(12, 500))
add("softmax_long", lambda x: jax.nn.softmax(x, -1), f(3, 30000))
add("argsort", lambda x: jnp.argsort(x, -1).astype(jnp.int32), f(6, 33))
add("sort_multi", lambda x, y: lax.sort((x, y), num_keys=1), i32(50, 40), f(40))
add("topk", lambda x: lax.top_k(x, 5)[0], f(8, 200))
add("median", lambda x: jnp.median(x, 0), f(21, 5))
add("unique_counts", lambda x: jnp.bincount(x, length=12), i32(12, 60))
add("searchsorted", lambda a, v: jnp.searchsorted(jnp.sort(a), v).astype(jnp.int32), f(40), f(10))
add(
    "roll_flip_pad",
    lambda x: jnp.pad(jnp.flip(jnp.roll(x, 3, 1), 0), ((1, 2), (0, 3)), mode="reflect"),
    f(8, 10),
)
add(
    "bits",
    lambda x: (jnp.left_shift(x, 3) ^ jnp.right_shift(x, 2)) & 0xFF | lax.population_count(x),
    i32(1 << 30, 40),
)
add(
    "u8_arith",
    lambda a, b: (a // jnp.maximum(b, 1) + a % jnp.maximum(b, 3)).astype(jnp.int32),
    u8(50),
    u8(50),
)
add("i16_mix", lambda a: (a.astype(jnp.int16) * jnp.int16(300)).astype(jnp.int32) + jnp.abs(a), i8(70))
add(
    "f16_chain",
    lambda a, b: (jnp.tanh(a.astype(jnp.float16) @ b.astype(jnp.float16))).astype(jnp.float32),
    f(24, 40),
    f(40, 8),
)
add(
    "bf16_layer",
    lambda a, b: jax.nn.relu(a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16)).astype(jnp.float32),
    f(24, 40),
    f(40, 8),
)
add("bool_logic", lambda a, b: jnp.where((a > 0) & ~(b > 0) | ((a > 0) ^ (b < 0)), a, b), f(64), f(64))
add("bool_out", lambda a, b: ((a > b).any(0), (a > b).all(1)), f(9, 11), f(9, 11))
add(
    "special",
    lambda x: (
        jax.scipy.special.erf(x)
        + jnp.log1p(jnp.abs(x))
        + jnp.expm1(x * 0.1)
        + lax.lgamma(jnp.abs(x) + 1) * 0.1
    ),
    f(60),
)
add("complex_mul", lambda a, b, c, d: ((a + 1j * b) * (c + 1j * d)).real, f(20), f(20), f(20), f(20))
add("rng", lambda x: x + jax.random.uniform(jax.random.PRNGKey(3), (20,)), f(20))
add("vmap_mlp", lambda w, x: jax.vmap(lambda w, x: jnp.tanh(x @ w))(w, x), f(5, 8, 9), f(5, 3, 8))
add("hessian", lambda x: jax.hessian(lambda x: (jnp.sin(x) * x[::-1]).sum())(x), f(7))
add(
    "batchnorm_train",
    lambda x, g, b: (
        (x - x.mean((0, 2, 3), keepdims=True))
        * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
        * g[:, None, None]
        + b[:, None, None]
    ),
    f(4, 6, 9, 9),
    f(6),
    f(6),
)
add(
    "nms_like",
    lambda b: (lambda i: (i > 0.3).sum(-1))(
        jnp.clip(
            jnp.minimum(b[:, None, 2:], b[None, :, 2:]) - jnp.maximum(b[:, None, :2], b[None, :, :2]), 0
        ).prod(-1)
    ),
    f(20, 4),
)
add("im2col", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "VALID"), f(1, 4, 10, 10))
add(
    "pixel_shuffle",
    lambda x: x.reshape(1, 3, 2, 2, 6, 6).transpose(0, 1, 4, 2, 5, 3).reshape(1, 3, 12, 12),
    f(1, 12, 6, 6),
)
add("depth_to_dq", lambda x: dq(x, 0.1, 2).reshape(2, 4, 4, 6, 6).mean((1, 2)), i8(2, 16, 6, 6))
add(
    "wkv",
    lambda k, v, w: lax.scan(
        lambda s, kv: (s * w + kv[0][:, None] * kv[1][None], (s * kv[0][:, None]).sum(0)),
        jnp.zeros((8, 8)),
        (k, v),
    )[1],
    f(10, 8),
    f(10, 8),
    np.float32([0.9]),
)
add(
    "ssm",
    lambda a, x: lax.associative_scan(
        lambda l, r_: (l[0] * r_[0], l[1] * r_[0] + r_[1]), (jax.nn.sigmoid(a), x)
    )[1],
    f(16, 6),
    f(16, 6),
)
