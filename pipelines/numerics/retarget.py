"""Run a module that was prepared for a target which is not here: give it the target of this processor.

After global optimisation a module still is tensor code; only its device attribute names the target. With another
device attribute the same module, boundaries included, compiles for llvm-cpu.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from fissile.errors import InternalError, UsageError
from fissile.passes.iree.ops import DEVICE_GLOBAL_ATTRIBUTE
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DEVICES_ASSIGNED_AT
from fissile.passes.iree.runtime_flags import FLAGS_BY_BACKEND

from ..process.scratch import scratch
from .build import compile_stock

_TRIVIAL = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|[<>]')


def retarget(module_text: str, backend: str = "llvm-cpu") -> str:
    """``module_text`` (any phase from device assignment to dispatch creation) with ``backend``'s device everywhere.

    ``backend`` is llvm-cpu (this processor) or vmvx. `UsageError` where the module names no device.
    """
    spans = _device_spans(module_text)
    if not spans:
        raise UsageError(
            "the module names no device, so it cannot be given another one",
            f"give the module as it is after phase {DEVICES_ASSIGNED_AT} or {BOUNDARIES_PLACED_AT}",
        )
    device, parts, end = device_attribute(backend), [], 0
    for start, stop in spans:
        parts += [module_text[end:start], device]
        end = stop
    return "".join([*parts, module_text[end:]])


@cache
def device_attribute(backend: str) -> str:
    """The device attribute that IREE gives a module for ``backend``, read from a trivial module; cached per process."""
    with scratch() as folder:
        source, output = Path(folder, "trivial.mlir"), Path(folder, "assigned.mlir")
        source.write_text(_TRIVIAL)
        refused = compile_stock(
            source, output, [*FLAGS_BY_BACKEND[backend], f"--compile-to={DEVICES_ASSIGNED_AT}"]
        )
        text = "" if refused else output.read_text(encoding="utf-8")
    spans = _device_spans(text)
    if not spans:
        raise InternalError(f"IREE assigns no device for {backend}", refused.message if refused else "")
    return text[slice(*spans[0])]


def _device_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each device attribute. Brackets count, and those inside strings do not."""
    spans, at = [], text.find(DEVICE_GLOBAL_ATTRIBUTE)
    while at >= 0:
        depth = 0
        for token in _TEXT.finditer(text, at):
            # `->` occurs in types only, and no type stands in a device attribute.
            depth += {"<": 1, ">": -1}.get(token[0], 0)
            if token[0] == ">" and depth == 0:
                spans.append((at, token.end()))
                break
        else:
            break
        at = text.find(DEVICE_GLOBAL_ATTRIBUTE, spans[-1][1])
    return spans
