"""What has to be so around a command for it to report some findings (`fissile.rules.shown.Shown.setting`)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import pytest
from planted_faults import functions, planted

from fissile.passes.analysis.memory.predict import predict
from fissile.passes.analysis.memory.prediction import Prediction
from fissile.passes.analysis.memory.tiles import ConfiguredDispatch
from fissile.passes.analysis.storage import smt
from fissile.passes.iree import version
from fissile.pipelines.check import dispatch_findings
from fissile.pipelines.reduce import reduced_again


class Patched(pytest.MonkeyPatch):
    """One attribute, replaced until the end of a block."""

    def __init__(self, owner: object, name: str, value: object) -> None:
        super().__init__()
        self._change = (owner, name, value)

    def __enter__(self) -> None:
        self.setattr(*self._change)

    def __exit__(self, *_error: object) -> None:
        self.undo()


def one_less(configured: ConfiguredDispatch) -> Prediction:
    """The prediction for a dispatch without its last buffer."""
    whole = predict(configured)
    return replace(whole, buffers=whole.buffers[:-1])


SETTINGS: dict[str, Callable[[], AbstractContextManager]] = {
    "z3 is not installed": lambda: Patched(smt, "available", lambda: False),
    "a version of IREE is installed that fissile was not calibrated on": lambda: Patched(
        version, "installed", lambda: "3.99.0"
    ),
    "fissile's prediction leaves out a buffer": lambda: Patched(dispatch_findings, "predict", one_less),
    "the iree-compile that is installed builds the reduced program": lambda: Patched(
        reduced_again, "_compiled", lambda *_program: (0, "")
    ),
    "a check of fissile throws an error": lambda: planted(
        functions()["passes.analysis.dispatch.recomputation.recomputed_producers"]
    ),
    "fissile throws an error outside of every single check": lambda: planted(
        functions()["pipelines.compile.guarded_compile.GuardedCompile.run"]
    ),
}


def settled(setting: str) -> AbstractContextManager:
    """The surroundings that a page calls ``setting``; "" for none."""
    return SETTINGS[setting]() if setting else nullcontext()
