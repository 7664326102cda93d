"""ONNX's own operator tests as programs with their expected results, for `python -m bench.jax_programs run`.

    python -m bench.legality_sweep.operator_results FOLDER [--limit 300]
    python -m bench.jax_programs run FOLDER --target llvm-cpu

Each test that IREE's importer accepts becomes a program, imported as IREE's own tool does it, and its arguments and results. Tests with
elements that NumPy has no type for (bf16, 8-bit floats, strings) are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from .models import onnx_cases

KINDS = "biuf"
"""Of NumPy's types: booleans, integers, floats."""
DRAWS = ("bernoulli", "random", "dropout")
"""Tests whose expected results are other draws."""


def write(folder: Path, limit: int) -> tuple[int, int]:
    """How many programs there are now, and how many tests were left out; ``limit`` 0 takes all, else evenly spread ones."""
    chosen = onnx_cases(limit)
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for case in chosen:
        arrays = _arrays(case)
        text = _imported(case.model) if arrays and not any(word in case.name for word in DRAWS) else None
        if text is None or not arrays:
            continue
        (folder / f"{case.name}.mlir").write_text(text)
        np.savez(folder / f"{case.name}.npz", **arrays)
        written += 1
    return written, len(chosen) - written


def _arrays(case) -> dict[str, np.ndarray]:
    """The first arguments and results of a test; none where one of them is no tensor of ``KINDS``."""
    from onnx import numpy_helper

    found: dict[str, np.ndarray] = {}
    for name, values in zip(("in", "out"), case.data_sets[0], strict=True):
        for number, value in enumerate(values):
            is_proto = hasattr(value, "SerializeToString")
            try:
                array = np.asarray(numpy_helper.to_array(value) if is_proto else value)
            except (TypeError, ValueError):
                return {}
            if array.dtype.kind not in KINDS or array.dtype.isbuiltin != 1:
                return {}
            found[f"{name}{number}"] = array
    return found


def _imported(model) -> str | None:
    """The model as IREE's importer writes it, with its function called main; None where it is refused."""
    import onnx
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer

    model.graph.name = "main"
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        module = onnx_importer.ModelInfo(inferred).create_module(context=ir.Context()).operation
        info = onnx_importer.ModelInfo(inferred)
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    except (onnx_importer.OnnxImportError, onnx.shape_inference.InferenceError, KeyError, ValueError):
        return None
    return str(module)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="how many tests, evenly spread; 0: all")
    chosen = parser.parse_args()
    written, left_out = write(chosen.folder, chosen.limit)
    print(f"{written} programs in {chosen.folder}; {left_out} tests left out")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
