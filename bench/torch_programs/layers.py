"""Layers of PyTorch with dynamic sizes: attention, convolutions, norms, pools, recurrent layers, quantised products.

For `bench.torch_programs`; needs PyTorch, which is no dependency of fissile.
"""

# ruff: noqa: E501, E702, E731, E741 (one line for each program)
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .entries import add, of


class Attention(nn.Module):
    def __init__(self, causal=False, heads=4, width=32):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.enter, self.leave = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.enter(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.leave(y.transpose(1, 2).reshape(b, t, d))


def masked(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def by_hand(q, k, v):
    scores = (q @ k.transpose(-1, -2)) / 4.0
    mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ v


def rotated(x):
    angles = torch.outer(
        torch.arange(x.shape[1], dtype=torch.float32), 1.0 / (100 ** (torch.arange(0, 8) / 8))
    )
    c, s = angles.cos(), angles.sin()
    a, b = x[..., :8], x[..., 8:]
    return torch.cat([a * c - b * s, a * s + b * c], -1)


def quantised_by_row(x, w):
    scale = x.abs().amax(-1, keepdim=True) / 127
    xi = (x / scale).round().clamp(-128, 127).to(torch.int8)
    return (xi.to(torch.int32) @ w.to(torch.int32)).float() * scale


of("layer_norm", lambda x: F.layer_norm(x, (8,)), "b,s,8")
add("linear", nn.Linear(16, 8), "b,16")
add("linear_seq", nn.Linear(16, 8), "b,s,16")
add("mlp_gelu", nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 8)), "b,16")
add("attention", Attention(), "b,s,32")
add("attention_causal", Attention(True), "b,s,32")
add("attention_batch", Attention(True), "b,9,32")
of(
    "attention_masked",
    masked,
    "b,4,s,16",
    "b,4,s,16",
    "b,4,s,16",
    (torch.ones(3, 1, 9, 9, dtype=torch.bool).tril(), "b,_,s,s"),
)
of("attention_cross", F.scaled_dot_product_attention, "b,4,s,16", "b,4,t,16", "b,4,t,16")
of("attention_manual", by_hand, "b,4,s,16", "b,4,s,16", "b,4,s,16")
add("encoder_layer", nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval(), "b,s,32")
add("embedding", nn.Embedding(50, 16), "b,s:i64")
of("rope", rotated, "b,s,16")
of("positions", lambda x: x + torch.arange(x.shape[1], dtype=torch.float32)[None, :, None], "b,s,16")
add("conv1d_seq", nn.Conv1d(8, 16, 3, padding=1), "b,8,s")
add("conv2d_batch", nn.Conv2d(3, 8, 3, padding=1), "b,3,12,12")
add("conv2d_hw", nn.Conv2d(3, 8, 3, padding=1), "b,3,h,w")
add("conv2d_stride", nn.Conv2d(3, 8, 3, stride=2, padding=1), "b,3,12,12")
add("conv2d_grouped", nn.Conv2d(8, 16, 3, groups=4), "b,8,12,12")
add("conv2d_depthwise", nn.Conv2d(8, 8, 3, groups=8, padding=1), "b,8,12,12")
add("conv2d_depthwise_hw", nn.Conv2d(8, 8, 3, groups=8, padding=1), "b,8,h,w")
add(
    "conv_bn_relu",
    nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)).eval(),
    "b,3,12,12",
)
add("conv_transpose", nn.ConvTranspose2d(4, 6, 3, stride=2), "b,4,7,7")
add("conv_transpose_hw", nn.ConvTranspose1d(4, 6, 4, stride=2), "b,4,s")
add("maxpool_hw", nn.MaxPool2d(3, 2, 1), "b,3,h,w")
add("avgpool_hw", nn.AvgPool2d(2), "b,3,12,14")
add("avgpool1d_seq", nn.AvgPool1d(3, 1, 1), "b,3,s")
add("adaptive_pool", nn.AdaptiveAvgPool2d(1), "b,3,h,w")
add("adaptive_pool_b", nn.AdaptiveAvgPool2d((3, 3)), "b,3,12,14")
add("group_norm", nn.GroupNorm(2, 8), "b,8,6,6")
add("group_norm_hw", nn.GroupNorm(2, 8), "b,8,h,w")
add("instance_norm", nn.InstanceNorm2d(8), "b,8,h,w")
of("upsample_nearest", lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), "b,3,h,w")
of(
    "upsample_bilinear",
    lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False),
    "b,3,6,7",
)
of(
    "resize_bilinear",
    lambda x: F.interpolate(x, size=(12, 12), mode="bilinear", align_corners=False),
    "b,3,6,7",
)
add("lstm_batch", nn.LSTM(8, 16, batch_first=True), "b,5,8")
add("gru_batch", nn.GRU(8, 16, batch_first=True), "b,5,8")
of("kv_append", lambda c, k: (torch.cat([c, k], 2), (torch.cat([c, k], 2) * 2).sum(2)), "b,4,s,8", "b,4,1,8")
of("chunk_swiglu", lambda x: F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1], "b,s,8")
of(
    "masked_mean",
    lambda x, m: (x * m[..., None].float()).sum(1) / m.float().sum(1, keepdim=True).clamp(min=1),
    "b,s,8",
    "b,s:i1",
)
of(
    "gqa_repeat",
    lambda x: x[:, :, None].expand(-1, -1, 2, -1, -1).reshape(x.shape[0], 8, x.shape[2], 16),
    "b,4,s,16",
)
of("int8_linear", lambda x, w, s: x @ (w.to(torch.float32) * s), "b,64", "64,32:i8", "32")
of("dyn_quant_linear", quantised_by_row, "b,64", "64,32:i8")
of("int8_conv", lambda x, w: F.conv2d((x.float() - 3) * 0.1, w), "b,3,12,12:i8", "8,3,3,3")
of("int8_conv_hw", lambda x, w: F.conv2d((x.float() - 3) * 0.1, w), "b,3,h,w:i8", "8,3,3,3")
of("f16_linear", lambda x, w: x @ w, "b,64:f16", "64,32:f16")
of("bf16_linear", lambda x, w: x @ w, "b,64:bf16", "64,32:bf16")
of("rms_norm", lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-06), "b,s,64")
of("glu", lambda x: F.glu(x, -1), "b,s,64")
of("conv1d_causal", lambda x, w: F.conv1d(F.pad(x, (2, 0)), w), "b,4,s", "4,4,3")
of(
    "moe_mask",
    lambda x, gt, w: torch.einsum("be,bd,edf->bf", torch.softmax(gt, -1), x, w),
    "b,8",
    "b,3",
    "3,8,6",
)
of("addmm", lambda b, x, w: torch.addmm(b, x, w), "6", "b,8", "8,6")
of(
    "patches",
    lambda x: x.view(x.shape[0], 3, 3, 4, 3, 4).permute(0, 2, 4, 1, 3, 5).reshape(x.shape[0], 9, 48),
    "b,3,12,12",
)
of("cls_token", lambda x, c: torch.cat([c.expand(x.shape[0], -1, -1), x], 1), "b,s,8", "1,1,8")
of("layer_norm_dyn", lambda x: F.layer_norm(x, x.shape[1:]), "b,s,8")
of(
    "triu_indices_mask",
    lambda x: x + torch.triu(torch.full((x.shape[1], x.shape[1]), float("-inf")), 1),
    "b,s,s",
)
of("embedding_bag", lambda w, i: F.embedding(i, w).mean(1), "50,8", "b,s:i64")
