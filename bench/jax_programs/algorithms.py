"""What models are made of: graphs, points, volumes along rays, hash grids, windows of attention.

For `bench.jax_programs`; needs JAX, which are no dependencies of fissile. Everything is seeded.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import RANDOM, add, f, i32


def messages(x, source, target, w, a):
    """Graph attention: a softmax over each node's incoming edges."""
    h = x @ w
    e = jax.nn.leaky_relu((h[source] + h[target]) @ a, 0.2)
    top = jax.ops.segment_max(e, target, 12)
    e = jnp.exp(e - top[target])
    weight = e / jax.ops.segment_sum(e, target, 12)[target]
    return jax.ops.segment_sum(weight[:, None] * h[source], target, 12)


add("graph_attention", messages, f(12, 8), i32(12, 40), i32(12, 40), f(8, 6), f(6))


def nearest(points, features):
    far = ((points[:, None] - points[None]) ** 2).sum(-1)
    _, chosen = lax.top_k(-far, 5)
    return (features[chosen] - features[:, None]).max(1)


add("point_neighbours", nearest, f(30, 3), f(30, 8))


def farthest(points):
    def step(state, _):
        far, last = state
        far = jnp.minimum(far, ((points - points[last]) ** 2).sum(-1))
        return (far, jnp.argmax(far).astype(jnp.int32)), last

    return lax.scan(step, (jnp.full(len(points), 1e9), jnp.int32(0)), None, 8)[1]


add("point_farthest", farthest, f(25, 3))


def render(density, colour, depth):
    """A volume along rays, as NeRF integrates it."""
    step = jnp.concatenate([jnp.diff(depth), jnp.full((*depth.shape[:-1], 1), 1e3)], -1)
    alpha = 1 - jnp.exp(-jax.nn.relu(density) * step)
    through = jnp.cumprod(jnp.concatenate([jnp.ones_like(alpha[:, :1]), 1 - alpha[:, :-1] + 1e-10], -1), -1)
    weight = alpha * through
    return (weight[..., None] * colour).sum(1), (weight * depth).sum(-1), weight


add("nerf_render", render, f(6, 16), f(6, 16, 3), np.sort(f(6, 16), -1))


def resample(weight, depth, u):
    """Inverse transform sampling of a histogram."""
    total = jnp.cumsum(weight / weight.sum(-1, keepdims=True), -1)
    total = jnp.concatenate([jnp.zeros_like(total[:, :1]), total], -1)
    above = jax.vmap(lambda c, x: jnp.searchsorted(c, x, side="right"))(total, u)
    low, high = jnp.maximum(above - 1, 0), jnp.minimum(above, total.shape[-1] - 1)
    pick = lambda t, i: jnp.take_along_axis(t, i, -1)
    part = (u - pick(total, low)) / jnp.maximum(pick(total, high) - pick(total, low), 1e-5)
    return pick(depth, low) + part * (pick(depth, high) - pick(depth, low))


add(
    "nerf_resample",
    resample,
    np.abs(f(5, 12)) + 0.1,
    np.sort(f(5, 13), -1),
    RANDOM.random((5, 20)).astype(np.float32),
)


def hash_grid(table, points):
    """Multiresolution hash encoding: unsigned products that wrap."""
    out = []
    for level in range(3):
        scaled = points * (4 << level)
        low = jnp.floor(scaled).astype(jnp.uint32)
        part = scaled - low
        value = 0.0
        for corner in range(8):
            bits = np.array([corner & 1, corner >> 1 & 1, corner >> 2 & 1], np.uint32)
            place = (low + bits) * np.array([1, 2654435761, 805459861], np.uint32)
            slot = (place[:, 0] ^ place[:, 1] ^ place[:, 2]) % np.uint32(64)
            value += jnp.prod(jnp.where(bits == 1, part, 1 - part), -1)[:, None] * table[level, slot]
        out.append(value)
    return jnp.concatenate(out, -1)


add("nerf_hash_grid", hash_grid, f(3, 64, 2), RANDOM.random((10, 3)).astype(np.float32))


def window_attention(x, bias):
    """Shifted windows with a mask and relative biases, as in Swin."""
    n, h, w, c = x.shape
    x = jnp.roll(x, (-2, -2), (1, 2))
    part = lambda t: (
        t.reshape(n, h // 4, 4, w // 4, 4, -1).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 16, t.shape[-1])
    )
    region = np.zeros((1, h, w, 1), np.float32)
    for i, (a, b) in enumerate([(a, b) for a in ((0, 4), (4, 6), (6, 8)) for b in ((0, 4), (4, 6), (6, 8))]):
        region[:, a[0] : a[1], b[0] : b[1]] = i
    m = np.asarray(region).reshape(1, h // 4, 4, w // 4, 4).transpose(0, 1, 3, 2, 4).reshape(-1, 16)
    mask = np.where(m[:, None] != m[:, :, None], -100.0, 0.0).astype(np.float32)
    coords = np.stack(np.meshgrid(np.arange(4), np.arange(4), indexing="ij")).reshape(2, -1)
    index = coords[:, :, None] - coords[:, None]
    index = (index[0] + 3) * 7 + index[1] + 3
    t = part(x)
    s = t @ t.transpose(0, 2, 1) / np.sqrt(c) + bias[index] + mask
    y = (
        (jax.nn.softmax(s) @ t)
        .reshape(n, h // 4, w // 4, 4, 4, c)
        .transpose(0, 1, 3, 2, 4, 5)
        .reshape(n, h, w, c)
    )
    return jnp.roll(y, (2, 2), (1, 2))


add("swin_window", window_attention, f(1, 8, 8, 16), f(49))
add(
    "attention_grouped",
    lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
    f(2, 12, 4, 8),
    f(2, 12, 2, 8),
    f(2, 12, 2, 8),
)
add(
    "attention_local",
    lambda q, k, v: jax.nn.dot_product_attention(q, k, v, local_window_size=(3, 0)),
    f(1, 12, 2, 8),
    f(1, 12, 2, 8),
    f(1, 12, 2, 8),
)
add(
    "attention_lengths",
    lambda q, k, v, n: jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=n),
    f(2, 6, 2, 8),
    f(2, 12, 2, 8),
    f(2, 12, 2, 8),
    np.array([5, 9], np.int32),
)
