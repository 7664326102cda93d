"""From a JAX function to numbers: a training step with donated parameters, exported, compiled, run five times, compared with JAX.

pip install jax; python examples/walk_jax.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import fissile

STEPS, RATE, KEPT = 5, 0.1, 0.9


def loss(weights: jax.Array, image: jax.Array, label: jax.Array) -> jax.Array:
    return jnp.mean((jnp.tanh(image @ weights) - label) ** 2)


def step(
    weights: jax.Array, speed: jax.Array, image: jax.Array, label: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The next weights and momentum, written over the old ones, and the square of the old weights."""
    slope = jax.grad(loss)(weights, image, label)
    return weights - RATE * (slope + KEPT * speed), KEPT * speed + slope, jnp.sum(weights * weights)


def main() -> int:
    draw = np.random.default_rng(0)
    weights = draw.standard_normal((16, 16), dtype=np.float32)
    image, label = draw.standard_normal((2, 8, 16), dtype=np.float32)
    start = (weights, weights * np.float32(0.5))
    donated = jax.jit(step, donate_argnums=(0, 1))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "step.mlirbc")
        file.write_bytes(jax.export.export(donated)(*start, image, label).mlir_module_serialized)
        made = fissile.compile(file, target="llvm-cpu")
        stock = fissile.compile(file, target="llvm-cpu", flags=["--repair=off", "--allow-wrong-numbers"])
    for finding in made.findings:
        print(f"fissile: {finding.severity.value} {finding.code}: {finding.message}")
    theirs, ours, wrong = (*start, None), (*start, None), (*start, None)
    for _ in range(STEPS):
        theirs = jax.jit(step)(*theirs[:2], image, label)
        ours = made.run(*ours[:2], image, label)
        wrong = stock.run(*wrong[:2], image, label)
    print(
        f"numbers after {STEPS} steps: at most {_apart(ours, theirs):.1e} of the largest from JAX's; stock IREE's {_apart(wrong, theirs):.1e}"
    )
    return 0 if made.repaired and _apart(ours, theirs) < 1e-3 < _apart(wrong, theirs) else 1


def _apart(ours: tuple[np.ndarray, ...], theirs: tuple[jax.Array, ...]) -> float:
    pairs = zip(ours, map(np.asarray, theirs), strict=True)
    return max(float(np.abs(one - other).max() / np.abs(other).max()) for one, other in pairs)


if __name__ == "__main__":
    sys.exit(main())
