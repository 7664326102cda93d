"""Gradients and training steps of JAX: layers, losses, recurrences, updates, quantisation-aware training."""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import add, f, i32


def xent(l, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(l), y[:, None], 1))


LAYOUT = ("NHWC", "HWIO", "NHWC")


def conv(x, w, s=1, p="SAME", **k):
    return lax.conv_general_dilated(x, w, (s, s), p, dimension_numbers=LAYOUT, **k)


def maxpool(x, k=2, s=2):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, k, k, 1), (1, s, s, 1), "VALID")


def avgpool(x, k=2, s=2):
    return lax.reduce_window(x, 0.0, lax.add, (1, k, k, 1), (1, s, s, 1), "VALID") / (k * k)


def cnn(w1, w2, w3, x, y):
    h = maxpool(jax.nn.relu(conv(x, w1)))
    h = maxpool(jax.nn.relu(conv(h, w2)))
    return xent(h.reshape(h.shape[0], -1) @ w3, y)


add(
    "cnn_grad",
    jax.value_and_grad(cnn, argnums=(0, 1, 2)),
    f(3, 3, 3, 8) * 0.2,
    f(3, 3, 8, 16) * 0.1,
    f(256, 10) * 0.1,
    f(4, 16, 16, 3),
    i32(10, 4),
)


def loss(fn):
    return lambda *a: jnp.sum(jnp.tanh(fn(*a)))


def gradient(name, function, *arguments):
    """The gradient with respect to all arguments of floats."""
    floats = tuple(i for i, x in enumerate(arguments) if x.dtype.kind == "f")
    add(f"grad_{name}", jax.grad(loss(function), argnums=floats), *arguments)


gradient("conv_s2", lambda x, w: conv(x, w, 2), f(2, 15, 15, 4), f(3, 3, 4, 6) * 0.2)
gradient("conv_dil", lambda x, w: conv(x, w, 1, rhs_dilation=(2, 2)), f(1, 16, 16, 4), f(3, 3, 4, 6) * 0.2)
gradient(
    "conv_group", lambda x, w: conv(x, w, 1, feature_group_count=4), f(1, 12, 12, 8), f(3, 3, 2, 8) * 0.2
)
gradient(
    "conv_depth", lambda x, w: conv(x, w, 1, feature_group_count=8), f(1, 12, 12, 8), f(3, 3, 1, 8) * 0.2
)
gradient(
    "conv_depth2", lambda x, w: conv(x, w, 2, feature_group_count=8), f(2, 13, 13, 8), f(3, 3, 1, 16) * 0.2
)
gradient(
    "conv_t",
    lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=LAYOUT),
    f(1, 8, 8, 4),
    f(3, 3, 4, 6) * 0.2,
)
gradient(
    "conv1d",
    lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
    f(2, 33, 4),
    f(5, 4, 6) * 0.2,
)
gradient(
    "conv3d",
    lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")
    ),
    f(1, 5, 6, 7, 3),
    f(3, 3, 3, 3, 4) * 0.2,
)
gradient("maxpool3", lambda x: maxpool(x, 3, 2), f(2, 13, 13, 5))
gradient(
    "maxpool_same",
    lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
    f(1, 9, 9, 4),
)
gradient("avgpool3", lambda x: avgpool(x, 3, 2), f(2, 13, 13, 5))


def ln(x, s, b):
    m = x.mean(-1, keepdims=True)
    v = x.var(-1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-05) * s + b


gradient("layernorm", ln, f(6, 33), f(33), f(33))
gradient(
    "batchnorm",
    lambda x, s, b: (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-05) * s + b,
    f(3, 7, 7, 8),
    f(8),
    f(8),
)


