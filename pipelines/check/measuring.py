"""Every dispatch of a program, predicted and with code generated: how far do the two agree?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.iree.backends import BACKENDS
from fissile.passes.iree.targets import flags_for
from fissile.target import Target

from ..probe.dispatch_check import is_calibrated
from ..probe.probe_pool import ProbePool
from ..process.scratch import scratch
from .entry import CheckRun
from .measured import Measured


def measure(
    source: str | os.PathLike, target: Target, *, flags: Sequence[str] = (), dispatch_timeout: float = 30.0
) -> list[Measured]:
    """Every different dispatch of ``source`` on ``target``, predicted and probed.

    Code is generated up to LLVM or SPIR-V. Raises PhaseFailed where IREE forms no dispatches.
    """
    one = CheckRun(Path(source), [target], tuple(flags), "all", dispatch_timeout)
    with scratch() as folder, ProbePool((*flags, *flags_for(target)), dispatch_timeout) as pool:
        shared, _signatures_ = one.share(folder / "shared.mlirbc")
        formed = one.form(target, shared)
        different = list({d.fingerprint: d for d in reversed(formed.dispatches)}.values())[::-1]
        known = [d for d in different if d.target.backend in BACKENDS]
        results = dict(zip(map(id, known), pool.probe_all(known), strict=True))
        return [
            Measured(d, predict(read_configured(d)), results.get(id(d)), is_calibrated(d, formed.ops))
            for d in different
        ]
