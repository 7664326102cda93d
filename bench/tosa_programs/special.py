"""Floats that are no numbers, infinite, or zero with a sign."""

from __future__ import annotations

import numpy as np

from .elementwise import BINARY, SPEC, UNARY, _float, cast, wide
from .entries import ELEMENTS, op
from .reducing import windows

VALUES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0]
COMPARISONS = {"equal": np.equal, "greater": np.greater, "greater_equal": np.greater_equal}
with np.errstate(all="ignore"):
    for element in SPEC:
        line = np.array(VALUES).astype(ELEMENTS[element])
        for name, (function, _low, _high) in UNARY.items():
            op(f"{name}_special_{element}", [line[None]], _float(function, element), name)
        column, row = np.repeat(line[:, None], len(line), 1), line[None]
        for name, function in BINARY.items():
            op(f"{name}_special_{element}", [column, row], _float(function, element), name)
        for name, function in COMPARISONS.items():
            op(f"{name}_special_{element}", [column, row], function, name)
        held = f"max_val = 1.0 : {element}, min_val = -1.0 : {element}"
        op(
            f"clamp_special_{element}",
            [row],
            lambda x: np.clip(wide(x), -1, 1).astype(x.dtype),
            "clamp",
            held,
        )
        held = f"max_val = 0x{np.array(np.inf, ELEMENTS[element]).view(f'u{line.itemsize}').item():X} : {element}, min_val = 0.0 : {element}"
        op(
            f"clamp_unbounded_{element}",
            [row],
            lambda x: np.where(np.isnan(wide(x)), np.nan, np.maximum(wide(x), 0)).astype(x.dtype),
            "clamp",
            held,
        )
        op(f"cast_special_{element}_i1", [row], lambda x: cast(x, "i1"), "cast")
        for target in {*SPEC} - {element}:
            op(f"cast_special_{element}_{target}", [row], lambda x, t=target: cast(x, t), "cast")
        rows = np.stack(
            [
                np.full(4, -np.inf),
                np.full(4, np.inf),
                [-np.inf, -np.inf, -np.inf, -2.0],
                [np.inf, 1.0, np.inf, np.inf],
            ]
        ).astype(ELEMENTS[element])
        for name, function in (("max", np.max), ("min", np.min), ("sum", np.sum), ("product", np.prod)):
            held = "axis = 1 : i32"
            op(
                f"reduce_{name}_special_{element}",
                [rows],
                lambda x, f=function: f(wide(x), 1, keepdims=True).astype(x.dtype),
                f"reduce_{name}",
                held,
            )
            if name in ("max", "min"):
                for mode in ("PROPAGATE", "IGNORE"):
                    op(
                        f"reduce_{name}_special_{element}_{mode}",
                        [rows],
                        lambda x, f=function: f(wide(x), 1, keepdims=True).astype(x.dtype),
                        f"reduce_{name}",
                        f"{held}, nan_mode = #tosa.nan_mode<{mode}>",
                    )
        image = np.full((1, 4, 4, 2), -np.inf).astype(ELEMENTS[element])
        image[0, 2:, 2:, 1] = 1.0
        for pad in ((0, 0, 0, 0), (1, 1, 1, 1)):
            held = f"kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: {', '.join(map(str, pad))}>"
            op(
                f"max_pool_special_{element}_{pad[0]}",
                [image],
                lambda x, p=pad: windows(wide(x), (2, 2), (2, 2), p, -np.inf)[0].max(-1).astype(x.dtype),
                "max_pool2d",
                held,
            )
rows = np.array([[-np.inf, -np.inf, -np.inf], [-np.inf, 1.0, -np.inf]], np.float32)
op(
    "reduce_max_special_open",
    [rows],
    lambda x: x.max(1, keepdims=True),
    "reduce_max",
    "axis = 1 : i32",
    open_sizes=True,
)
