"""Whole models and training steps of Flax and Optax, and algorithms that models are made of, each with its arguments.

For `bench.jax_programs`; needs JAX, Flax and Optax, which are no dependencies of fissile. Everything is seeded. The
parameters of a model that only infers are constants; those of a training step are arguments.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from .layers import RANDOM, add, f, i8, i32

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


# --- training steps ---


def train(name, apply, parameters, optimizer, *batch):
    """One step: the gradients, and the optimizer's update of parameters and state, all of them arguments."""
    leaves, shape = jax.tree_util.tree_flatten((parameters, optimizer.init(parameters)))
    count = len(leaves)

    def step(*a):
        parameters, state = jax.tree_util.tree_unflatten(shape, a[:count])
        value, gradients = jax.value_and_grad(apply)(parameters, *a[count:])
        updates, state = optimizer.update(gradients, state, parameters)
        return value, optax.apply_updates(parameters, updates), state

    add(name, step, *(np.asarray(leaf) for leaf in leaves), *batch)


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.tanh(nn.Dense(24)(x)))


def fit(name, model, optimizer, x, y, **options):
    parameters = model.init(KEY, x)
    loss = lambda p, x, y: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x), y).mean()
    train(name, loss, parameters, optimizer, x, y)


for _name, _optimizer in {
    "sgd": optax.sgd(0.1, 0.9, nesterov=True), "adam": optax.adam(1e-3), "adamw": optax.adamw(1e-3, weight_decay=0.1),
    "lion": optax.lion(1e-3), "lamb": optax.lamb(1e-2), "rmsprop": optax.rmsprop(1e-3), "adagrad": optax.adagrad(0.1),
    "adafactor": optax.adafactor(1e-2, min_dim_size_to_factor=8), "radam": optax.radam(1e-3), "noisy_clip": optax.chain(optax.clip_by_global_norm(0.5), optax.adam(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 10, 100))),
    "accumulated": optax.MultiSteps(optax.adam(1e-3), 4).gradient_transformation(), "yogi": optax.yogi(1e-3), "adabelief": optax.adabelief(1e-3),
}.items():  # fmt: skip
    fit(f"train_{_name}", MLP(), _optimizer, f(8, 12), i32(10, 8))
fit("train_vit", ViT(), optax.sgd(0.1), f(2, 16, 16, 3), i32(10, 2))
fit(
    "train_squeeze",
    nn.Sequential([SqueezeExcite(), lambda x: x.mean((1, 2))]),
    optax.sgd(0.1),
    f(2, 9, 9, 4),
    i32(12, 2),
)
fit(
    "train_lstm",
    nn.Sequential([nn.RNN(nn.LSTMCell(8)), lambda x: x[:, -1]]),
    optax.adam(1e-2),
    f(2, 5, 4),
    i32(8, 2),
)
fit("train_experts", Experts(), optax.sgd(0.1), f(10, 16), i32(16, 10))


class Dropped(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.Dropout(0.3, deterministic=False)(nn.relu(nn.Dense(32)(x))))


def dropped_loss(p, x, y, key):
    return optax.softmax_cross_entropy_with_integer_labels(
        Dropped().apply(p, x, rngs={"dropout": key}), y
    ).mean()


train(
    "train_dropout",
    dropped_loss,
    Dropped().init({"params": KEY, "dropout": KEY}, f(6, 12)),
    optax.adam(1e-2),
    f(6, 12),
    i32(10, 6),
    key(),
)


def normed_loss(variables, x, y):
    out, _ = Residual().apply(variables, x, train=True, mutable=["batch_stats"])
    return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()


train(
    "train_batch_norm",
    normed_loss,
    Residual().init(KEY, f(2, 32, 32, 3)),
    optax.sgd(0.1),
    f(2, 32, 32, 3),
    i32(10, 2),
)
add(
    "loss_ctc",
    lambda l, y: optax.ctc_loss(l, jnp.zeros(l.shape[:2]), y, jnp.zeros(y.shape)),
    f(2, 12, 6),
    1 + i32(5, 2, 4),
)
add(
    "loss_ctc_grad",
    jax.grad(lambda l, y: optax.ctc_loss(l, jnp.zeros(l.shape[:2]), y, jnp.zeros(y.shape)).sum()),
    f(2, 12, 6),
    1 + i32(5, 2, 4),
)
add("loss_focal", lambda l, y: optax.sigmoid_focal_loss(l, y), f(6, 5), (f(6, 5) > 0).astype(np.float32))
add("loss_cosine", lambda a, b: optax.cosine_distance(a, b), f(5, 9), f(5, 9))
add(
    "loss_contrastive",
    lambda a, b: optax.softmax_cross_entropy(a @ b.T / 0.1, jnp.eye(8)).mean(),
    f(8, 16),
    f(8, 16),
)


def vae(p, q, x, key):
    mean, spread = jnp.split(x @ p, 2, -1)
    z = mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape)
    return ((z @ q - x) ** 2).mean() - 0.5 * (1 + spread - mean**2 - jnp.exp(spread)).mean()


add("train_vae", jax.value_and_grad(vae, argnums=(0, 1)), f(20, 16) * 0.1, f(8, 20) * 0.1, f(6, 20), key())


def vector_quantise(book, x):
    far = (x**2).sum(-1, keepdims=True) - 2 * x @ book.T + (book**2).sum(-1)
    chosen = book[jnp.argmin(far, -1)]
    straight = x + lax.stop_gradient(chosen - x)
    return (
        (jnp.tanh(straight) ** 2).mean()
        + ((lax.stop_gradient(chosen) - x) ** 2).mean()
        + ((chosen - lax.stop_gradient(x)) ** 2).mean()
    )


add("train_vector_quantise", jax.value_and_grad(vector_quantise, argnums=(0, 1)), f(16, 6), f(10, 6))


# --- algorithms ---


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


# --- quantised ---


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
