"""The models of a sweep: ONNX's own operator tests, as many as wanted, spread over all operators."""

from __future__ import annotations

import contextlib
import hashlib
import io
import warnings
from pathlib import Path


def onnx_cases(limit: int) -> list:
    """ONNX's own operator tests, with their arguments and results: at most ``limit``, evenly spread over their sorted names; 0: all."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        from onnx.backend.test import loader

        cases = [case for case in loader.load_model_tests(kind="node") if case.model is not None]
    cases.sort(key=lambda case: case.name)
    step = max(1.0, len(cases) / limit) if limit else 1.0
    return [cases[int(n * step)] for n in range(int(len(cases) / step))]


def onnx_models(folder: Path, limit: int) -> list[Path]:
    """Writes at most ``limit`` operator tests to ``folder``, evenly spread over their sorted names; those that are there stay.

    They come in an order that has nothing to do with the names: what a stopped sweep has done is a fair sample.
    """
    made = folder / "all"
    if not limit and made.exists():
        return [folder / f"{name}.onnx" for name in made.read_text().split()]
    import onnx

    cases = {case.name: case for case in onnx_cases(limit)}
    chosen = list(cases)
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        if not (folder / f"{name}.onnx").exists():
            onnx.save(cases[name].model, folder / f"{name}.onnx")
    mixed = sorted(chosen, key=lambda name: hashlib.sha256(name.encode()).digest())
    if not limit:
        made.write_text("\n".join(mixed))
    return [folder / f"{name}.onnx" for name in mixed]
