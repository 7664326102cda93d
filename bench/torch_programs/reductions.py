"""Sums, orders, products and losses of tensors of dynamic sizes.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F

from .entries import of, r

of("softmax", lambda x: torch.softmax(x, -1), "b,16")
of("softmax_seq", lambda x: torch.softmax(x, -1), "b,s")
of("log_softmax_seq", lambda x: torch.log_softmax(x, 1), "b,s,3")
of("mean_seq", lambda x: x.mean(1), "b,s,8")
of("var_seq", lambda x: x.var(1), "b,s,8")
of("std_all", lambda x: x.std(), "b,s,8")
of("amax_seq", lambda x: x.amax(1), "b,s,8")
of("argmax_seq", lambda x: x.argmax(1), "b,s,8")
of("max_dim", lambda x: x.max(1), "b,s,8")
of("topk", lambda x: torch.topk(x, 3, 1), "b,s")
of("sort_seq", lambda x: torch.sort(x, 1), "b,s")
of("cumsum_seq", lambda x: torch.cumsum(x, 1), "b,s")
of("cumsum_batch", lambda x: torch.cumsum(x, 1), "b,16")
of("logsumexp", lambda x: torch.logsumexp(x, 1), "b,s")
of("einsum", lambda x, y: torch.einsum("bsd,btd->bst", x, y), "b,s,8", "b,t,8")
of("bmm", lambda x, y: torch.bmm(x, y), "b,s,8", "b,8,5")
of("matmul_nt", lambda x, y: x @ y.T, "m,8", "n,8")
of("cdist", lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1).sqrt(), "m,8", "n,8")
of("cosine", lambda x, y: F.cosine_similarity(x, y, -1), "m,8", "m,8")
of("normalize", lambda x: F.normalize(x, dim=-1), "b,8")
of("cross_entropy", lambda x, t: F.cross_entropy(x, t), "b,7", "b:i64")
of("nll_none", lambda x, t: F.cross_entropy(x, t, reduction="none"), "b,7", "b:i64")
of("mse", lambda x, t: F.mse_loss(x, t), "b,7", "b,7")
of("cumprod", lambda x: torch.cumprod(x, 1), "b,s")
of("cummax", lambda x: torch.cummax(x, 1), "b,s")
of("prod", lambda x: x.prod(1), "b,s")
of("any", lambda x: (x > 1).any(1), "b,s")
of("all", lambda x: (x > -3).all(1), "b,s")
of("median", lambda x: x.median(1).values, "b,7")
of("searchsorted", lambda s, v: torch.searchsorted(s, v), (torch.sort(r(9)).values, "n"), "k")
of("bucketize", lambda v: torch.bucketize(v, torch.tensor([-1.0, 0.0, 1.0])), "b,3")
of("outer", lambda x, y: torch.outer(x, y), "m", "n")
of("diff", lambda x: torch.diff(x, dim=1), "b,s")
of("trapz", lambda x: torch.trapezoid(x, dim=1), "b,s")
of("vander", lambda x: torch.stack([x**i for i in range(4)], -1), "b")
of("tensordot", lambda x, y: torch.tensordot(x, y, ([1, 2], [0, 1])), "b,4,3", "4,3,6")
of("kthvalue", lambda x: torch.sort(x, 1).values[:, 2], "b,s")
of("nonzero_count", lambda x: (x > 0).sum(), "b,s")
of("histc", lambda x: torch.histc(x, 8, -2.0, 2.0), "b")
of("bincount", lambda x: torch.bincount(x, minlength=8), "b:i64")
of("ctc_like", lambda x: torch.logaddexp(x[:, :-1], x[:, 1:]), "b,s")
of("clip_norm", lambda x: x * torch.clamp(1.0 / (x.norm() + 1e-06), max=1.0), "b,s")
