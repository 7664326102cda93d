"""The models whose training steps are compared: small ones, of the layers that models are made of.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.one, self.two = (
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
        )
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
        self.all, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
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
        self.inner = nn.Sequential(
            nn.Conv2d(1, 4, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(4, 8, 3, 2, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32, 8),
        )
        self.outer = nn.Sequential(
            nn.Linear(4 if varied else 8, 32),
            nn.Unflatten(1, (8, 2, 2)),
            nn.ConvTranspose2d(8, 4, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(4, 1, 4, 2, 1),
        )

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
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.Hardswish(),
            nn.Conv2d(8, 8, 3, 2, 1, groups=8, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU6(),
        )
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), nn.ReLU(), nn.Conv2d(2, 8, 1), nn.Hardsigmoid()
        )
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
