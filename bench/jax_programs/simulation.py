"""Loops that simulate, sample or work on images.

For `bench.jax_programs`; needs JAX, which are no dependencies of fissile. Everything is seeded.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import RANDOM, add, f, i32
from .models import key


def heavy_ball(x, a):
    return lax.fori_loop(
        0, 20, lambda _, s: (s[0] - 0.05 * (v := 0.9 * s[1] + a @ s[0]), v), (x, jnp.zeros_like(x))
    )


_half = f(6, 6)
add("heavy_ball", heavy_ball, f(6), _half @ _half.T / 6)


def runge_kutta(x, step):
    field = lambda x: jnp.stack([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])

    def go(x, _):
        a = field(x)
        b = field(x + step / 2 * a)
        c = field(x + step / 2 * b)
        d = field(x + step * c)
        return (x := x + step / 6 * (a + 2 * b + 2 * c + d)), x

    return lax.scan(go, x, None, 15)[1]


add("lorenz", runge_kutta, f(3), np.float32(0.01))


def hamiltonian(key, x):
    energy = lambda x: (x**2).sum() / 2 + jnp.sin(3 * x).sum()
    a, b = jax.random.split(key)
    p = jax.random.normal(a, x.shape)

    def leap(_, s):
        x, p = s
        p = p - 0.05 * jax.grad(energy)(x)
        x = x + 0.1 * p
        return x, p - 0.05 * jax.grad(energy)(x)

    y, q = lax.fori_loop(0, 5, leap, (x, p))
    accept = jnp.log(jax.random.uniform(b)) < energy(x) + (p**2).sum() / 2 - energy(y) - (q**2).sum() / 2
    return jnp.where(accept, y, x)


add("hamiltonian", hamiltonian, key(), f(6))
add(
    "particles",
    lambda k, x, w: x[jax.random.categorical(k, jnp.log(w), shape=(16,))],
    key(),
    f(16, 3),
    RANDOM.random(16).astype(np.float32) + 0.01,
)


def life(cells):
    def step(_, g):
        near = sum(jnp.roll(g, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - g
        return ((near == 3) | ((near == 2) & (g == 1))).astype(g.dtype)

    return lax.fori_loop(0, 4, step, cells)


add("life", life, i32(2, 12, 12))


def hsv(x):
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    top, low = x.max(-1), x.min(-1)
    span = top - low
    hue = (
        jnp.where(top == r, (g - b) / span % 6, jnp.where(top == g, (b - r) / span + 2, (r - g) / span + 4))
        / 6
    )
    return jnp.stack([jnp.where(span == 0, 0, hue), jnp.where(top == 0, 0, span / top), top], -1)


add("image_hsv", hsv, RANDOM.random((6, 7, 3)).astype(np.float32))


def turn(x, angle):
    h, w = x.shape
    y, z = jnp.meshgrid(jnp.arange(h) - h / 2, jnp.arange(w) - w / 2, indexing="ij")
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jax.scipy.ndimage.map_coordinates(x, [c * y - s * z + h / 2, s * y + c * z + w / 2], 1)


add("image_turn", turn, f(12, 10), np.float32(0.4))
add(
    "image_blur",
    lambda x: jax.scipy.signal.convolve2d(
        x, jnp.outer(k := jnp.exp(-(jnp.arange(-2, 3.0) ** 2)), k), mode="same"
    ),
    f(16, 14),
)


def boxes(box, score):
    """Greedy suppression of overlapping boxes."""
    low, high = (
        jnp.maximum(box[:, None, :2], box[None, :, :2]),
        jnp.minimum(box[:, None, 2:], box[None, :, 2:]),
    )
    shared = jnp.prod(jnp.clip(high - low, 0), -1)
    area = jnp.prod(box[:, 2:] - box[:, :2], -1)
    ratio = shared / (area[:, None] + area[None] - shared)
    order = jnp.argsort(-score)
    ratio = ratio[order][:, order]
    keep = lax.fori_loop(
        0,
        len(box),
        lambda i, k: k & ~((ratio[i] > 0.4) & (jnp.arange(len(box)) > i) & k[i]),
        jnp.ones(len(box), bool),
    )
    return order, keep


_corner = RANDOM.random((12, 2)).astype(np.float32)
add("boxes", boxes, np.concatenate([_corner, _corner + 0.4], -1), f(12))
