"""Gradients of PyTorch's ops, by `torch.func.grad` and autograd, over a batch whose size the call decides.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F

from .entries import gradient, r

WEIGHT, KERNEL = "6,8", "6,4,3,3"
_TAKEN = (torch.tensor([0, 2, 2, 5]), "")
_MASK = (torch.ones(9, 9).tril().bool(), "")


def weighed(function):
    """Of what ``function`` gives, a sum with weights that differ: the gradient of a plain sum hides an order."""

    def loss(*arguments):
        value = function(*arguments)
        count = torch.arange(value[0].numel(), dtype=torch.float32).reshape(value.shape[1:])
        return (value * torch.cos(count)).mean()

    return loss


def of_op(name, function, *arguments, of=0):
    gradient(f"grad_{name}", weighed(function), *arguments, of=of)


# Activations
for name, function in {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "elu": F.elu, "celu": F.celu, "selu": F.selu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "mish": F.mish, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "hardtanh": F.hardtanh, "softplus": F.softplus, "log_sigmoid": F.logsigmoid,
    "softsign": F.softsign, "tanhshrink": F.tanhshrink, "softshrink": F.softshrink, "hardshrink": F.hardshrink, "glu": F.glu,
    "softmax": lambda x: F.softmax(x, -1), "log_softmax": lambda x: F.log_softmax(x, -1), "softmin": lambda x: F.softmin(x, 1),
    "exp": torch.exp, "sin": torch.sin, "erf": torch.erf, "abs": torch.abs, "rsqrt": lambda x: torch.rsqrt(x.abs() + 1),
    "power": lambda x: x**3, "clamp": lambda x: x.clamp(-0.5, 0.5), "atan": torch.atan, "log1p": lambda x: torch.log1p(x.abs()),
    "dropout": lambda x: F.dropout(x, 0.0, True),
}.items():  # fmt: skip
    of_op(name, function, "b,8")
of_op("prelu", F.prelu, "b,4,5", "4", of=(0, 1))
of_op("atan2", torch.atan2, "b,8", "b,8", of=(0, 1))
of_op("where", lambda x, y: torch.where(x > 0, x * y, y), "b,8", "b,8", of=(0, 1))
of_op("maximum", torch.maximum, "b,8", "b,8", of=(0, 1))
of_op("divide", lambda x, y: x / (y * y + 1), "b,8", "8", of=(0, 1))

# Layers
of_op("linear", F.linear, "b,8", WEIGHT, "6", of=(0, 1, 2))
of_op("linear_sequence", F.linear, "b,s,8", WEIGHT, "6", of=(0, 1, 2))
of_op("bilinear", F.bilinear, "b,4", "b,5", "6,4,5", of=(0, 1, 2))
of_op("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), "b,4,5", "b,6,5", of=(0, 1))
of_op("layer_norm", lambda x, w, b: F.layer_norm(x, (8,), w, b), "b,5,8", "8", "8", of=(0, 1, 2))
of_op("layer_norm_plain", lambda x: F.layer_norm(x, (5, 8)), "b,5,8")
of_op("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), "b,4,6,6", "4", "4", of=(0, 1, 2))
of_op(
    "batch_norm",
    lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    "b,4,6,6",
    "4",
    "4",
    of=(0, 1, 2),
)
of_op(
    "batch_norm_1d",
    lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True) ** 2,
    "b,4",
    "4",
    "4",
    of=(0, 1, 2),
)
of_op(
    "batch_norm_eval",
    lambda x, m, v, w, b: F.batch_norm(x, m, v.abs(), w, b),
    "b,4,6,6",
    "4",
    "4",
    "4",
    "4",
    of=(0, 3, 4),
)
of_op(
    "instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), "b,4,6,6", "4", "4", of=(0, 1, 2)
)
of_op("rms_norm", lambda x, w: F.rms_norm(x, (8,), w), "b,5,8", "8", of=(0, 1))
of_op("local_response_norm", lambda x: F.local_response_norm(x, 3), "b,4,6,6")
of_op("embedding", F.embedding, "b,4:i64", "10,8", of=1)
of_op("embedding_padding", lambda i, w: F.embedding(i, w, padding_idx=2), "b,4:i64", "10,8", of=1)
of_op("embedding_bag", lambda i, w: F.embedding_bag(i, w, mode="mean"), "b,4:i64", "10,8", of=1)

# Convolutions, pools and images
of_op("conv1d", F.conv1d, "b,4,10", "6,4,3", "6", of=(0, 1, 2))
of_op("conv2d", F.conv2d, "b,4,8,8", KERNEL, "6", of=(0, 1, 2))
of_op("conv2d_padded", lambda x, w: F.conv2d(x, w, padding=1), "b,4,8,8", KERNEL, of=(0, 1))
of_op(
    "conv2d_strided",
    lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1),
    "b,4,8,8",
    KERNEL,
    "6",
    of=(0, 1, 2),
)
of_op("conv2d_strided_odd", lambda x, w: F.conv2d(x, w, stride=2), "b,4,9,9", KERNEL, of=(0, 1))
of_op("conv2d_dilated", lambda x, w: F.conv2d(x, w, dilation=2, padding=2), "b,4,8,8", KERNEL, of=(0, 1))
of_op("conv2d_groups", lambda x, w: F.conv2d(x, w, groups=2, padding=1), "b,4,8,8", "6,2,3,3", of=(0, 1))
of_op("conv2d_depthwise", lambda x, w: F.conv2d(x, w, groups=4, padding=1), "b,4,8,8", "4,1,3,3", of=(0, 1))
of_op("conv2d_pointwise", F.conv2d, "b,4,8,8", "6,4,1,1", "6", of=(0, 1, 2))
of_op("conv2d_patches", lambda x, w: F.conv2d(x, w, stride=4), "b,3,8,8", "6,3,4,4", of=(0, 1))
of_op("conv3d", F.conv3d, "b,2,5,5,5", "3,2,3,3,3", of=(0, 1))
of_op("conv_transposed", F.conv_transpose2d, "b,4,5,5", "4,6,3,3", "6", of=(0, 1, 2))
of_op(
    "conv_transposed_strided",
    lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
    "b,4,5,5",
    "4,6,3,3",
    "6",
    of=(0, 1, 2),
)
of_op("max_pool", lambda x: F.max_pool2d(x, 2), "b,4,8,8")
of_op("max_pool_overlapping", lambda x: F.max_pool2d(x, 3, 2, 1), "b,4,8,8")
of_op("max_pool_1d", lambda x: F.max_pool1d(x, 2), "b,4,8")
of_op("avg_pool", lambda x: F.avg_pool2d(x, 2), "b,4,8,8")
of_op("avg_pool_padded", lambda x: F.avg_pool2d(x, 3, 2, 1), "b,4,8,8")
of_op("avg_pool_1d", lambda x: F.avg_pool1d(x, 2), "b,4,8")
of_op("adaptive_avg_pool", lambda x: F.adaptive_avg_pool2d(x, 2), "b,4,8,8")
of_op("adaptive_max_pool", lambda x: F.adaptive_max_pool2d(x, 2), "b,4,8,8")
of_op("global_avg_pool", lambda x: F.adaptive_avg_pool2d(x, 1), "b,4,8,8")
of_op("upsample_nearest", lambda x: F.interpolate(x, scale_factor=2), "b,3,4,4")
of_op("upsample_bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), "b,3,4,4")
of_op(
    "upsample_corners",
    lambda x: F.interpolate(x, size=(7, 7), mode="bilinear", align_corners=True),
    "b,3,4,4",
)
of_op("upsample_bicubic", lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), "b,3,4,4")
of_op(
    "grid_sample",
    lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False),
    "b,3,5,5",
    "b,4,4,2",
    of=(0, 1),
)
of_op("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), "b,8,3,3")
of_op("unfold", lambda x: F.unfold(x, 3), "b,3,6,6")
of_op("reflect_pad", lambda x: F.pad(x, (1, 1, 2, 1), mode="reflect"), "b,3,5,5")
of_op("replicate_pad", lambda x: F.pad(x, (1, 1, 2, 1), mode="replicate"), "b,3,5,5")
of_op("circular_pad", lambda x: F.pad(x, (1, 1, 1, 1), mode="circular"), "b,3,5,5")
of_op("zero_pad", lambda x: F.pad(x, (1, 1, 2, 1)), "b,3,5,5")

# Attention
of_op(
    "attention",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    "b,2,6,8",
    "b,2,6,8",
    "b,2,6,8",
    of=(0, 1, 2),
)
of_op(
    "attention_causal",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "b,2,6,8",
    "b,2,6,8",
    "b,2,6,8",
    of=(0, 1, 2),
)
of_op(
    "attention_masked",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
    "b,2,9,8",
    "b,2,9,8",
    "b,2,9,8",
    _MASK,
    of=(0, 1, 2),
)
of_op(
    "attention_biased",
    lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
    "b,2,6,8",
    "b,2,6,8",
    "b,2,6,8",
    "6,6",
    of=(0, 1, 2, 3),
)

# Indices, orders and sums
of_op("cumsum", lambda x: torch.cumsum(x, 1), "b,8")
of_op("cumprod", lambda x: torch.cumprod(x, 1), "b,8")
of_op("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), "b,8")
of_op("cummax", lambda x: torch.cummax(x, 1).values, "b,8")
of_op("sort", lambda x: torch.sort(x, 1).values, "b,8")
of_op("topk", lambda x: torch.topk(x, 3, 1).values, "b,8")
of_op("gather", lambda x, i: torch.gather(x, 1, i), "b,8", "b,3:i64")
of_op(
    "scatter",
    lambda x, i, y: torch.scatter(x, 1, i, y),
    "b,8",
    (torch.tensor([[0, 3, 5]] * 3), "b,3"),
    "b,3",
    of=(0, 2),
)
of_op("scatter_add", lambda x, i, y: torch.scatter_add(x, 1, i, y), "b,8", "b,3:i64", "b,3", of=(0, 2))
of_op("index", lambda x, i: x[:, i], "b,8", _TAKEN)
of_op("index_rows", lambda x, i: x[i], "7,8", "b:i64")
of_op("index_pairs", lambda x, i, j: x[i, j], "7,8,2", "b:i64", "b:i64")
of_op("index_select", lambda x, i: torch.index_select(x, 1, i), "b,8", _TAKEN)
of_op("index_add", lambda x, i, y: torch.index_add(x, 1, i, y), "b,8", _TAKEN, "b,4", of=(0, 2))
of_op("select", lambda x: x[:, 2], "b,8,3")
of_op("slice", lambda x: x[:, 1:7:2], "b,8,3")
of_op("slice_end", lambda x: x[:, -3:], "b,8,3")
of_op("flip", lambda x: torch.flip(x, (1,)), "b,8")
of_op("roll", lambda x: torch.roll(x, 2, 1), "b,8")
of_op("cat", lambda x, y: torch.cat([x, y], 1), "b,8", "b,3", of=(0, 1))
of_op("stack", lambda x, y: torch.stack([x, y], 1), "b,8", "b,8", of=(0, 1))
of_op("repeat", lambda x: x.repeat(1, 2), "b,8")
of_op("expand", lambda x, y: x * y.expand(x.shape), "b,8", "1,8", of=1)
of_op("diagonal", lambda x: torch.diagonal(x, dim1=1, dim2=2), "b,5,5")
of_op("tril", torch.tril, "b,5,5")
of_op("unfold_windows", lambda x: x.unfold(1, 3, 2), "b,9")
of_op("masked_fill", lambda x, m: x.masked_fill(m, 0.5), "b,8", "b,8:i1")
of_op("max_of_rows", lambda x: x.max(1, keepdim=True).values, "b,8")
of_op("amax", lambda x: x.amax(1, keepdim=True), "b,8")
of_op("median", lambda x: x.median(1, keepdim=True).values, "b,9")
of_op("product", lambda x: x.prod(1, keepdim=True), "b,8")
of_op("variance", lambda x: x.var(1, keepdim=True), "b,8")
of_op("standard_deviation", lambda x: x.std(1, keepdim=True), "b,8")
of_op("norm", lambda x: x.norm(dim=1, keepdim=True), "b,8")
of_op("norm_of_order_3", lambda x: torch.linalg.vector_norm(x, 3, dim=1, keepdim=True), "b,8")
of_op("normalise", lambda x: F.normalize(x, dim=1), "b,8")
of_op("logsumexp", lambda x: x.logsumexp(1, keepdim=True), "b,8")
of_op("cosine", lambda x, y: F.cosine_similarity(x, y, dim=1)[:, None], "b,8", "b,8", of=(0, 1))
of_op("cdist", lambda x, y: torch.cdist(x, y), "b,5,3", "b,4,3", of=(0, 1))
of_op("weight_norm", lambda x, v, g: x @ torch._weight_norm(v, g, 0).T, "b,8", "6,8", "6,1", of=(1, 2))

# Losses
gradient("grad_cross_entropy", lambda x, y: F.cross_entropy(x, y), "b,7", "b:i64")
gradient(
    "grad_cross_entropy_smoothed", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), "b,7", "b:i64"
)
gradient("grad_cross_entropy_weighted", lambda x, y, w: F.cross_entropy(x, y, w.abs()), "b,7", "b:i64", "7")
gradient("grad_cross_entropy_ignored", lambda x, y: F.cross_entropy(x, y, ignore_index=3), "b,7", "b:i64")
gradient("grad_cross_entropy_sum", lambda x, y: F.cross_entropy(x, y, reduction="sum"), "b,7", "b:i64")
gradient(
    "grad_cross_entropy_rows",
    lambda x, y: F.cross_entropy(x, y, reduction="none") * torch.arange(x.shape[0]),
    "b,7",
    "b:i64",
)
gradient("grad_cross_entropy_images", lambda x, y: F.cross_entropy(x, y % 5), "b,5,6,6", "b,6,6:i64")
gradient("grad_cross_entropy_chances", lambda x, y: F.cross_entropy(x, y.softmax(-1)), "b,7", "b,7")
gradient("grad_nll", lambda x, y: F.nll_loss(x, y), "b,7", "b:i64")
gradient("grad_mse", F.mse_loss, "b,7", "b,7")
gradient("grad_l1", F.l1_loss, "b,7", "b,7")
gradient("grad_huber", F.huber_loss, "b,7", "b,7")
gradient("grad_smooth_l1", F.smooth_l1_loss, "b,7", "b,7")
gradient("grad_binary", lambda x, y: F.binary_cross_entropy_with_logits(x, y.float()), "b,7", "b,7:i1")
gradient(
    "grad_binary_of_chances",
    lambda x, y: F.binary_cross_entropy(torch.sigmoid(x), y.float()),
    "b,7",
    "b,7:i1",
)
gradient(
    "grad_divergence",
    lambda x, y: F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean"),
    "b,7",
    "b,7",
    of=(0, 1),
)
gradient("grad_poisson", F.poisson_nll_loss, "b,7", "b,7")
gradient("grad_triplet", F.triplet_margin_loss, "b,7", "b,7", "b,7", of=(0, 1, 2))
gradient("grad_multi_margin", lambda x, y: F.multi_margin_loss(x, y), "b,7", "b:i64")
gradient("grad_soft_margin", lambda x, y: F.soft_margin_loss(x, y.float() * 2 - 1), "b,7", "b,7:i1")
gradient(
    "grad_linear_f16", lambda x, w: F.linear(x, w).relu().mean(), "b,8:f16", (r(6, 8).half(), ""), of=(0, 1)
)
