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
    values, slopes, squares = ([one.clone() for one in tensors[i * third : (i + 1) * third]] for i in range(3))
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
        return (value, *(one for one, _ in found), *(one for _, made in found for one in made), *held.values())

    states = []
    for value in values:
        numbers = [torch.zeros_like(value)] * min(of_each, 2) + [torch.tensor(3.0)] * (of_each - 2)
        states += numbers[:of_each]
    fixed = [(one.clone(), "") for one in (*values, *kept.values(), *states)]
    add(f"step_{name}", Traced(run), *fixed, *arguments)
    model.train()


def classified(model, x, y):
    return F.cross_entropy(model(x), y)


def restored(model, x):
    return F.mse_loss(model(x), x)


class Residual(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.one, self.two = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.first, self.second, self.third = (nn.BatchNorm2d(outer) for _ in range(3))
        self.past = nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x):
        y = self.second(self.two(F.relu(self.first(self.one(x)))))
        return F.relu(y + self.third(self.past(x)))


class Attending(nn.Module):
    """A block of a transformer, its heads written with scaled_dot_product_attention."""

    def __init__(self, width=16, heads=2, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = self.all(self.one(x)).view(b, s, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, w))
        return x + self.down(F.gelu(self.up(self.two(x))))


class Seeing(nn.Module):
    """A small vision transformer."""

    def __init__(self):
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, 16, 4, 4), nn.Parameter(torch.randn(1, 5, 16))
        self.first, self.block, self.head = nn.Parameter(torch.randn(1, 1, 16)), Attending(), nn.Linear(16, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.block(x)[:, 0])


class Writing(nn.Module):
    """A small language model; ``tied``: the last layer has the weights of the embedding."""

    def __init__(self, tied=False):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 16), nn.Embedding(16, 16)
        self.block, self.norm = Attending(causal=True), nn.LayerNorm(16)
        self.head = None if tied else nn.Linear(16, 11, bias=False)

    def forward(self, t):
        x = self.norm(self.block(self.tokens(t) + self.places(torch.arange(t.shape[1]))))
        return x @ self.tokens.weight.T if self.head is None else self.head(x)


class Remembering(nn.Module):
    """An LSTM cell over the steps of a sequence; ``gated``: a GRU cell."""

    def __init__(self, gated=False):
        super().__init__()
        self.gated = gated
        self.cell, self.head = (nn.GRUCell if gated else nn.LSTMCell)(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 8)
        for step in range(4):
            if self.gated:
                h = self.cell(x[:, step], h)
            else:
                h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Drawing(nn.Module):
    """Encodes an image, and draws it with transposed convolutions; ``varied``: a variational one, which takes its noise."""

    def __init__(self, varied=False):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.Conv2d(4, 8, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(32, 8))
        self.outer = nn.Sequential(nn.Linear(4 if varied else 8, 32), nn.Unflatten(1, (8, 2, 2)), nn.ConvTranspose2d(8, 4, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 1, 4, 2, 1))

    def forward(self, x, noise=None):
        found = self.inner(x)
        if noise is None:
            return self.outer(found)
        mean, spread = found.chunk(2, 1)
        return self.outer(mean + noise * torch.exp(0.5 * spread)), mean, spread


class Pixels(nn.Module):
    """A small U-Net."""

    def __init__(self):
        super().__init__()
        self.down, self.middle = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm, self.up, self.out = nn.GroupNorm(2, 4), nn.ConvTranspose2d(4, 4, 2, 2), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        one = F.silu(self.norm(self.down(x)))
        two = F.relu(self.middle(F.max_pool2d(one, 2)))
        return self.out(torch.cat([one, self.up(two)], 1))


class Narrow(nn.Module):
    """A block of MobileNet: a pointwise, a depthwise, a pointwise convolution, and what weighs their channels."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(), nn.Conv2d(8, 8, 3, 2, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.weigh = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), nn.ReLU(), nn.Conv2d(2, 8, 1), nn.Hardsigmoid())
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.layers(x)
        return self.head((x * self.weigh(x)).mean((2, 3)))


class Graph(nn.Module):
    """A graph convolution: the neighbours' values are added up by an index."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x, begins, ends):
        y = self.one(x).relu()
        return self.two(y + torch.zeros_like(y).index_add(0, ends, y[begins]))


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
    return F.binary_cross_entropy_with_logits(fits, torch.ones_like(fits)) + F.binary_cross_entropy_with_logits(fails, torch.zeros_like(fails))