def att(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


gradient("attention", att, f(2, 3, 20, 8), f(2, 3, 20, 8), f(2, 3, 20, 8))


def catt(q, k, v):
    s = q @ k.swapaxes(-1, -2)
    n = s.shape[-1]
    s = jnp.where(jnp.tril(jnp.ones((n, n), bool)), s, -1000000000.0)
    return jax.nn.softmax(s) @ v


gradient("causal", catt, f(2, 2, 17, 8), f(2, 2, 17, 8), f(2, 2, 17, 8))
gradient("embed", lambda e, i: e[i].sum(1), f(50, 12), i32(50, 6, 9))
gradient("gelu", lambda x: jax.nn.gelu(x, approximate=False), f(40, 7))
gradient("silu", jax.nn.silu, f(40, 7))
gradient("softplus", jax.nn.softplus, f(40, 7))
gradient("elu", jax.nn.elu, f(40, 7))


def lstm(x, w, u):

    def step(c, t):
        h, cc = c
        z = t @ w + h @ u
        i, fg, o, gg = jnp.split(z, 4, -1)
        cc = jax.nn.sigmoid(fg) * cc + jax.nn.sigmoid(i) * jnp.tanh(gg)
        h = jax.nn.sigmoid(o) * jnp.tanh(cc)
        return ((h, cc), h)

    z = jnp.zeros((x.shape[1], u.shape[0]))
    return lax.scan(step, (z, z), x)[1]


gradient("lstm", lstm, f(7, 3, 5), f(5, 24) * 0.3, f(6, 24) * 0.3)


def gru(x, w, u):

    def step(h, t):
        a = t @ w
        b = h @ u
        r = jax.nn.sigmoid(a[:, :6] + b[:, :6])
        z = jax.nn.sigmoid(a[:, 6:12] + b[:, 6:12])
        n = jnp.tanh(a[:, 12:] + r * b[:, 12:])
        h = (1 - z) * n + z * h
        return (h, h)

    return lax.scan(step, jnp.zeros((x.shape[1], 6)), x)[1]


add("gru", gru, f(9, 2, 4), f(4, 18), f(6, 18))
gradient("gru", gru, f(9, 2, 4), f(4, 18) * 0.4, f(6, 18) * 0.4)
gradient("cumsum", lambda x: jnp.cumsum(x, 1), f(5, 19))
gradient("cumprod", lambda x: jnp.cumprod(x, 1), f(5, 9))
gradient("cummax", lambda x: lax.cummax(x, axis=1), f(5, 9))
gradient("cumlogsumexp", lambda x: lax.cumlogsumexp(x, axis=1), f(5, 9))
gradient("sort", lambda x: jnp.sort(x, 1) * jnp.arange(11.0), f(5, 11))
gradient("gather", lambda x, i: jnp.take(x, i, axis=1), f(5, 11), i32(11, 7))
gradient("max", lambda x: x.max(1), f(5, 11))
gradient("lse", lambda x: jax.nn.logsumexp(x, axis=1), f(5, 11))
gradient("median", lambda x: jnp.median(x, axis=1), f(5, 11))
gradient("norm", lambda x: jnp.linalg.norm(x, axis=1), f(5, 11))
gradient("prod", lambda x: jnp.prod(x, 1), f(5, 6))
gradient("std", lambda x: jnp.std(x, 1), f(5, 6))
gradient("topk", lambda x: lax.top_k(x, 3)[0], f(5, 12))
gradient("einsum", lambda a, b, c: jnp.einsum("bij,jk,bkl->bil", a, b, c), f(2, 3, 4), f(4, 5), f(2, 5, 6))
gradient("resize", lambda x: jax.image.resize(x, (1, 11, 13, 3), "bilinear"), f(1, 6, 7, 3))
gradient("resize_down", lambda x: jax.image.resize(x, (1, 5, 4, 3), "bilinear"), f(1, 11, 12, 3))
add("resize_cubic", lambda x: jax.image.resize(x, (1, 11, 13, 3), "bicubic"), f(1, 6, 7, 3))
add("resize_lanczos", lambda x: jax.image.resize(x, (1, 11, 13, 3), "lanczos3"), f(1, 6, 7, 3))
gradient("pad_reflect", lambda x: jnp.pad(x, ((1, 2), (3, 1)), "reflect"), f(5, 6))
gradient("pad_wrap", lambda x: jnp.pad(x, ((1, 2), (3, 1)), "wrap"), f(5, 6))
gradient("pad_edge", lambda x: jnp.pad(x, ((1, 2), (3, 1)), "edge"), f(5, 6))
add("pad_symm", lambda x: jnp.pad(x, ((1, 2), (3, 1)), "symmetric"), f(5, 6))
add("pad_mean", lambda x: jnp.pad(x, ((1, 2), (3, 1)), "mean"), f(5, 6))
add("pad_linear", lambda x: jnp.pad(x, ((1, 2), (3, 1)), "linear_ramp"), f(5, 6))
add("pad_neg", lambda x: lax.pad(x, 0.5, ((-1, 2, 1), (3, -1, 0))), f(5, 6))
gradient("dynslice", lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (3, 4)), f(8, 9), i32(5, 2))
gradient("dynupd", lambda x, u, i: lax.dynamic_update_slice(x, u, (i[0], i[1])), f(8, 9), f(3, 4), i32(5, 2))
gradient("segsum", lambda x, i: jax.ops.segment_sum(x, i, 5), f(12, 3), i32(5, 12))
gradient(
    "segmax",
    lambda x, i: jax.ops.segment_max(x, i, 5),
    f(12, 3),
    np.array([0, 1, 2, 3, 4] * 2 + [0, 1], np.int32),
)
gradient("concat", lambda a, b: jnp.concatenate([a, b * 2, a], 1), f(3, 4), f(3, 5))
gradient("where", lambda a, b: jnp.where(a > b, a, b * 2), f(3, 4), f(3, 4))
gradient("roll", lambda a: jnp.roll(a, 3, 1) * jnp.arange(7.0), f(4, 7))
gradient("flip", lambda a: a[:, ::-1] * jnp.arange(7.0), f(4, 7))
gradient("stride", lambda a: a[::2, 1::3], f(9, 10))
gradient("kron", jnp.kron, f(2, 3), f(3, 2))
gradient("tensordot", lambda a, b: jnp.tensordot(a, b, ((1, 2), (2, 0))), f(3, 4, 5), f(5, 6, 4))
gradient("remat", jax.checkpoint(lambda a, b: jnp.sin(jnp.tanh(a @ b) @ b.T)), f(4, 5), f(5, 6))
gradient(
    "cond", lambda a, i: lax.cond(i[0] > 2, lambda x: jnp.sin(x), lambda x: x * x, a), f(4, 5), i32(5, 1)
)


