"""Recurrent layers and attention."""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

import numpy as np

from .cases import attributes, case

# Recurrent layers
for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
    for d in ("forward", "reverse", "bidirectional"):
        n = 2 if d == "bidirectional" else 1
        w = dict(w=(n, gates * 5, 3), q=(n, gates * 5, 5), b=(n, gates * 10))
        outs = "y, h, c" if op == "LSTM" else "y, h"
        for tag, kw, more in (
            ("plain", {}, ""),
            ("init", {}, ", , h0" + (", c0" if op == "LSTM" else "")),
            ("lens", {}, ", l"),
            ("layout", dict(layout=1), ""),
            ("clip", dict(clip=0.4), ""),
            ("lbr", dict(linear_before_reset=1), ""),
            (
                "acts",
                dict(
                    activations=(
                        ["Sigmoid", "Relu", "Tanh"]
                        if op == "LSTM"
                        else ["Sigmoid", "Relu"]
                        if op == "GRU"
                        else ["Relu"]
                    )
                    * n
                ),
                "",
            ),
            ("forget", dict(input_forget=1), ""),
            ("peep", {}, ", , , , p"),
        ):
            if tag == "lbr" and op != "GRU" or tag in ("forget", "peep") and op != "LSTM":
                continue
            kw = dict(kw)
            acts = kw.pop("activations", None)
            written = attributes(hidden_size=5, direction=d, **kw)
            if acts:
                written = written[:-1] + ", activations=[" + ",".join(f'"{a}"' for a in acts) + "]>"
            extra = {}
            if "h0" in more:
                extra["h0"] = (n, 2, 5)
                if op == "LSTM":
                    extra["c0"] = (n, 2, 5)
            if ", l" in more:
                extra["l"] = np.array([4, 2], np.int32)
            if ", p" in more:
                extra["p"] = (n, 15)
            x = "float[2,4,3] x" if tag == "layout" else "float[4,2,3] x"
            case(f"{op}_{d}_{tag}", x, f"{outs} = {op}{written}(x, w, q, b{more})", opset=14, **w, **extra)
        case(
            f"{op}_{d}_nobias",
            "float[4,2,3] x",
            f"{outs} = {op}{attributes(hidden_size=5, direction=d)}(x, w, q)",
            opset=14,
            w=w["w"],
            q=w["q"],
        )
# Attention and others of opset 23
for i, (q, k) in enumerate((("2,3,4,6", "2,3,5,6"), ("2,4,3,6", "2,2,5,6"))):
    for causal in (0, 1):
        case(
            f"attention_{i}_{causal}",
            f"float[{q}] x, float[{k}] k, float[{k}] v",
            f"y = Attention<is_causal={causal}>(x, k, v)",
            opset=23,
        )
case(
    "attention_scale",
    "float[2,3,4,6] x, float[2,3,5,6] k, float[2,3,5,7] v",
    "y = Attention<scale=0.3, softcap=2.0>(x, k, v)",
    opset=23,
)
case(
    "attention_mask",
    "float[2,3,4,6] x, float[2,3,5,6] k, float[2,3,5,7] v, float[4,5] m",
    "y = Attention(x, k, v, m)",
    opset=23,
)
case(
    "attention_3d",
    "float[2,4,6] x, float[2,5,6] k, float[2,5,6] v",
    "y = Attention<q_num_heads=3, kv_num_heads=3>(x, k, v)",
    opset=23,
)
case("rmsnorm", "float[2,3,4] x", "y = RMSNormalization<axis=-1, epsilon=0.01>(x, s)", opset=23, s=(4,))
case("rmsnorm_1", "float[2,3,4] x", "y = RMSNormalization<axis=1, epsilon=0.01>(x, s)", opset=23, s=(3, 4))
for inter in (0, 1):
    case(
        f"rotary_{inter}",
        "float[2,3,5,8] x",
        f"y = RotaryEmbedding<interleaved={inter}>(x, c, s)",
        opset=23,
        c=(2, 5, 4),
        s=(2, 5, 4),
    )
    case(
        f"rotary_3d_{inter}",
        "float[2,5,24] x",
        f"y = RotaryEmbedding<interleaved={inter}, num_heads=3>(x, c, s)",
        opset=23,
        c=(2, 5, 4),
        s=(2, 5, 4),
    )
    case(
        f"rotary_part_{inter}",
        "float[2,3,5,8] x",
        f"y = RotaryEmbedding<interleaved={inter}, rotary_embedding_dim=4>(x, c, s)",
        opset=23,
        c=(2, 5, 2),
        s=(2, 5, 2),
    )
# Other functions of the gates, outputs that are left out, and sizes that the call decides.
ONE = {"b": (1, 10), "q": (1, 5, 5), "w": (1, 5, 3)}
THREE = {"b": (1, 30), "q": (1, 15, 5), "w": (1, 15, 3)}
FOUR = {"b": (1, 40), "q": (1, 20, 5), "w": (1, 20, 3)}
BOTH = {"b": (2, 30), "q": (2, 15, 5), "w": (2, 15, 3)}
case(
    "RNN_leaky",
    "float[4,2,3] x",
    'y, h = RNN<hidden_size=5, activations=["LeakyRelu"], activation_alpha=[0.1]>(x, w, q, b)',
    opset=14,
    **ONE,
)
case(
    "RNN_affine",
    "float[4,2,3] x",
    'y, h = RNN<hidden_size=5, activations=["Affine"], activation_alpha=[0.5], activation_beta=[0.2]>(x, w, q, b)',
    opset=14,
    **ONE,
)
case(
    "GRU_hard",
    "float[4,2,3] x",
    'y, h = GRU<hidden_size=5, activations=["HardSigmoid","Softsign"]>(x, w, q, b)',
    opset=14,
    **THREE,
)
case(
    "GRU_elu",
    "float[4,2,3] x",
    'y, h = GRU<hidden_size=5, activations=["Sigmoid","Elu"], activation_alpha=[0.7]>(x, w, q, b)',
    opset=14,
    **THREE,
)
case(
    "LSTM_clip_open",
    "float[s,b,3] x",
    "y, h, c = LSTM<hidden_size=5, clip=9.0>(x, w, q, b)",
    opset=14,
    **FOUR,
)
case(
    "LSTM_reverse_open",
    "float[s,b,3] x",
    'y, h, c = LSTM<hidden_size=5, direction="reverse">(x, w, q, b)',
    opset=14,
    **FOUR,
)
case(
    "LSTM_reverse_long",
    "float[70,2,3] x",
    'y, h, c = LSTM<hidden_size=5, direction="reverse">(x, w, q, b)',
    opset=14,
    **FOUR,
)
case(
    "GRU_reverse_open",
    "float[s,b,3] x",
    'y, h = GRU<hidden_size=5, direction="reverse">(x, w, q, b)',
    opset=14,
    **THREE,
)
case(
    "GRU_long_lens",
    "float[70,2,3] x, int32[2] n",
    'y, h = GRU<hidden_size=5, direction="bidirectional">(x, w, q, b, n)',
    opset=14,
    given={"n": np.array([66, 31])},
    **BOTH,
)
