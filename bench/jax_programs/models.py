"""Whole models of Flax, and the generation of text, each with its arguments.

For `bench.jax_programs`; needs JAX and Flax, which are no dependencies of fissile. Everything is seeded. The
parameters are constants.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import RANDOM, add, f, i32

KEY = jax.random.PRNGKey(0)


def key():
    return RANDOM.integers(0, 1 << 31, 2).astype(np.uint32)


def infer(name, model, *arguments, **options):
    """The model with its parameters as constants."""
    variables = model.init(KEY, *arguments, **options)
    add(name, lambda *a: model.apply(variables, *a, **options), *arguments)


class Block(nn.Module):
    heads: int = 4
    dtype: object = jnp.float32

    @nn.compact
    def __call__(self, x, mask=None):
        width = x.shape[-1]
        x = x + nn.MultiHeadDotProductAttention(self.heads, dtype=self.dtype, use_bias=False)(
            nn.LayerNorm(dtype=self.dtype)(x), mask=mask
        )
        y = nn.gelu(nn.Dense(4 * width, dtype=self.dtype)(nn.LayerNorm(dtype=self.dtype)(x)))
        return x + nn.Dense(width, dtype=self.dtype)(y)


class ViT(nn.Module):
    dtype: object = jnp.float32

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(48, (4, 4), (4, 4), "VALID", dtype=self.dtype)(x)
        x = x.reshape(x.shape[0], -1, 48)
        place = self.param("place", nn.initializers.normal(0.02), (1, x.shape[1], 48))
        x = x + place.astype(x.dtype)
        for _ in range(2):
            x = Block(dtype=self.dtype)(x)
        return nn.Dense(10, dtype=self.dtype)(nn.LayerNorm(dtype=self.dtype)(x).mean(1))


infer("model_vit", ViT(), f(2, 16, 16, 3))
infer("model_vit_bf16", ViT(jnp.bfloat16), f(2, 16, 16, 3))
infer("model_vit_f16", ViT(jnp.float16), f(2, 16, 16, 3))


class Residual(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        norm = lambda: nn.BatchNorm(use_running_average=not train)
        x = nn.relu(norm()(nn.Conv(8, (7, 7), (2, 2), [(3, 3), (3, 3)], use_bias=False)(x)))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for width, stride in ((8, 1), (16, 2)):
            y = nn.relu(norm()(nn.Conv(width, (3, 3), (stride, stride), use_bias=False)(x)))
            y = norm()(nn.Conv(width, (3, 3), use_bias=False)(y))
            if x.shape != y.shape:
                x = norm()(nn.Conv(width, (1, 1), (stride, stride), use_bias=False)(x))
            x = nn.relu(x + y)
        return nn.Dense(10)(x.mean((1, 2)))


infer("model_resnet", Residual(), f(2, 32, 32, 3))


class SqueezeExcite(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.silu(nn.Conv(4 * x.shape[-1], (1, 1))(x))
        y = nn.silu(nn.Conv(y.shape[-1], (5, 5), (2, 2), feature_group_count=y.shape[-1])(y))
        s = nn.sigmoid(nn.Dense(y.shape[-1])(nn.silu(nn.Dense(4)(y.mean((1, 2))))))
        return nn.Conv(12, (1, 1))(y * s[:, None, None])


infer("model_squeeze_excite", SqueezeExcite(), f(1, 15, 15, 8))


class ConvNeXt(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(nn.Conv(x.shape[-1], (7, 7), feature_group_count=x.shape[-1])(x))
        y = nn.gelu(nn.Dense(4 * x.shape[-1])(y), approximate=False)
        norm = jnp.sqrt((y**2).sum((1, 2), keepdims=True))
        y = y * norm / (norm.mean(-1, keepdims=True) + 1e-6) + y
        return x + nn.Dense(x.shape[-1])(y)


infer("model_convnext", ConvNeXt(), f(1, 14, 14, 24))
infer("model_lstm", nn.RNN(nn.LSTMCell(16)), f(2, 9, 8))
infer("model_gru_both", nn.Bidirectional(nn.RNN(nn.GRUCell(12)), nn.RNN(nn.GRUCell(12))), f(2, 7, 6))
infer("model_conv_lstm", nn.RNN(nn.ConvLSTMCell(4, (3, 3))), f(1, 5, 8, 8, 3))
infer("model_simple_rnn_reverse", nn.RNN(nn.SimpleCell(8), reverse=True, keep_order=True), f(2, 6, 5))


class UNet(nn.Module):
    @nn.compact
    def __call__(self, x, t):
        e = jnp.exp(-np.log(1e4) * jnp.arange(8) / 8) * t[:, None]
        e = nn.Dense(16)(nn.silu(nn.Dense(16)(jnp.concatenate([jnp.sin(e), jnp.cos(e)], -1))))

        def residual(x, width):
            y = nn.Conv(width, (3, 3))(nn.silu(nn.GroupNorm(4)(x)))
            scale, shift = jnp.split(nn.Dense(2 * width)(nn.silu(e))[:, None, None], 2, -1)
            y = nn.Conv(width, (3, 3))(nn.silu(nn.GroupNorm(4)(y) * (1 + scale) + shift))
            return y + (nn.Conv(width, (1, 1))(x) if x.shape[-1] != width else x)

        a = residual(nn.Conv(8, (3, 3))(x), 8)
        b = residual(nn.Conv(16, (3, 3), (2, 2))(a), 16)
        n, h, w, c = b.shape
        b = b + nn.MultiHeadDotProductAttention(2)(nn.GroupNorm(4)(b).reshape(n, h * w, c)).reshape(b.shape)
        up = jax.image.resize(b, (n, 2 * h, 2 * w, c), "nearest")
        up = jnp.concatenate([nn.Conv(8, (3, 3))(up), a], -1)
        return nn.Conv(3, (3, 3))(nn.silu(nn.GroupNorm(4)(residual(up, 8))))


infer("model_unet", UNet(), f(2, 16, 16, 3), np.array([3.0, 250.0], np.float32))


class Decode(nn.Module):
    """A transposed convolution, bilinear resizing and pixel shuffle."""

    @nn.compact
    def __call__(self, z):
        x = nn.Dense(4 * 4 * 16)(z).reshape(-1, 4, 4, 16)
        x = nn.leaky_relu(nn.ConvTranspose(16, (4, 4), (2, 2))(x))
        x = jax.image.resize(x, (x.shape[0], 13, 13, 16), "bilinear")
        x = nn.Conv(12, (3, 3))(x)
        n, h, w, _ = x.shape
        return jnp.tanh(x.reshape(n, h, w, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(n, 2 * h, 2 * w, 3))


infer("model_decoder", Decode(), f(2, 8))


class Experts(nn.Module):
    """Two of four experts for each token, with a capacity, dispatched by one-hot products as in Switch."""

    @nn.compact
    def __call__(self, x):
        tokens, width = x.shape
        gate, chosen = lax.top_k(nn.softmax(nn.Dense(4)(x)), 2)
        hot = jax.nn.one_hot(chosen, 4)
        order = (jnp.cumsum(hot.reshape(-1, 4), 0) - 1).reshape(tokens, 2, 4) * hot
        slot = jax.nn.one_hot(order.sum(-1).astype(jnp.int32), 12)
        dispatch = jnp.einsum("tke,tkc->tec", hot, slot)
        combine = jnp.einsum("tk,tke,tkc->tec", gate, hot, slot)
        up = self.param("up", nn.initializers.normal(0.2), (4, width, 32))
        down = self.param("down", nn.initializers.normal(0.2), (4, 32, width))
        y = nn.silu(jnp.einsum("tec,td,edf->ecf", dispatch, x, up))
        return jnp.einsum("ecf,efd,tec->td", y, down, combine)


infer("model_experts", Experts(), f(20, 16))


def rms(x, w):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * w


def rotate(x, place):
    half = x.shape[-1] // 2
    angle = place[..., None] * (1e4 ** (-jnp.arange(half) / half))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate(
        [a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1
    )


WIDTH, HEADS, GROUPS, SIZE, LONGEST = 32, 4, 2, 8, 16
LLAMA = {
    "e": f(50, WIDTH), "q": f(WIDTH, HEADS * SIZE) * 0.2, "k": f(WIDTH, GROUPS * SIZE) * 0.2, "v": f(WIDTH, GROUPS * SIZE) * 0.2,
    "o": f(HEADS * SIZE, WIDTH) * 0.2, "g": f(WIDTH, 64) * 0.2, "u": f(WIDTH, 64) * 0.2, "d": f(64, WIDTH) * 0.2,
    "n1": f(WIDTH), "n2": f(WIDTH), "n3": f(WIDTH),
}  # fmt: skip


def llama_step(token, place, keys, values):
    """One token of a decoder with grouped queries and a cache of keys and values."""
    p = LLAMA
    x = jnp.asarray(p["e"])[token]
    h = rms(x, p["n1"])
    q = rotate((h @ p["q"]).reshape(HEADS, SIZE), place.astype(jnp.float32))
    k = rotate((h @ p["k"]).reshape(GROUPS, SIZE), place.astype(jnp.float32))
    keys = lax.dynamic_update_slice(keys, k[:, None], (0, place, 0))
    values = lax.dynamic_update_slice(values, (h @ p["v"]).reshape(GROUPS, 1, SIZE), (0, place, 0))
    scores = jnp.einsum("gqd,gtd->gqt", q.reshape(GROUPS, -1, SIZE), keys) / np.sqrt(SIZE)
    scores = jnp.where(jnp.arange(LONGEST) <= place, scores, -1e9)
    x = x + jnp.einsum("gqt,gtd->gqd", jax.nn.softmax(scores), values).reshape(-1) @ p["o"]
    h = rms(x, p["n2"])
    x = x + (jax.nn.silu(h @ p["g"]) * (h @ p["u"])) @ p["d"]
    return rms(x, p["n3"]) @ jnp.asarray(p["e"]).T, keys, values


CACHE = np.zeros((GROUPS, LONGEST, SIZE), np.float32)
add(
    "model_llama_step",
    llama_step,
    np.int32(7),
    np.int32(3),
    f(GROUPS, LONGEST, SIZE),
    f(GROUPS, LONGEST, SIZE),
)


def generate(first):
    def step(state, place):
        token, keys, values = state
        scores, keys, values = llama_step(token, place, keys, values)
        token = jnp.argmax(scores).astype(jnp.int32)
        return (token, keys, values), token

    return lax.scan(step, (first, jnp.asarray(CACHE), jnp.asarray(CACHE)), jnp.arange(10, dtype=jnp.int32))[1]


add("model_llama_generate", generate, np.int32(7))


def generate_until(first):
    """A loop that ends at a token or at the longest text."""

    def go(state):
        token, place, *_ = state
        return (token != 13) & (place < LONGEST)

    def step(state):
        token, place, keys, values, text = state
        scores, keys, values = llama_step(token, place, keys, values)
        text = lax.dynamic_update_slice(text, token[None], (place,))
        return jnp.argmax(scores).astype(jnp.int32), place + 1, keys, values, text

    state = (first, jnp.int32(0), jnp.asarray(CACHE), jnp.asarray(CACHE), jnp.zeros(LONGEST, jnp.int32))
    return lax.while_loop(go, step, state)[1::3]


add("model_llama_until", generate_until, np.int32(11))


def beam(scores, totals, texts, place):
    every = totals[:, None] + jax.nn.log_softmax(scores)
    best, flat = lax.top_k(every.reshape(-1), 4)
    texts = lax.dynamic_update_slice(texts[flat // 30], (flat % 30)[:, None].astype(jnp.int32), (0, place))
    return best, texts


add("model_beam_step", beam, f(4, 30), f(4), i32(30, 4, 12), np.int32(5))


def nucleus(key, scores):
    order = jnp.argsort(-scores, -1)
    sorted_scores = jnp.take_along_axis(scores, order, -1)
    keep = jnp.cumsum(jax.nn.softmax(sorted_scores), -1) - jax.nn.softmax(sorted_scores) < 0.9
    chosen = jax.random.categorical(key, jnp.where(keep, sorted_scores, -jnp.inf))
    return jnp.take_along_axis(order, chosen[:, None], -1)[:, 0]


add("model_nucleus", nucleus, key(), f(3, 40) * 3)