def penalised(model, x):
    """Scores, with a penalty on their gradient by the image: a gradient of a gradient."""
    slopes = torch.func.grad(lambda given: model(given).sum())(x)
    return model(x).mean() + 10 * ((slopes.flatten(1).norm(dim=1) - 1) ** 2).mean()


def perceptron():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 7))


def critic():
    return nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(4, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32, 1))


for chosen in STATES:
    step(f"mlp_{chosen.__name__}", perceptron(), classified, "b,8", "b:i64", optimiser=chosen)
step("mlp_gelu", nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.0), nn.Linear(16, 7)), classified, "b,8", "b:i64", optimiser=adam)
step("mlp_normed", nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 7)), classified, "b,8", "b:i64")
step("regression", nn.Linear(8, 1), lambda model, x, y: F.mse_loss(model(x)[:, 0], y), "b,8", "b")
step("cnn", nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 7)), classified, "b,1,8,8", "b:i64", optimiser=momentum)
step("lenet", nn.Sequential(nn.Conv2d(1, 4, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(4, 6, 3), nn.Tanh(), nn.Flatten(), nn.Linear(24, 7)), classified, "b,1,8,8", "b:i64")
step("resnet", nn.Sequential(Residual(3, 4, 1), Residual(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 7)), classified, "b,3,8,8", "b:i64", optimiser=momentum)
step("mobile", Narrow(), lambda model, x, y: F.cross_entropy(model(x), y % 5), "b,3,8,8", "b:i64", optimiser=rmsprop)
step("vit", Seeing(), lambda model, x, y: F.cross_entropy(model(x), y % 5, label_smoothing=0.1), "b,3,8,8", "b:i64", optimiser=adamw)
step("language", Writing(), sequence, "b,8:i64", optimiser=adam)
step("language_tied", Writing(True), sequence, "b,8:i64", optimiser=adamw)
step("lstm_cell", Remembering(), lambda model, x, y: F.cross_entropy(model(x), y % 3), "b,4,4", "b:i64", optimiser=adam)
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
step("graph", Graph(), lambda model, x, i, j, y: F.cross_entropy(model(x, i, j), y % 3), "7,4", "n:i64", "n:i64", "7:i64")
step("words", nn.Sequential(nn.EmbeddingBag(10, 8, mode="mean"), nn.Linear(8, 7)), classified, "b,4:i64", "b:i64")
step("transformer_layer", nn.Sequential(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), nn.Flatten(), nn.Linear(32, 7)), classified, "b,4,8", "b:i64", optimiser=adam)
step("conv1d", nn.Sequential(nn.Conv1d(4, 8, 3, padding=2, dilation=2), nn.ReLU(), nn.Conv1d(8, 7, 1)), lambda model, x, y: F.cross_entropy(model(x), y), "b,4,9", "b,9:i64")
add("optimiser_foreach", Traced(fused_adam), *["4,5", "5"] * 3)
add("optimiser_clipped", Traced(clipped), "4,5", "5", "b,3")
gradient("hessian_product", lambda x, v: (torch.func.jvp(torch.func.grad(lambda to: (to**3).sum() + torch.sin(to).prod()), (x,), (v,))[1]), "6", "6")
add("jacobian", Traced(torch.func.jacrev(lambda x: torch.tanh(x[:3] * x[1:]))), "4")
add("per_sample_gradients", Traced(torch.func.vmap(torch.func.grad(lambda w, x: F.gelu(w @ x).sum()), in_dims=(None, 0))), "5,8", "b,8")
add("adapted", Traced(lambda w, x, y: torch.func.grad(lambda v: F.mse_loss(x @ (v - RATE * torch.func.grad(lambda u: F.mse_loss(x @ u, y))(v)), y))(w)), "8,5", "b,8", "b,5")
