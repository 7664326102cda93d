"""JAX functions whose first size is a symbol: `jax.export` lowers them for any number of rows."""

# ruff: noqa: E501, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from .layers import f

FUNCTIONS: dict[str, tuple] = {}
"""Name -> function, arguments of one call, and the sizes of each argument for `jax.export.symbolic_shape`."""


def add(name: str, function, *sizes: str, rows: int = 5) -> None:
    shapes = [[rows if one.strip() == "b" else int(one) for one in text.split(",")] for text in sizes]
    FUNCTIONS[f"any_{name}"] = (function, [f(*shape) for shape in shapes], sizes)


W1, W2, TABLE = f(8, 16), f(16, 4), f(10, 4)


def attended(q, s):
    return jax.nn.softmax(s) @ q


def causal(x):
    place = jnp.arange(x.shape[0])
    return attended(x, jnp.where(place[:, None] >= place[None, :], x @ x.T, -1e9))


def heads(x):
    q = x.reshape(x.shape[0], 2, 4)
    return jnp.einsum("hij,jhd->ihd", jax.nn.softmax(jnp.einsum("ihd,jhd->hij", q, q)), q).reshape(x.shape[0], 8)  # fmt: skip


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def small_cnn(x):
    y = lax.conv_general_dilated(
        x, jnp.ones((3, 3, 3, 4)) * 0.1, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.nn.softmax(jax.nn.relu(y).mean(axis=(1, 2)) @ jnp.ones((4, 5)) + jnp.arange(5.0))


def converging(x):
    return lax.while_loop(
        lambda s: jnp.max(jnp.abs(s[1])) > 1e-3,
        lambda s: (jnp.tanh(s[0]), jnp.tanh(s[0]) - s[0]),
        (x, x + 1.0),
    )[0]


add("softmax", jax.nn.softmax, "b, 8")
add("log_sum", lambda x: jax.nn.logsumexp(x, axis=1), "b, 4")
add("layer_norm", normalised, "b, 16")
add("layer_norm_3", jax.vmap(normalised), "b, 3, 8")
add("attention", lambda x: attended(x, x @ x.T), "b, 16")
add("causal", causal, "b, 8")
add("heads", heads, "b, 8")
add(
    "batched_attention",
    lambda x: jnp.einsum("bij,bjd->bid", jax.nn.softmax(jnp.einsum("bid,bjd->bij", x, x)), x),
    "b, 3, 8",
)
add("mlp", lambda x: jax.nn.log_softmax(jax.nn.gelu(x @ W1) @ W2), "b, 8")
add(
    "mlp_gradient", lambda x: jax.grad(lambda w: jnp.mean(jax.nn.log_softmax(x @ w)[:, 0]))(W1[:, :4]), "b, 8"
)
add("cnn", small_cnn, "b, 8, 8, 3")
add(
    "max_pool",
    lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "b, 8, 8, 3",
)
add("flatten", lambda x: x.reshape(x.shape[0], -1) @ jnp.ones((24, 3)), "b, 4, 6")
add("distances", lambda x: jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-6), "b, 4")
add("outer", lambda x: x[:, None, :] * x[None, :, :], "b, 4")
add("arange", lambda x: x + jnp.arange(x.shape[0], dtype=jnp.float32)[:, None], "b, 4")
add("one_hot", lambda x: jax.nn.one_hot(jnp.abs(x[:, 0] * 3).astype(jnp.int32), 6), "b, 4")
add("embed", lambda x: jnp.asarray(TABLE)[jnp.clip(jnp.abs(x[:, 0] * 3).astype(jnp.int32), 0, 9)], "b, 4")
add("without_last", lambda x: x[:-1] * 2, "b, 4")
add("every_second", lambda x: x[::2], "b, 4")
add("last", lambda x: x[-1], "b, 4")
add("reversed", lambda x: x[::-1], "b, 4")
add("rolled", lambda x: jnp.roll(x, 1, axis=0), "b, 4")
add("shifted_rows", lambda x: x.at[1:].set(x[:-1]), "b, 6")
add("shifted_columns", lambda x: x.at[:, 1:].set(x[:, :-1]), "b, 6")
add("updated", lambda x: lax.dynamic_update_slice(x, jnp.ones((1, 4)), (jnp.int32(2), 0)), "b, 4")
add("stacked", lambda x: jnp.stack([x, x + 1], axis=1), "b, 4")
add("tiled", lambda x: (jnp.tile(x, (1, 2)), jnp.repeat(x, 2, axis=1)), "b, 4")
add("concatenated", lambda x: jnp.concatenate([x, x * 2], axis=0), "b, 4")
add("padded", lambda x: jnp.pad(x, ((1, 1), (0, 2))), "b, 4")
add(
    "segments",
    lambda x: jax.ops.segment_sum(x, jnp.zeros((x.shape[0],), jnp.int32) + 1, num_segments=3),
    "b, 4",
)
add("top_2", lambda x: lax.top_k(x, 2), "b, 4")
add("sorted", lambda x: jnp.sort(x, axis=0), "b, 4")
add("taken", lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1), "b, 4")
add("arg_max", lambda x: (jnp.argmax(x, axis=1), jnp.argmax(x, axis=0)), "b, 4")
add("variance", lambda x: (x.mean(axis=0), x.var(axis=0)), "b, 4")
add("lower", lambda x: jnp.tril(x @ x.T), "b, 4")
add("sums_so_far", lambda x: jnp.cumsum(x, axis=0), "b, 4")
add("products_so_far", lambda x: jnp.cumprod(x, axis=1), "b, 4")
add("scan", lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c * 0.5 + r), jnp.zeros((4,)), x)[1], "b, 4")
add("rows", lambda x: lax.map(lambda r: jnp.dot(r, r), x), "b, 4")
add("loop", lambda x: lax.fori_loop(0, 5, lambda i, a: a * 1.1 + i, x), "b, 4")
add(
    "nested_loop",
    lambda x: lax.fori_loop(0, 3, lambda i, a: lax.fori_loop(0, 2, lambda j, c: c * 0.5 + a, a), x),
    "b, 4",
)
add("exchanged", lambda x, y: lax.fori_loop(0, 3, lambda i, s: (s[1], s[0] + s[1]), (x, y)), "b, 4", "b, 4")
add("converging", converging, "b, 4")
add("branch", lambda x: lax.cond(jnp.sum(x) > 0, lambda a: a * 2, lambda a: -a, x), "b, 4")
add("barrier", lambda x: lax.optimization_barrier(x * 2) + 1, "b, 4")
add("checkpointed", jax.grad(lambda x: jax.checkpoint(lambda a: jnp.sin(a) * a)(x).sum()), "b, 4")
add("random", lambda x: x + jax.random.normal(jax.random.PRNGKey(0), (4,)), "b, 4")
