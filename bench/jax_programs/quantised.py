"""Products, attention and convolutions of 8, 4 and fewer bits, quantised as they come or before.

For `bench.jax_programs`; needs JAX, which are no dependencies of fissile. Everything is seeded.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import RANDOM, add, f, i8


def row_quantise(x):
    scale = jnp.abs(x).max(-1, keepdims=True) / 127
    return jnp.round(x / scale).astype(jnp.int8), scale


def dynamic_dense(x, w, s):
    """Rows quantised as they come, 8-bit product, scales of both."""
    xq, xs = row_quantise(x)
    return lax.dot_general(xq, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32) * xs * s


add("quant_dynamic_dense", dynamic_dense, f(9, 64), i8(64, 48), np.abs(f(48)) * 0.01)
add(
    "quant_dynamic_swiglu",
    lambda x, g, u, d: dynamic_dense(
        jax.nn.silu(dynamic_dense(x, g, 0.01)) * dynamic_dense(x, u, 0.01), d, 0.01
    ),
    f(9, 32),
    i8(32, 64),
    i8(32, 64),
    i8(64, 32),
)


def nibbles(x, packed, scale):
    """Weights of 4 bits, two to a byte, a scale for 16 of them."""
    low, high = (packed & 15).astype(jnp.int8) - 8, (packed >> 4).astype(jnp.int8) - 8
    w = jnp.stack([low, high], 1).reshape(-1, packed.shape[-1]).astype(jnp.float32)
    w = (w.reshape(-1, 16, w.shape[-1]) * scale[:, None]).reshape(w.shape)
    return x @ w


add(
    "quant_nibbles",
    nibbles,
    f(5, 64),
    RANDOM.integers(0, 256, (32, 40)).astype(np.uint8),
    np.abs(f(4, 40)) * 0.1,
)
add(
    "quant_float8_bf16",
    lambda x, w: (
        x.astype(jnp.float8_e4m3fn).astype(jnp.bfloat16) @ w.astype(jnp.float8_e4m3fn).astype(jnp.bfloat16)
    ).astype(jnp.float32),
    f(8, 32),
    f(32, 24),
)


def quantised_attention(q, k, v):
    qi, qs = row_quantise(q)
    ki, ks = row_quantise(k)
    s = jnp.einsum("hqd,hkd->hqk", qi, ki, preferred_element_type=jnp.int32) * qs * ks.swapaxes(1, 2)
    p = jnp.round(jax.nn.softmax(s / np.sqrt(q.shape[-1])) * 255).astype(jnp.uint8)
    vi, vs = row_quantise(v.swapaxes(1, 2))
    return jnp.einsum("hqk,hdk->hqd", p.astype(jnp.int32), vi.astype(jnp.int32)) * vs.swapaxes(1, 2) / 255


add("quant_attention", quantised_attention, f(2, 16, 8), f(2, 20, 8), f(2, 20, 8))


def quantised_cache(q, k, ks, v, vs):
    """Attention over a cache of keys and values of 8 bits."""
    s = jnp.einsum("hd,htd->ht", q, k.astype(jnp.float32) * ks[..., None])
    return jnp.einsum("ht,htd->hd", jax.nn.softmax(s), v.astype(jnp.float32) * vs[..., None])


add(
    "quant_cache",
    quantised_cache,
    f(4, 16),
    i8(4, 30, 16),
    np.abs(f(4, 30)) * 0.01,
    i8(4, 30, 16),
    np.abs(f(4, 30)) * 0.01,
)


def quantised_residual(x, a, b, s):
    """Convolutions of 8 bits with a residual sum, requantised after each."""
    conv = lambda x, w: lax.conv_general_dilated(
        x.astype(jnp.float32) * 0.05,
        w.astype(jnp.float32) * s,
        (1, 1),
        "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    again = lambda y: jnp.clip(jnp.round(y / 0.05), -128, 127).astype(jnp.int8)
    y = again(jax.nn.relu(conv(x, a)))
    return again(conv(y, b) + x.astype(jnp.float32) * 0.05)


add(
    "quant_residual",
    quantised_residual,
    i8(1, 14, 14, 32),
    i8(3, 3, 32, 32),
    i8(3, 3, 32, 32),
    np.abs(f(32)) * 0.01,
)
