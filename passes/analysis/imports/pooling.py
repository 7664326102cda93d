"""The windows of an ONNX pool along each dimension of its image."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of

from .onnx_values import sizes_of

_ATTRIBUTE = "torch.onnx."


@dataclass(frozen=True)
class Windows:
    """Of one dimension of ``size`` elements: how many elements a window has, and how it moves; ``before`` and ``after`` are padded."""

    size: int
    elements: int
    step: int
    dilation: int
    before: int
    after: int

    @property
    def extent(self) -> int:
        return self.dilation * (self.elements - 1) + 1

    def excess(self, count: int) -> int:
        """How many elements the last of ``count`` windows reaches behind what is padded."""
        return (count - 1) * self.step + self.extent - (self.before + self.size + self.after)


def windows_of(pool: ir.Operation) -> list[Windows] | None:
    """Those of ``pool`` with the paddings that it names; None where a size is not known."""
    sizes, elements = sizes_of(pool.operands[0]), _integers(pool, "kernel_shape")
    if (
        sizes is None
        or elements is None
        or None in sizes
        or text_of(pool, f"{_ATTRIBUTE}auto_pad") not in ("", "NOTSET")
    ):
        return None
    rank = len(elements)
    steps, dilations = (_integers(pool, name) or [1] * rank for name in ("strides", "dilations"))
    paddings = _integers(pool, "pads") or [0] * 2 * rank
    return [
        Windows(int(size or 0), elements[n], steps[n], dilations[n], paddings[n], paddings[n + rank])
        for n, size in enumerate(sizes[2:])
    ]


def has_partial_windows(pool: ir.Operation) -> bool:
    """Whether ``pool`` rounds the number of its windows up, and IREE 3.13 divides the last of a dimension by too many elements.

    That is where they reach behind the image and its padding; by one element only if the padding counts (measured on all pools
    of up to 9 elements: `tests/py/importers/test_left_out.py`).
    """
    if not _is_set(pool, "ceil_mode"):
        return False
    allowed = 0 if _is_set(pool, "count_include_pad") or text_of(pool, "name") != "onnx.AveragePool" else 1
    windows, counts = windows_of(pool), sizes_of(pool.results[0])
    if windows is None or counts is None or len(counts) != len(windows) + 2:
        return False
    return any(
        count is not None and one.excess(count) > allowed
        for one, count in zip(windows, counts[2:], strict=True)
    )


def _is_set(pool: ir.Operation, name: str) -> bool:
    held = attribute(pool, f"{_ATTRIBUTE}{name}")
    return held is not None and ir.IntegerAttr(held).value != 0


def _integers(op: ir.Operation, name: str) -> list[int] | None:
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return [ir.IntegerAttr(one).value for one in held] if isinstance(held, ir.ArrayAttr) else None
