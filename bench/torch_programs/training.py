"""Training steps of whole models: the loss, its gradients, and the parameters that an optimiser makes of them.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad_and_value

from .entries import Traced, add, gradient
from .trained_models import Drawing, Graph, Narrow, Pixels, Recurrent, Remembering, Residual, Seeing, Writing

RATE = 0.05


# Optimisers: new values and new state of one parameter, out of its gradient
def sgd(value, slope, state):
    return value - RATE * slope, state


def momentum(value, slope, state):
    (velocity,) = state
    velocity = 0.9 * velocity + slope + 1e-4 * value
    return value - RATE * (slope + 0.9 * velocity), (velocity,)


def adam(value, slope, state, decay=0.0):
    mean, square, count = state
    count = count + 1
    mean = mean.lerp(slope, 0.1)
    square = 0.999 * square + 0.001 * slope * slope
    root = (square / (1 - 0.999**count)).sqrt() + 1e-8
    return value * (1 - RATE * decay) - RATE * (mean / (1 - 0.9**count)) / root, (mean, square, count)


def adamw(value, slope, state):
    return adam(value, slope, state, 0.01)


def rmsprop(value, slope, state):
    (square,) = state
    square = 0.99 * square + 0.01 * slope.square()
    return value - RATE * slope / (square.sqrt() + 1e-8), (square,)


def adagrad(value, slope, state):
    (total,) = state
    total = torch.addcmul(total, slope, slope)
    return torch.addcdiv(value, slope, total.sqrt() + 1e-8, value=-RATE), (total,)


def lion(value, slope, state):
    (mean,) = state
    return value - RATE * torch.sign(0.9 * mean + 0.1 * slope), (0.99 * mean + 0.01 * slope,)


STATES = {sgd: 0, momentum: 1, adam: 3, adamw: 3, rmsprop: 1, adagrad: 1, lion: 1}


def fused_adam(*tensors):
    """PyTorch's own step of Adam over lists of tensors, which writes in place."""
    third = len(tensors) // 3
    values, slopes, squares = (
        [one.clone() for one in tensors[i * third : (i + 1) * third]] for i in range(3)
    )
    means = [torch.zeros_like(one) for one in values]
    torch._foreach_lerp_(means, slopes, 0.1)
    squares = [one.abs() for one in squares]
    torch._foreach_mul_(squares, 0.999)
    torch._foreach_addcmul_(squares, slopes, slopes, 0.001)
    roots = torch._foreach_sqrt(squares)
    torch._foreach_add_(roots, 1e-8)
    torch._foreach_addcdiv_(values, means, roots, -RATE)
    return [*values, *means, *squares]


def clipped(*slopes):
    """`torch.nn.utils.clip_grad_norm_`, written out."""
    total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(one) for one in slopes]))
    return [one * torch.clamp(1.0 / (total + 1e-6), max=1.0) for one in slopes]


def step(name, model, loss, *arguments, optimiser=sgd):
    """A step of training: ``loss`` is called with a function that runs ``model`` and with the arguments.

    Its arguments: the parameters, the buffers, for each parameter its state, and those of the loss; it gives the loss, what the
    parameters and their states become, and the buffers as the model left them.
    """
    model.train()
    names, values = zip(*((one, value.detach()) for one, value in model.named_parameters()), strict=True)
    kept = dict(model.named_buffers())
    count, of_each = len(values), STATES[optimiser]

    def run(*given):
        own = dict(zip(names, given, strict=False))
        rest = given[count + len(kept) :]
        states, rest = rest[: count * of_each], rest[count * of_each :]

        def lost(own):
            held = {one: value.clone() for one, value in zip(kept, given[count:], strict=False)}
            return loss(lambda *to: functional_call(model, {**own, **held}, to), *rest), held

        slopes, (value, held) = grad_and_value(lost, has_aux=True)(own)
        found = [
            optimiser(own[one], slopes[one], states[at * of_each : (at + 1) * of_each])
            for at, one in enumerate(names)
        ]
        return (
            value,
            *(one for one, _ in found),
            *(one for _, made in found for one in made),
            *held.values(),
        )

    states = []
    for value in values:
        numbers = [torch.zeros_like(value)] * min(of_each, 2) + [torch.tensor(3.0)] * (of_each - 2)
        states += numbers[:of_each]
    fixed = [(one.clone(), "") for one in (*values, *kept.values(), *states)]
    add(f"step_{name}", Traced(run, "symbolic" if kept else "real"), *fixed, *arguments)


def classified(model, x, y):
    return F.cross_entropy(model(x), y)


def restored(model, x):
    return F.mse_loss(model(x), x)


def varied(model, x, noise):
    drawn, mean, spread = model(x, noise)
    apart = -0.5 * (1 + spread - mean.square() - spread.exp()).sum(1).mean()
    return F.binary_cross_entropy_with_logits(drawn, x.sigmoid()) + 0.1 * apart


def contrasted(model, x, y):
    a, b = F.normalize(model(x), dim=-1), F.normalize(model(y), dim=-1)
    return F.cross_entropy(a @ b.T / 0.1, torch.arange(x.shape[0]))


def taught(model, x, y):
    scores = model(x)
    return F.kl_div(F.log_softmax(scores / 2, -1), F.softmax(y / 2, -1), reduction="batchmean") * 4


