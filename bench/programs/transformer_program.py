"""A quantised transformer block (post-norm encoder layer) as linalg MLIR, and the same in NumPy.

    x f32 [S, D] -> int8 -> Q, K, V (int8 matmuls) -> heads -> softmax(Q K' / sqrt d) -> int8 -> times V -> int8
      -> output projection -> + x -> layer norm -> int8 -> up, bias, GELU -> int8 -> down, bias -> + -> layer norm

S is the sequence length, static or dynamic; every matmul has int8 operands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bench.programs.text.linalg_text import Function, Value

ACTIVATION_SCALE = 4.0 / 127
"""Real value of one int8 step of an activation: they are about standard normal, and clipped at 4."""

CHANCE_SCALE, CHANCE_ZERO = 1.0 / 255, -128
"""The softmax's results lie in 0..1: int8 with a zero point, as onnxruntime's quantiser has it."""

EPSILON = 1e-5
"""In the layer norm's root."""


@dataclass(frozen=True)
class TransformerBlock:
    """``arithmetic``: "integer" multiplies int8 into i32 and scales after; "float" dequantises both operands and
    multiplies in f32, as frontends write what they cannot prove. ``dynamic``: the module takes any S.
    """

    sequence: int = 32
    width: int = 64
    heads: int = 4
    hidden: int = 256
    arithmetic: str = "integer"
    dynamic: bool = False

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")
        if self.arithmetic not in ("integer", "float"):
            raise ValueError(f"no arithmetic '{self.arithmetic}': integer, float")

    @property
    def depth(self) -> int:
        """Columns of one head."""
        return self.width // self.heads

    def weight_scale(self, rows: int) -> float:
        """Real value of one int8 step of a weight, so that a sum over ``rows`` is as large as its terms."""
        return 1.0 / (74.0 * math.sqrt(rows))  # 74: standard deviation of -128..127

    @property
    def arguments(self) -> tuple[tuple[str, tuple[int | None, ...], str], ...]:
        """(name, shape, element type) in the order of the call; None is the dynamic sequence length."""
        s, d, h = None if self.dynamic else self.sequence, self.width, self.hidden
        return (
            ("x", (s, d), "f32"),
            *((name, (d, d), "i8") for name in ("w_q", "w_k", "w_v", "w_o")),
            ("w_up", (d, h), "i8"),
            ("w_down", (h, d), "i8"),
            ("b_up", (h,), "f32"),
            ("b_down", (d,), "f32"),
            *((name, (d,), "f32") for name in ("gamma_1", "beta_1", "gamma_2", "beta_2")),
        )

    def inputs(self, seed: int = 0) -> list[np.ndarray]:
        """Random arguments; gamma near 1, the rest of the floats standard normal or smaller."""
        generator = np.random.default_rng(seed)
        made = []
        for name, shape, element in self.arguments:
            dims = tuple(self.sequence if d is None else d for d in shape)
            if element == "i8":
                made.append(generator.integers(-128, 128, dims, dtype=np.int8))
            else:
                values = generator.standard_normal(dims) * (1.0 if name == "x" else 0.1)
                made.append((values + (1.0 if name.startswith("gamma") else 0.0)).astype(np.float32))
        return made

    @property
    def text(self) -> str:
        function = Function("main", self.arguments)
        x, w_q, w_k, w_v, w_o, w_up, w_down, b_up, b_down, g_1, b_1, g_2, b_2 = function.values
        taken = self._quantised(function, x)
        q, k, v = (self._quantised(function, self._projected(function, taken, w)) for w in (w_q, w_k, w_v))
        context = self._attention(function, q, k, v)
        attended = self._projected(function, self._quantised(function, context), w_o)
        first = self._normed(function, function.pointwise("arith.addf", [attended, x]), g_1, b_1)
        up = self._projected(function, self._quantised(function, first), w_up)
        up = function.pointwise("arith.addf", [up, b_up])
        down = self._projected(function, self._quantised(function, function.gelu(up)), w_down)
        down = function.pointwise("arith.addf", [down, b_down])
        return function.returning(
            self._normed(function, function.pointwise("arith.addf", [down, first]), g_2, b_2)
        )

    def _quantised(self, f: Function, x: Value) -> Value:
        return f.quantise(x, ACTIVATION_SCALE)

    def _projected(self, f: Function, x: Value, w: Value) -> Value:
        """x [S, rows] i8 times w [rows, columns] i8, in f32."""
        scale = self.weight_scale(w.dims[0])
        if self.arithmetic == "integer":
            return f.scaled(f.matmul(x, w, "i32"), ACTIVATION_SCALE * scale)
        return f.matmul(f.dequantise(x, ACTIVATION_SCALE), f.dequantise(w, scale), "f32")

    def _attention(self, f: Function, q: Value, k: Value, v: Value) -> Value:
        """[S, D] f32 from int8 [S, D] each."""
        by_head = [
            f.transpose(f.split_heads(value, self.heads), order)
            for value, order in ((q, (1, 0, 2)), (k, (1, 2, 0)), (v, (1, 0, 2)))
        ]
        shrink = 1.0 / math.sqrt(self.depth)
        if self.arithmetic == "integer":
            scores = f.scaled(f.matmul(*by_head[:2], "i32"), ACTIVATION_SCALE**2 * shrink)
            chances = f.quantise(f.softmax(scores), CHANCE_SCALE, CHANCE_ZERO)
            summed = f.quantised_matmul(chances, by_head[2], CHANCE_ZERO)
            context = f.scaled(summed, CHANCE_SCALE * ACTIVATION_SCALE)
        else:
            left, right, values = (f.dequantise(value, ACTIVATION_SCALE) for value in by_head)
            scores = f.scaled(f.matmul(left, right, "f32"), shrink)
            chances = f.dequantise(
                f.quantise(f.softmax(scores), CHANCE_SCALE, CHANCE_ZERO), CHANCE_SCALE, CHANCE_ZERO
            )
            context = f.matmul(chances, values, "f32")
        return f.merge_heads(f.transpose(context, (1, 0, 2)))

    def _normed(self, f: Function, x: Value, gamma: Value, beta: Value) -> Value:
        centred = f.pointwise("arith.subf", [x, f.scaled(f.row_sum(x), 1.0 / self.width)], per_row=True)
        spread = f.scaled(f.row_sum(f.pointwise("arith.mulf", [centred, centred])), 1.0 / self.width)
        even = f.divided_by_root(centred, spread, EPSILON)
        return f.pointwise("arith.addf", [f.pointwise("arith.mulf", [even, gamma]), beta])

    def reference(self, *arguments: np.ndarray) -> np.ndarray:
        """The same in float64, quantised in the same places: f32 [S, D] as float64."""
        x, w_q, w_k, w_v, w_o, w_up, w_down, b_up, b_down, g_1, b_1, g_2, b_2 = (
            a.astype(np.float64) for a in arguments
        )

        def projected(values: np.ndarray, w: np.ndarray) -> np.ndarray:
            return (_rounded(values, ACTIVATION_SCALE) @ w) * self.weight_scale(len(w))

        def heads(values: np.ndarray) -> np.ndarray:
            return (
                _rounded(values, ACTIVATION_SCALE)
                .reshape(len(values), self.heads, self.depth)
                .transpose(1, 0, 2)
            )

        q, k, v = (heads(projected(x, w)) for w in (w_q, w_k, w_v))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(self.depth)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        chances = _rounded(chances / chances.sum(-1, keepdims=True), CHANCE_SCALE, CHANCE_ZERO)
        context = (chances @ v).transpose(1, 0, 2).reshape(len(x), self.width)
        first = _norm(projected(context, w_o) + x, g_1, b_1)
        up = projected(first, w_up) + b_up
        gelu = 0.5 * up * (1.0 + np.vectorize(math.erf)(up / math.sqrt(2.0)))
        return _norm(projected(gelu, w_down) + b_down + first, g_2, b_2)


def _rounded(values: np.ndarray, scale: float, zero: int = 0) -> np.ndarray:
    """What is left of real values after int8, as real values."""
    return (np.clip(np.rint(values / scale) + zero, -128, 127) - zero) * scale


def _norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON) * gamma + beta
