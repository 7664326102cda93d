"""Losses of PyTorch over a batch whose size the call decides, and gradients that are written out.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F

from .entries import of


def dice(x, y):
    p = torch.sigmoid(x)
    return 1 - (2 * (p * y).sum((1, 2)) + 1) / (p.sum((1, 2)) + y.sum((1, 2)) + 1)


def contrastive(a, b):
    scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T / 0.1
    return F.cross_entropy(scores, torch.arange(a.shape[0]))


def advantages(rewards, values):
    """Returns of a policy, discounted from the end."""
    weights = 0.9 ** torch.arange(rewards.shape[1])
    return torch.flip(torch.cumsum(torch.flip(rewards * weights, (1,)), 1), (1,)) / weights - values


def focal(x, y):
    p = torch.sigmoid(x)
    right = p * y + (1 - p) * (1 - y)
    return (-((1 - right) ** 2) * torch.log(right + 1e-6)).mean()


of("binary", lambda x, y: F.binary_cross_entropy_with_logits(x, y.float()), "b,7", "b,7:i1")
of("binary_of_chances", lambda x, y: F.binary_cross_entropy(torch.sigmoid(x), y.float()), "b,7", "b,7:i1")
of(
    "divergence",
    lambda x, y: F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean"),
    "b,7",
    "b,7",
)
of("huber", lambda x, y: F.huber_loss(x, y), "b,7", "b,7")
of("smooth_l1", lambda x, y: F.smooth_l1_loss(x, y), "b,7", "b,7")
of("triplet", lambda a, p, n: F.triplet_margin_loss(a, p, n), "b,7", "b,7", "b,7")
of("margin", lambda x, y, t: F.margin_ranking_loss(x, y, t, margin=0.5), "b", "b", "b")
of("hinge", lambda x, y: F.relu(1 - x * y).mean(), "b,7", "b,7")
of("embedding_cosine", lambda x, y: F.cosine_embedding_loss(x, y, torch.ones(x.shape[0])), "b,7", "b,7")
of("contrastive", contrastive, "b,8", "b,8")
of("dice", dice, "b,6,6", "b,6,6")
of("focal", focal, "b,7", "b,7")
of(
    "policy",
    lambda x, a, g: -(F.log_softmax(x, -1).gather(1, a[:, None])[:, 0] * g).mean(),
    "b,7",
    "b:i64",
    "b",
)
of("advantages", advantages, "b,s", "b,s")
of("smoothed_labels", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), "b,7", "b:i64")
of("weighted_classes", lambda x, y, w: F.cross_entropy(x, y, w.abs()), "b,7", "b:i64", "7")
of("ignored_classes", lambda x, y: F.cross_entropy(x, y, ignore_index=3), "b,7", "b:i64")
of("over_a_sequence", lambda x, y: F.cross_entropy(x.transpose(1, 2), y), "b,s,7", "b,s:i64")
of("flat_sequence", lambda x, y: F.cross_entropy(x.reshape(-1, 7), y.reshape(-1)), "b,s,7", "b,s:i64")
of("perplexity", lambda x, y: torch.exp(F.nll_loss(F.log_softmax(x, -1), y)), "b,7", "b:i64")
of(
    "gradient_of_softmax",
    lambda x, g: torch.softmax(x, -1) * (g - (g * torch.softmax(x, -1)).sum(-1, keepdim=True)),
    "b,s",
    "b,s",
)
of("gradient_of_linear", lambda x, g: (g.T @ x, g.sum(0)), "b,8", "b,5")
of("sgd_step", lambda w, x, y: w - 0.1 * (2 / x.shape[0]) * x.T @ (x @ w - y), "8,5", "b,8", "b,5")
of("accuracy", lambda x, y: (x.argmax(-1) == y).float().mean(), "b,7", "b:i64")
of(
    "top_three",
    lambda x, y: (torch.topk(x, 3, -1).indices == y[:, None]).any(-1).float().mean(),
    "b,7",
    "b:i64",
)
of(
    "confusion",
    lambda x, y: (F.one_hot(y, 7)[:, :, None] * F.one_hot(x.argmax(-1), 7)[:, None]).sum(0),
    "b,7",
    "b:i64",
)
