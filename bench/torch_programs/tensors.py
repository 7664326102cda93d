"""Movement of elements in tensors of dynamic sizes: views, slices, gathers, scatters, pads.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F

from .entries import of, r


def put(cache, place, value):
    cache = cache.clone()
    cache[:, place] = value
    return cache


of("cat_batch", lambda x, y: torch.cat([x, y], 0), "a,8", "c,8")
of("cat_seq", lambda x, y: torch.cat([x, y], 1), "b,s,8", "b,t,8")
of("stack", lambda x, y: torch.stack([x, y], 1), "b,8", "b,8")
of("split", lambda x: x.split(4, -1), "b,8")
of("pad", lambda x: F.pad(x, (1, 2)), "b,s")
of("pad_reflect", lambda x: F.pad(x, (1, 2), mode="reflect"), "b,4,8")
of("pad_replicate", lambda x: F.pad(x, (1, 2), mode="replicate"), "b,4,s")
of("gather", lambda x, i: torch.gather(x, 1, i), "b,s", "b,k:i64")
of("index_select", lambda x, i: torch.index_select(x, 0, i), "n,8", "k:i64")
of("fancy", lambda x, i: x[:, i], "b,s,8", "k:i64")
of("last_token", lambda x: x[:, -1], "b,s,8")
of("last_of_length", lambda x, n: x[torch.arange(x.shape[0]), n], "b,s,8", "b:i64")
of("shift", lambda x: x[:, 1:] - x[:, :-1], "b,s,8")
of("strided", lambda x: x[:, ::2], "b,9,8")
of("strided_dyn", lambda x: x[:, ::2], "b,s,8")
of("scatter_add", lambda x, i: torch.zeros(x.shape[0], 8).scatter_add(1, i, x), "b,s", "b,s:i64")
of("scatter", lambda x, i, v: x.scatter(1, i, v), "b,s", "b,1:i64", "b,1")
of("index_add", lambda x, i, v: x.index_add(0, i, v), "n,4", "k:i64", "k,4")
of("index_put", put, "b,s,8", (torch.tensor([4]), ""), "b,1,8")
of("slice_assign", lambda x: torch.slice_scatter(x, x[:, :-1], 1, 1), "b,s,8")
of("where_mask", lambda x, m: torch.where(m, x, torch.zeros_like(x)), "b,s", "b,s:i1")
of("tril", lambda x: torch.tril(x), "b,s,s")
of("one_hot", lambda i: F.one_hot(i, 10).float(), "b,s:i64")
of("flatten", lambda x: x.flatten(1), "b,4,5")
of("flatten_all", lambda x: x.flatten(), "b,4,5")
of("flatten01", lambda x: x.flatten(0, 1) * 2, "b,s,5")
of("unflatten", lambda x: x.view(x.shape[0], 2, 4).sum(1), "b,8")
of(
    "view_merge_matmul",
    lambda x, w: (x.reshape(-1, 8) @ w).reshape(x.shape[0], x.shape[1], 5),
    "b,s,8",
    "8,5",
)
of("expand", lambda x: x[:, None].expand(-1, 4, -1).reshape(-1, 8), "b,8")
of("repeat", lambda x: x.repeat(2, 3), "b,8")
of("roll", lambda x: torch.roll(x, 1, 1), "b,s")
of("flip", lambda x: torch.flip(x, (1,)), "b,s")
of("ones_like", lambda x: torch.ones_like(x) + x, "b,s")
of("full_size", lambda x: torch.full((x.shape[0], 4), 2.0) + x[:, :4], "b,8")
of("linspace", lambda x: x + torch.arange(x.shape[0])[:, None], "b,8")
of("unfold", lambda x: x.unfold(1, 3, 1), "b,s")
of("im2col", lambda x: F.unfold(x, 3), "b,3,8,8")
of("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), "b,8,h,w")
of(
    "depth_to_space",
    lambda x: (
        x.view(x.shape[0], 2, 2, 2, x.shape[2], x.shape[3])
        .permute(0, 1, 4, 2, 5, 3)
        .reshape(x.shape[0], 2, x.shape[2] * 2, x.shape[3] * 2)
    ),
    "b,8,h,w",
)
of("size_math", lambda x: x / x.shape[0], "b,8")
of("complex_mul", lambda a, b, c, d: (a * c - b * d, a * d + b * c), "b,8", "b,8", "b,8", "b,8")
of(
    "bilinear_sample",
    lambda x, gd: F.grid_sample(x, gd, align_corners=False),
    "b,3,6,6",
    (torch.tanh(r(3, 4, 5, 2)), "b"),
)
