"""Blocks and small models of PyTorch whose batch, sequence or image size the call decides.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .entries import add, of, r


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(r(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def turned(x, begin=0):
    half = x.shape[-1] // 2
    angles = torch.outer(
        torch.arange(x.shape[-2], dtype=torch.float32) + begin, 1.0 / (100 ** (torch.arange(half) / half))
    )
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


class Decoder(nn.Module):
    """A block of a language model: grouped queries, rotary positions, SwiGLU; with ``cache`` it continues a sequence."""

    def __init__(self, width=32, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q, self.k, self.v = (
            nn.Linear(width, width, False),
            nn.Linear(width, groups * self.size, False),
            nn.Linear(width, groups * self.size, False),
        )
        self.o, self.gate, self.up, self.down = (
            nn.Linear(width, width, False),
            nn.Linear(width, 64, False),
            nn.Linear(width, 64, False),
            nn.Linear(64, width, False),
        )
        self.one, self.two = RMSNorm(width), RMSNorm(width)

    def forward(self, x, keys=None, values=None):
        b, t, d = x.shape
        h = self.one(x)
        q = turned(self.q(h).view(b, t, self.heads, self.size).transpose(1, 2))
        k = turned(self.k(h).view(b, t, self.groups, self.size).transpose(1, 2))
        v = self.v(h).view(b, t, self.groups, self.size).transpose(1, 2)
        if keys is not None:
            k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        wide = [
            one[:, :, None]
            .expand(-1, -1, self.heads // self.groups, -1, -1)
            .reshape(b, self.heads, one.shape[2], self.size)
            for one in (k, v)
        ]
        y = F.scaled_dot_product_attention(q, *wide, is_causal=keys is None)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        h = self.two(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return x if keys is None else (x, k, v)


class Classifier(nn.Module):
    """Embedding, recurrent layer, mean over what is not padding."""

    def __init__(self, cell):
        super().__init__()
        self.embed, self.cell, self.head = (
            nn.Embedding(30, 8),
            cell(8, 12, batch_first=True),
            nn.Linear(12, 3),
        )

    def forward(self, tokens, mask):
        h, _ = self.cell(self.embed(tokens))
        weight = mask.float()[..., None]
        return self.head((h * weight).sum(1) / weight.sum(1).clamp(min=1))


class Bert(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(40, 32), nn.Embedding(64, 32), nn.LayerNorm(32)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu") for _ in range(layers)
        )
        self.head = nn.Linear(32, 2)

    def forward(self, tokens):
        x = self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1])))
        for layer in self.layers:
            x = layer(x)
        return self.head(torch.tanh(x[:, 0]))


class Residual(nn.Module):
    def __init__(self, channels=8, stride=1):
        super().__init__()
        self.a, self.b = (
            nn.Conv2d(channels, channels, 3, stride, 1, bias=False),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
        )
        self.c, self.d = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)
        self.side = nn.Conv2d(channels, channels, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.d(self.b(F.relu(self.c(self.a(x))))) + self.side(x))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, 2, 1)
        self.up, self.out = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.one(x))
        return self.out(torch.cat([a, self.up(F.relu(self.two(a)))], 1))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.cls = nn.Conv2d(3, 32, 4, 4), nn.Parameter(r(1, 1, 32))
        self.places, self.block, self.head = (
            nn.Parameter(r(1, 10, 32)),
            nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True),
            nn.Linear(32, 5),
        )

    def forward(self, x):
        h = self.patch(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.cls.expand(x.shape[0], -1, -1), h], 1) + self.places
        return self.head(self.block(h)[:, 0])


class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep, self.norm, self.up, self.down = (
            nn.Conv2d(8, 8, 7, padding=3, groups=8),
            nn.LayerNorm(8),
            nn.Linear(8, 32),
            nn.Linear(32, 8),
        )

    def forward(self, x):
        h = self.norm(self.deep(x).permute(0, 2, 3, 1))
        return x + self.down(F.gelu(self.up(h))).permute(0, 3, 1, 2)


class Squeeze(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(8, 2, 1), nn.Conv2d(2, 8, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.b(F.relu(self.a(x.mean((2, 3), keepdim=True)))))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.channels, self.norm = nn.Linear(9, 9), nn.Linear(16, 16), nn.LayerNorm(16)

    def forward(self, x):
        x = x + self.tokens(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + F.gelu(self.channels(self.norm(x)))


class Experts(nn.Module):
    """The two best of four experts for each token."""

    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = (
            nn.Linear(16, 4),
            nn.Parameter(r(4, 16, 24) / 4),
            nn.Parameter(r(4, 24, 16) / 5),
        )

    def forward(self, x):
        flat = x.reshape(-1, 16)
        weight, chosen = torch.topk(torch.softmax(self.gate(flat), -1), 2, -1)
        share = torch.zeros(flat.shape[0], 4).scatter(1, chosen, weight / weight.sum(-1, keepdim=True))
        every = torch.einsum("tef,efd->ted", F.silu(torch.einsum("td,edf->tef", flat, self.up)), self.down)
        return (share[..., None] * every).sum(1).reshape(x.shape)


class Whisper(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv1d(8, 32, 3, padding=1), nn.Conv1d(32, 32, 3, 2, 1)
        self.block = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)

    def forward(self, x):
        return self.block(F.gelu(self.b(F.gelu(self.a(x)))).transpose(1, 2))


class WeightOnly(nn.Module):
    """4-bit weights, two to a byte, with a scale for every 16 rows."""

    def __init__(self):
        super().__init__()
        self.register_buffer("packed", torch.randint(0, 256, (32, 24), dtype=torch.uint8))
        self.register_buffer("scale", r(4, 1, 24).abs() / 8)

    def forward(self, x):
        low, high = (self.packed & 15).to(torch.int8) - 8, (self.packed >> 4).to(torch.int8) - 8
        weight = torch.stack([low, high], 1).reshape(4, 16, 24).float() * self.scale
        return x @ weight.reshape(64, 24)


def cached(cache, place, new):
    """A cache of fixed length, written at positions of the call."""
    return cache.index_copy(2, place, new)


def selective_scan(x, dt, a, b, c):
    """Four steps of a state space model."""
    state, out = torch.zeros(x.shape[0], 8, 4), []
    for step in range(4):
        state = (
            state * torch.exp(dt[:, step, :, None] * a)
            + dt[:, step, :, None] * b[:, step, None] * x[:, step, :, None]
        )
        out.append((state * c[:, step, None]).sum(-1))
    return torch.stack(out, 1)


def boxes(scores, deltas, anchors):
    x, y = anchors[:, 0] + deltas[..., 0] * anchors[:, 2], anchors[:, 1] + deltas[..., 1] * anchors[:, 3]
    w, h = (
        anchors[:, 2] * torch.exp(deltas[..., 2].clamp(max=4)),
        anchors[:, 3] * torch.exp(deltas[..., 3].clamp(max=4)),
    )
    best, kind = torch.sigmoid(scores).max(-1)
    return torch.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], -1), best, kind


def overlap(a, b):
    corner, end = torch.maximum(a[:, None, :2], b[None, :, :2]), torch.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = (end - corner).clamp(min=0).prod(-1)
    area = [(one[:, 2:] - one[:, :2]).abs().prod(-1) for one in (a, b)]
    return inter / (area[0][:, None] + area[1][None] - inter + 1.0)


def greedy_ctc(x):
    best = x.argmax(-1)
    before = F.pad(best[:, :-1], (1, 0), value=-1)
    return torch.where((best != before) & (best != 0), best, torch.full_like(best, -1))


def sampled(logits, temperature=0.8):
    scores, places = torch.sort(logits / temperature, -1, descending=True)
    kept = torch.cumsum(torch.softmax(scores, -1), -1) <= 0.9
    kept = torch.cat([torch.ones_like(kept[:, :1]), kept[:, :-1]], 1)
    return torch.gather(
        scores, 1, torch.where(kept, scores, torch.full_like(scores, -1e9)).argmax(1, keepdim=True)
    ), places[:, 0]


def relative_bias(x, table):
    place = torch.arange(x.shape[1])
    return (x @ x.transpose(1, 2)) + table[(place[None] - place[:, None]).clamp(-4, 4) + 4]


add("decoder", Decoder(), "b,s,32")
add("decoder_batch", Decoder(), "b,9,32")
add("decoder_continued", Decoder(), "b,1,32", "b,2,s,8", "b,2,s,8")
add("rnn_classifier", Classifier(nn.RNN), "b,6:i64", "b,6:i1")
add("lstm_classifier", Classifier(nn.LSTM), "b,6:i64", "b,6:i1")
add("gru_classifier", Classifier(nn.GRU), "b,6:i64", "b,6:i1")
add("lstm_two_ways", nn.LSTM(8, 6, 2, bidirectional=True), "5,b,8")
add("bert", Bert(), "b,s:i64")
add("bert_batch", Bert(1), "b,9:i64")
add("multihead", nn.MultiheadAttention(32, 4, batch_first=True), "b,s,32", "b,t,32", "b,t,32")
add("decoder_layer", nn.TransformerDecoderLayer(32, 4, 64, batch_first=True), "b,s,32", "b,t,32")
add("residual", nn.Sequential(Residual(), Residual(8, 2)), "b,8,12,12")
add("residual_hw", Residual(), "b,8,h,w")
add("unet", UNet(), "b,3,12,12")
add("vit", Vit(), "b,3,12,12")
add("convnext", ConvNext(), "b,8,12,12")
add("convnext_hw", ConvNext(), "b,8,h,w")
add("squeeze_excite", Squeeze(), "b,8,h,w")
add("mixer", Mixer(), "b,9,16")
add("experts", Experts(), "b,s,16")
add("whisper_encoder", Whisper(), "b,8,16")
add("weight_only_int4", WeightOnly(), "b,64")
of("cache_at_places", cached, "b,2,8,4", (torch.tensor([3]), ""), "b,2,1,4")
of("selective_scan", selective_scan, "b,4,8", "b,4,8", "8,4", "b,4,4", "b,4,4")
of("boxes", boxes, "b,n,5", "b,n,4", "n,4")
of("overlap", overlap, "m,4", "n,4")
of("greedy_ctc", greedy_ctc, "b,s,6")
of("nucleus", sampled, "b,16")
of("relative_bias", relative_bias, "b,s,8", "9")
of("positions_added", lambda x, p: x + p[: x.shape[1]], "b,s,8", "600,8")
of(
    "causal_slice",
    lambda x, m: (x @ x.transpose(1, 2)).masked_fill(m[: x.shape[1], : x.shape[1]], -1e9),
    "b,s,8",
    (torch.ones(600, 600).triu(1).bool(), ""),
)
of("chunked_mean", lambda x: x.reshape(x.shape[0], 4, 3, 8).mean(2), "b,12,8")
of(
    "windows",
    lambda x: x.reshape(x.shape[0], 3, 4, 3, 4, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, 8),
    "b,12,12,8",
)
of(
    "windows_back",
    lambda x: x.reshape(-1, 3, 3, 4, 4, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 12, 12, 8),
    (r(18, 16, 8), ""),
)
of(
    "interaction",
    lambda x: (lambda z: z[:, torch.tril_indices(5, 5, -1)[0], torch.tril_indices(5, 5, -1)[1]])(
        x @ x.transpose(1, 2)
    ),
    "b,5,8",
)
of(
    "time_features",
    lambda t: torch.cat(
        [torch.sin(t[..., None] * torch.arange(1, 5)), torch.cos(t[..., None] * torch.arange(1, 5))], -1
    ),
    "b,s",
)
of(
    "pairwise_bias",
    lambda x, y: F.softmax(
        torch.einsum("bihd,bjhd->bhij", x.unflatten(-1, (2, 4)), y.unflatten(-1, (2, 4))), -1
    ).flatten(1, 2),
    "b,s,8",
    "b,t,8",
)