def sequence(model, t):
    return F.cross_entropy(model(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())


def rewarded(model, x, a, old, gain):
    """The clipped objective of PPO."""
    chosen = F.log_softmax(model(x), -1).gather(1, a[:, None])[:, 0]
    ratio = torch.exp(chosen - old)
    return -torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()


def judged(model, real, made):
    """What a discriminator of a GAN learns from."""
    fits, fails = model(real), model(made)
    return F.binary_cross_entropy_with_logits(
        fits, torch.ones_like(fits)
    ) + F.binary_cross_entropy_with_logits(fails, torch.zeros_like(fails))


def penalised(model, x):
    """Scores, with a penalty on their gradient by the image: a gradient of a gradient."""
    slopes = torch.func.grad(lambda given: model(given).sum())(x)
    return model(x).mean() + 10 * ((slopes.flatten(1).norm(dim=1) - 1) ** 2).mean()


# Nothing has a bias whose slope is 0, before a normalisation or in the keys of an attention: Adam scales its rounding up.
def perceptron():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 7))


def critic():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, 2, 1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(4, 8, 3, 2, 1, bias=False),
        nn.BatchNorm2d(8),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(32, 1),
    )


for chosen in STATES:
    step(f"mlp_{chosen.__name__}", perceptron(), classified, "b,8", "b:i64", optimiser=chosen)
step(
    "mlp_gelu",
    nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.0), nn.Linear(16, 7)),
    classified,
    "b,8",
    "b:i64",
    optimiser=adam,
)
step(
    "mlp_normed",
    nn.Sequential(nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 7)),
    classified,
    "b,8",
    "b:i64",
)
step("regression", nn.Linear(8, 1), lambda model, x, y: F.mse_loss(model(x)[:, 0], y), "b,8", "b")
step(
    "cnn",
    nn.Sequential(
        nn.Conv2d(1, 4, 3, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(36, 7),
    ),
    classified,
    "b,1,8,8",
    "b:i64",
    optimiser=momentum,
)
step(
    "lenet",
    nn.Sequential(
        nn.Conv2d(1, 4, 5, padding=2),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(4, 6, 3),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(24, 7),
    ),
    classified,
    "b,1,8,8",
    "b:i64",
)
step(
    "resnet",
    nn.Sequential(
        Residual(3, 4, 1), Residual(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 7)
    ),
    classified,
    "b,3,8,8",
    "b:i64",
    optimiser=momentum,
)
step(
    "mobile",
    Narrow(),
    lambda model, x, y: F.cross_entropy(model(x), y % 5),
    "b,3,8,8",
    "b:i64",
    optimiser=rmsprop,
)
step(
    "vit",
    Seeing(),
    lambda model, x, y: F.cross_entropy(model(x), y % 5, label_smoothing=0.1),
    "b,3,8,8",
    "b:i64",
    optimiser=adamw,
)
step("language", Writing(), sequence, "b,8:i64", optimiser=adam)
step("language_tied", Writing(True), sequence, "b,8:i64", optimiser=adamw)
step(
    "lstm_cell",
    Remembering(),
    lambda model, x, y: F.cross_entropy(model(x), y % 3),
    "b,4,4",
    "b:i64",
    optimiser=adam,
)
step("gru_cell", Remembering(True), lambda model, x, y: F.cross_entropy(model(x), y % 3), "b,4,4", "b:i64")
step("lstm", Recurrent(), lambda model, x, y: F.cross_entropy(model(x), y % 3), "b,4,4", "b:i64")
step("autoencoder", Drawing(), restored, "b,1,8,8", optimiser=adam)
step("vae", Drawing(True), varied, "b,1,8,8", "b,4", optimiser=adam)
step("unet", Pixels(), lambda model, x, y: F.cross_entropy(model(x), y % 2), "b,1,8,8", "b,8,8:i64")
step("contrastive", nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), contrasted, "b,8", "b,8")
step("distilled", perceptron(), taught, "b,8", "b,7")
step("policy", perceptron(), rewarded, "b,8", "b:i64", "b", "b")
step("critic", critic(), judged, "b,1,8,8", "b,1,8,8", optimiser=adam)
step("critic_penalised", nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)), penalised, "b,8")
step(
    "graph",
    Graph(),
    lambda model, x, i, j, y: F.cross_entropy(model(x, i, j), y % 3),
    "7,4",
    "n:i64",
    "n:i64",
    "7:i64",
)
step(
    "words",
    nn.Sequential(nn.EmbeddingBag(10, 8, mode="mean"), nn.Linear(8, 7)),
    classified,
    "b,4:i64",
    "b:i64",
)
step(
    "transformer_layer",
    nn.Sequential(
        nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), nn.Flatten(), nn.Linear(32, 7)
    ),
    classified,
    "b,4,8",
    "b:i64",
)
step(
    "conv1d",
    nn.Sequential(nn.Conv1d(4, 8, 3, padding=2, dilation=2), nn.ReLU(), nn.Conv1d(8, 7, 1)),
    lambda model, x, y: F.cross_entropy(model(x), y),
    "b,4,9",
    "b,9:i64",
)
add("step_foreach", Traced(fused_adam), *["4,5", "5"] * 3)
add("step_clipped", Traced(clipped), "4,5", "5", "b,3")
gradient(
    "grad_hessian_product",
    lambda x, v: (torch.func.grad(lambda to: (to**3).sum() + torch.sin(to).prod())(x) * v).sum(),
    "6",
    "6",
)
add("grad_jacobian", Traced(torch.func.jacrev(lambda x: torch.tanh(x[:3] * x[1:]))), "4")
add(
    "grad_per_sample",
    Traced(torch.func.vmap(torch.func.grad(lambda w, x: F.gelu(w @ x).sum()), in_dims=(None, 0))),
    "5,8",
    "b,8",
)
add(
    "step_adapted",
    Traced(
        lambda w, x, y: torch.func.grad(
            lambda v: F.mse_loss(x @ (v - RATE * torch.func.grad(lambda u: F.mse_loss(x @ u, y))(v)), y)
        )(w)
    ),
    "8,5",
    "b,8",
    "b,5",
)
