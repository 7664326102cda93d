"""Functions of JAX, each with its arguments: quantised layers, attention, transformers, gathers and scatters.

For `bench.jax_programs`; needs JAX, which is no dependency of fissile. Everything is seeded.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RANDOM = np.random.default_rng(7)
FUNCTIONS: dict[str, tuple] = {}
"""Name -> (function, its arguments as NumPy arrays)."""


def f(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def i8(*shape):
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def u8(*shape):
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def i32(end, *shape):
    return RANDOM.integers(0, end, shape).astype(np.int32)


def add(name, function, *arguments):
    assert name not in FUNCTIONS, name
    FUNCTIONS[name] = function, arguments


def dq(x, scale, zero):
    return (x.astype(jnp.float32) - zero) * scale


def q(x, scale):
    return jnp.clip(jnp.round(x / scale), -128, 127).astype(jnp.int8)


add("qmatmul", lambda a, b: q(dq(a, 0.02, 3) @ dq(b, 0.01, 0), 0.05), i8(48, 96), i8(96, 40))
add(
    "qconv_nhwc",
    lambda x, w: q(
        lax.conv_general_dilated(
            dq(x, 0.02, 3), dq(w, 0.01, 0), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        0.05,
    ),
    i8(1, 28, 28, 32),
    i8(3, 3, 32, 48),
)
add(
    "qconv_nchw_s2",
    lambda x, w: lax.conv_general_dilated(dq(x, 0.02, 3), dq(w, 0.01, 0), (2, 2), "VALID"),
    i8(1, 32, 30, 30),
    i8(16, 32, 3, 3),
)
add(
    "qconv_grouped",
    lambda x, w: lax.conv_general_dilated(
        dq(x, 0.02, 3), dq(w, 0.01, 0), (1, 1), "SAME", feature_group_count=4
    ),
    i8(1, 32, 16, 16),
    i8(32, 8, 3, 3),
)
add(
    "qdepthwise",
    lambda x, w: lax.conv_general_dilated(
        dq(x, 0.02, 3),
        dq(w, 0.01, 0),
        (1, 1),
        "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=24,
    ),
    i8(1, 20, 20, 24),
    i8(5, 5, 1, 24),
)
add(
    "qconv1d",
    lambda x, w: lax.conv_general_dilated(dq(x, 0.02, 3), dq(w, 0.01, 0), (1,), "SAME"),
    i8(2, 24, 100),
    i8(12, 24, 7),
)
add(
    "qconv3d",
    lambda x, w: lax.conv_general_dilated(dq(x, 0.02, 3), dq(w, 0.01, 0), (1, 1, 1), "VALID"),
    i8(1, 8, 10, 10, 10),
    i8(8, 8, 3, 3, 3),
)
add(
    "qconv_dilated",
    lambda x, w: lax.conv_general_dilated(
        dq(x, 0.02, 3), dq(w, 0.01, 0), (1, 1), "VALID", rhs_dilation=(2, 2)
    ),
    i8(1, 32, 24, 24),
    i8(16, 32, 3, 3),
)
add(
    "qconv_transposed",
    lambda x, w: lax.conv_transpose(dq(x, 0.02, 3), dq(w, 0.01, 0), (2, 2), "SAME"),
    i8(1, 12, 12, 16),
    i8(3, 3, 16, 8),
)
add(
    "qconv_u8_perchannel",
    lambda x, w, s: lax.conv_general_dilated(
        (x.astype(jnp.float32) - 128.0) * 0.02, w.astype(jnp.float32) * s[:, None, None, None], (1, 1), "SAME"
    ),
    u8(1, 24, 20, 20),
    i8(24, 24, 3, 3),
    np.abs(f(24)),
)
add(
    "qconv_relu_pool",
    lambda x, w: lax.reduce_window(
        jax.nn.relu(lax.conv_general_dilated(dq(x, 0.02, 3), dq(w, 0.01, 0), (1, 1), "SAME")),
        -jnp.inf,
        lax.max,
        (1, 1, 2, 2),
        (1, 1, 2, 2),
        "VALID",
    ),
    i8(1, 32, 28, 28),
    i8(16, 32, 3, 3),
)
add(
    "qresidual",
    lambda x, w: q(
        jax.nn.relu(
            dq(x, 0.02, 3) + lax.conv_general_dilated(dq(x, 0.02, 3), dq(w, 0.01, 0), (1, 1), "SAME")
        ),
        0.05,
    ),
    i8(1, 16, 32, 32),
    i8(16, 16, 3, 3),
)
add(
    "i4ish_weights",
    lambda x, w: x @ ((w.astype(jnp.int32) & 15) - 8).astype(jnp.float32),
    f(32, 128),
    u8(128, 64),
)
add("w8a32_gemv", lambda x, w, s: x @ (w.astype(jnp.float32) * s), f(1, 512), i8(512, 384), f(384))
add(
    "bmm_dq",
    lambda a, b: jnp.einsum("bij,bjk->bik", dq(a, 0.02, 1), dq(b, 0.01, 2)),
    i8(6, 40, 64),
    i8(6, 64, 48),
)
add(
    "int8_accum",
    lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
    i8(64, 128),
    i8(128, 32),
)
add(
    "fp8_matmul",
    lambda a, b: (
        (a.astype(jnp.float8_e4m3fn).astype(jnp.float32)) @ (b.astype(jnp.float8_e4m3fn).astype(jnp.float32))
    ),
    f(32, 64),
    f(64, 16),
)


# attention, transformers
def att(q_, k, v, mask=None):
    s = jnp.einsum("bhqd,bhkd->bhqk", q_, k) / np.sqrt(q_.shape[-1])
    if mask is not None:
        s = jnp.where(mask, s, -1e9)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(s, -1), v)


add("attention", att, f(1, 4, 32, 16), f(1, 4, 32, 16), f(1, 4, 32, 16))
add(
    "attention_causal",
    lambda a, b, c: att(a, b, c, jnp.tril(jnp.ones((24, 24), bool))),
    f(1, 2, 24, 32),
    f(1, 2, 24, 32),
    f(1, 2, 24, 32),
)
add(
    "attention_dq_kv",
    lambda a, b, c: att(a, dq(b, 0.02, 0), dq(c, 0.02, 0)),
    f(1, 4, 16, 32),
    i8(1, 4, 128, 32),
    i8(1, 4, 128, 32),
)
add(
    "attention_bf16",
    lambda a, b, c: att(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), c.astype(jnp.bfloat16)).astype(
        jnp.float32
    ),
    f(1, 2, 16, 16),
    f(1, 2, 16, 16),
    f(1, 2, 16, 16),
)
add(
    "gqa",
    lambda a, b, c: att(a, jnp.repeat(b, 4, 1), jnp.repeat(c, 4, 1)),
    f(1, 8, 16, 16),
    f(1, 2, 16, 16),
    f(1, 2, 16, 16),
)


def rope(x):
    d = x.shape[-1]
    t = jnp.arange(x.shape[-2])[:, None] * (10000.0 ** (-jnp.arange(0, d, 2) / d))
    c, s = jnp.cos(t), jnp.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)


add("rope", rope, f(1, 4, 20, 32))


def ln(x, g, b):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) / jnp.sqrt(v + 1e-5) * g + b


add(
    "layernorm_mlp",
    lambda x, g, b, w1, w2: x + jax.nn.gelu(ln(x, g, b) @ w1) @ w2,
    f(20, 64),
    f(64),
    f(64),
    f(64, 128),
    f(128, 64),
)
add(
    "rmsnorm_swiglu",
    lambda x, w1, w2, w3: (
        (jax.nn.silu(x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) @ w1) * (x @ w2)) @ w3
    ),
    f(10, 48),
    f(48, 96),
    f(48, 96),
    f(96, 48),
)
add(
    "groupnorm",
    lambda x: (
        lambda y: (
            (y - y.mean((2, 3), keepdims=True)) / jnp.sqrt(y.var((2, 3), keepdims=True) + 1e-5)
        ).reshape(x.shape)
    )(x.reshape(2, 4, 4, 196)),
    f(2, 16, 14, 14),
)
add(
    "moe_topk",
    lambda x, w, e: (
        lambda v, i: jnp.einsum("tk,tkd->td", jax.nn.softmax(v, -1), jnp.einsum("td,tkdf->tkf", x, e[i]))
    )(*lax.top_k(x @ w, 2)),
    f(12, 16),
    f(16, 8),
    f(8, 16, 16),
)
add(
    "kv_update",
    lambda c, k, p: lax.dynamic_update_slice(c, k, (0, p[0], 0)),
    f(4, 64, 16),
    f(4, 1, 16),
    i32(63, 1),
)
add("embedding_sum", lambda t, i: t[i].sum(1), f(100, 16), i32(100, 8, 6))
add(
    "embedding_grad", lambda t, i, g: jax.grad(lambda t: (t[i] * g).sum())(t), f(50, 8), i32(50, 20), f(20, 8)
)
add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 10), f(40, 4), i32(10, 40))
add("scatter_max", lambda x, i, u: x.at[i].max(u), f(16, 4), i32(16, 9), f(9, 4))
add("scatter_nd", lambda x, i, j, u: x.at[i, j].add(u), f(8, 9), i32(8, 20), i32(9, 20), f(20))
add("take_along", lambda x, i: jnp.take_along_axis(x, i, 1), f(10, 20), i32(20, 10, 5))
add(
    "one_hot_ce",
    lambda x, i: -(jax.nn.one_hot(i, 30) * jax.nn.log_softmax(x)).sum(-1).mean(),
    f(16, 30),
    i32(30, 16),
)
