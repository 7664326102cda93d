"""The table of programs, and the tensors that they are called with. Everything is seeded.

A tensor is written as its sizes and, unless it is f32, its element type: ``"b,s,8"``, ``"b,k:i64"``. A letter is a size that the call
decides; the tensors of one program that name it have it in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.func import functionalize, grad
from torch.fx.experimental.proxy_tensor import make_fx

SIZES = {"a": 3, "b": 3, "c": 4, "h": 12, "k": 4, "m": 5, "n": 9, "s": 9, "t": 7, "w": 14}
"""Letter -> its size in the call that is compared."""
SMALLEST = {"h": 4, "n": 4, "s": 4, "t": 4, "w": 4}
"""Letter -> what the exporter may take for granted; 2 for others."""
ELEMENTS = {
    "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32, "i8": torch.int8,
    "i1": torch.bool,
}  # fmt: skip
PROGRAMS: dict[str, tuple] = {}
"""Name -> (module, arguments, for each argument: dimension -> letter)."""
_RANDOM = torch.Generator().manual_seed(0)
torch.manual_seed(0)

Argument = str | tuple[torch.Tensor, str]


class Function(nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


class Traced(Function):
    """A function of tensors that computes gradients: what is exported of it is the graph of the ops that it runs, those of autograd too."""

    def __init__(self, function: Callable, mode: str = "real") -> None:
        super().__init__(function)
        self.mode = mode
        """How `make_fx` traces it where all sizes are known; only "symbolic" shows what a batch normalisation writes into its buffers."""

    def graph(self, arguments: Sequence[torch.Tensor], static: bool) -> Function:
        traced = make_fx(functionalize(self.function), tracing_mode=self.mode if static else "symbolic")
        return Function(traced(*arguments))


def r(*shape: int, element: str = "f32") -> torch.Tensor:
    """Random numbers around 0; integers from 0 to 6."""
    if element == "i1":
        return torch.randint(0, 2, shape, generator=_RANDOM).bool()
    if element.startswith("i"):
        return torch.randint(0, 7, shape, generator=_RANDOM, dtype=ELEMENTS[element])
    return torch.randn(*shape, generator=_RANDOM).to(ELEMENTS[element])


def add(name: str, module: nn.Module, *arguments: Argument) -> None:
    assert name not in PROGRAMS, name
    read = [_read(one) for one in arguments]
    PROGRAMS[name] = (module.eval(), tuple(value for value, _ in read), tuple(dims for _, dims in read))


def of(name: str, function: Callable, *arguments: Argument) -> None:
    add(name, Function(function), *arguments)


def gradient(name: str, loss: Callable, *arguments: Argument, of: int | tuple[int, ...] = 0) -> None:
    """The gradient of ``loss``, the sum of what it gives, with respect to the arguments ``of``."""
    add(name, Traced(grad(lambda *given: loss(*given).sum(), argnums=of)), *arguments)


def _read(argument: Argument) -> tuple[torch.Tensor, dict[int, str]]:
    if isinstance(argument, tuple):
        value, text = argument
        return value, {dim: one for dim, one in enumerate(text.split(",")) if one.isalpha()}
    sizes, _, element = argument.partition(":")
    listed = sizes.split(",")
    value = r(*(SIZES[one] if one.isalpha() else int(one) for one in listed), element=element or "f32")
    return value, {dim: one for dim, one in enumerate(listed) if one.isalpha()}
