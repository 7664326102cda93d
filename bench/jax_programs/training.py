"""Training steps of Flax models with the optimizers of Optax, and losses: parameters and optimizer states are arguments.

For `bench.jax_programs`; needs JAX, Flax and Optax, which are no dependencies of fissile. Everything is seeded.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from .layers import add, f, i32
from .models import KEY, Experts, Residual, SqueezeExcite, ViT, key


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
