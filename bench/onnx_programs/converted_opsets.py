"""Models of old opsets as fissile converts them, against the models as they are, both by onnxruntime; IREE takes no part.

    python -m bench.onnx_programs.converted_opsets

Each program of `attributes` is written in each opset from 7 to 13 that onnxruntime takes it in. Exit status 1 where a converted model computes
something else, or is not taken.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import onnx

from bench.onnx_programs import entries
from bench.onnx_programs.__main__ import tables

OPSETS = range(7, 14)


def computed(model: onnx.ModelProto, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """What onnxruntime computes. Raises what it raises."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = (one.name for one in model.graph.input)
    return [np.asarray(one) for one in session.run(None, dict(zip(names, arguments, strict=True)))]


def compared(name: str, opset: int) -> str:
    """How the converted model of a program in ``opset`` compares."""
    from fissile.pipelines.importers.onnx_child import raised

    try:
        model, arguments = entries.model_of(name, opset)
        wanted = computed(model, arguments)
    except Exception:  # whatever the onnx package and onnxruntime raise
        return "no such model"
    try:
        newer = raised(model)
    except Exception:
        return "not converted"
    try:
        found = computed(newer, arguments)
    except Exception:
        return "not taken"
    same = len(found) == len(wanted) and all(map(_same, found, wanted))
    return "right" if same else "wrong"


def _same(found: np.ndarray, wanted: np.ndarray) -> bool:
    if found.shape != wanted.shape:
        return False
    return np.allclose(found.astype(float), wanted.astype(float), rtol=1e-3, atol=1e-5, equal_nan=True)


def main() -> int:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    tables(forms=True)
    counts: Counter[str] = Counter()
    for name in entries.names():
        for opset in OPSETS:
            counts[verdict := compared(name, opset)] += 1
            if verdict in ("wrong", "not taken"):
                print(f"{verdict}: {name} in opset {opset}")
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts)))
    return 1 if counts["wrong"] or counts["not taken"] else 0


if __name__ == "__main__":
    sys.exit(main())