def fq(x, s):
    return x + lax.stop_gradient(jnp.clip(jnp.round(x / s), -128, 127) * s - x)


gradient("qat", lambda x, w: jax.nn.relu(fq(x, 0.05) @ fq(w, 0.02)), f(8, 16), f(16, 12))
add(
    "qat_conv_step",
    lambda x, w: w - 0.1 * jax.grad(lambda w: jnp.mean(conv(fq(x, 0.05), fq(w, 0.02)) ** 2))(w),
    f(2, 8, 8, 4),
    f(3, 3, 4, 8),
)
add(
    "adam",
    lambda p, m, v, gr: (
        lambda m, v: (p - 0.001 * (m / (1 - 0.9**3)) / (jnp.sqrt(v / (1 - 0.999**3)) + 1e-08), m, v)
    )(0.9 * m + 0.1 * gr, 0.999 * v + 0.001 * gr * gr),
    f(30, 7),
    f(30, 7),
    abs(f(30, 7)),
    f(30, 7),
)
add("jvp", lambda x, t: jax.jvp(lambda x: jnp.sin(x) @ x.T, (x,), (t,)), f(4, 5), f(4, 5))
add("jacrev", jax.jacrev(lambda x: jnp.tanh(x @ x.T).sum(1)), f(4, 3))
add("jacfwd", jax.jacfwd(lambda x: jnp.cumsum(x**2)), f(6))
add("vmap_conv", jax.vmap(lambda x, w: conv(x, w)), f(3, 1, 7, 7, 2), f(3, 3, 3, 2, 4))
add("vmap_grad", jax.vmap(jax.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w))), (None, 0)), f(5, 4), f(6, 2, 5))
add("vmap_dynslice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (4,))), f(5, 11), i32(9, 5))
add(
    "vmap_while",
    jax.vmap(lambda x: lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + c[1], c[1] * 1.1), (x, 1.0))[0]),
    abs(f(6)),
)
add(
    "newton",
    lambda x: lax.while_loop(
        lambda c: (c[1] < 20) & (jnp.max(jnp.abs(c[0] ** 2 - x)) > 1e-05),
        lambda c: (c[0] - 0.5 * (c[0] - x / c[0]), c[1] + 1),
        (x, 0),
    )[0],
    abs(f(7)) + 0.5,
)
