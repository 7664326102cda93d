"""Recurrences over sequences: state spaces, transforms, dynamic programs.

For `bench.jax_programs`; needs JAX, which are no dependencies of fissile. Everything is seeded.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import add, f


def rwkv(k, v, w, u):
    def step(state, kv):
        a, b, top = state
        k, v = kv
        new = jnp.maximum(top, u + k)
        out = (jnp.exp(top - new) * a + jnp.exp(u + k - new) * v) / (
            jnp.exp(top - new) * b + jnp.exp(u + k - new)
        )
        new = jnp.maximum(top - w, k)
        a, b = (
            jnp.exp(top - w - new) * a + jnp.exp(k - new) * v,
            jnp.exp(top - w - new) * b + jnp.exp(k - new),
        )
        return (a, b, new), out

    zero = jnp.zeros(k.shape[-1])
    return lax.scan(step, (zero, zero, zero - 1e38), (k, v))[1]


add("rwkv", rwkv, f(12, 8), f(12, 8), np.abs(f(8)), f(8))


def selective_scan(x, delta, a, b, c):
    decay = jnp.exp(jax.nn.softplus(delta)[..., None] * -jnp.exp(a))
    drive = (jax.nn.softplus(delta) * x)[..., None] * b[:, None]
    merge = lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1])
    return (lax.associative_scan(merge, (decay, drive))[1] * c[:, None]).sum(-1)


add("mamba_scan", selective_scan, f(20, 8), f(20, 8), f(8, 4), f(20, 4), f(20, 4))
add(
    "mamba_scan_grad",
    jax.grad(lambda *t: selective_scan(*t).sum(), argnums=(0, 1, 2)),
    f(9, 8),
    f(9, 8),
    f(8, 4),
    f(9, 4),
    f(9, 4),
)


def diagonal_kernel(real, imaginary, c, step):
    """The convolution of a diagonal state space, by complex exponentials and FFTs."""
    pole = -jnp.exp(real) + 1j * imaginary
    kernel = (c * jnp.exp(step * pole * jnp.arange(16)[:, None])).sum(-1).real
    return kernel


add("s4_kernel", diagonal_kernel, f(4), f(4), f(4), np.float32(0.1))
add(
    "fourier_layer",
    lambda x, w, v: jnp.fft.irfft2(
        jnp.einsum("nxyc,cd->nxyd", jnp.fft.rfft2(x, axes=(1, 2))[:, :4, :4], w + 1j * v),
        s=(16, 16),
        axes=(1, 2),
    ),
    f(2, 16, 16, 3),
    f(3, 4),
    f(3, 4),
)
add(
    "long_convolution",
    lambda x, k: jnp.fft.irfft(jnp.fft.rfft(x, 64) * jnp.fft.rfft(k, 64), 64)[..., :32],
    f(3, 32),
    f(3, 32),
)


def viterbi(emission, transition):
    def forward(state, e):
        every = state[:, None] + transition
        return every.max(0) + e, jnp.argmax(every, 0)

    last, back = lax.scan(forward, emission[0], emission[1:])
    end = jnp.argmax(last)
    _, path = lax.scan(lambda s, b: (b[s], b[s]), end, back, reverse=True)
    return jnp.append(path, end)


add("viterbi", viterbi, f(9, 5), f(5, 5))
add(
    "crf",
    jax.value_and_grad(
        lambda e, t: jax.nn.logsumexp(
            lax.scan(lambda s, x: (jax.nn.logsumexp(s[:, None] + t, 0) + x, None), e[0], e[1:])[0]
        )
    ),
    f(9, 5),
    f(5, 5),
)


def time_warp(far):
    """Dynamic time warping, row by row."""

    def row(above, costs):
        def cell(left, x):
            cost, up, corner = x
            value = cost + jnp.minimum(jnp.minimum(up, corner), left)
            return value, value

        corner = jnp.concatenate([above[:1] * 0 + 1e9, above[:-1]])
        return (new := lax.scan(cell, jnp.float32(1e9), (costs, above, corner))[1]), new

    return lax.scan(row, jnp.cumsum(far[0]), far[1:])[0][-1]


add("time_warp", time_warp, np.abs(f(8, 9)))
add(
    "sinkhorn",
    lambda c: jnp.exp(
        lax.fori_loop(
            0,
            8,
            lambda _, l: (
                (l := l - jax.nn.logsumexp(l, 1, keepdims=True)) - jax.nn.logsumexp(l, 0, keepdims=True)
            ),
            -c / 0.1,
        )
    ),
    np.abs(f(7, 7)),
)
