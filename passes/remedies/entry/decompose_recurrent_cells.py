"""One step of a recurrent layer as products, sums and gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy
from .layers import recurrent_steps as steps

_LISTED = "torch.prim.ListConstruct"
_KINDS = {f"aten.{kind}_cell": kind for kind in steps.GATES}


@register_pass
@dataclass(frozen=True)
class DecomposeRecurrentCells(FrontEndRemedy):
    """Writes `aten.lstm_cell`, `aten.gru_cell` and `aten.rnn_*_cell` as torch.nn documents them.

    The torch dialect of IREE 3.13 has none of them. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-recurrent-cells"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.lstm_cell`, `aten.gru_cell` and `aten.rnn_*_cell` with products, sums and gates (in the input)"
    )
    repairs: ClassVar[str] = "the cells of recurrent layers, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as products, sums and gates"
    advice: ClassVar[str] = "rewrite it as products, sums and gates"

    def fits(self, op: ir.Operation) -> bool:
        kind = _KINDS.get(torch.front_end_name(op))
        if kind is None or len(op.operands) != 6:
            return False
        states = _states(op)
        if len(states) != len(op.results):
            return False
        values = (op.operands[0], *states, *op.operands[2:4])
        types = [found for one in values if (found := torch.TensorType.of(one)) is not None]
        given = [one for one in op.operands[4:] if not torch.is_none(one)]
        biases = [found for one in given if (found := torch.TensorType.of(one)) is not None]
        elements = {one.element for one in (*types, *biases)}
        known = len(types) == len(values) and len(biases) == len(given)
        return known and len(elements) == 1 and elements < steps.FLOATS and steps.is_step(kind, types, biases)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        kind, states = _KINDS[torch.front_end_name(op)], _states(op)
        type_ = steps.type_of(states[0])
        assert type_.shape[-1] is not None
        wide = type_.with_size(len(type_.shape) - 1, steps.GATES[kind] * type_.shape[-1])
        value, _hidden, w_in, w_hidden, b_in, b_hidden = op.operands
        product = torch.apply("aten.linear", [value, w_in, b_in], wide)
        return steps.step(kind, product, states, w_hidden, b_hidden)


def _states(op: ir.Operation) -> list[ir.Value]:
    """The values that the cell carries: a list of two for an LSTM. Empty where the list is not made in the program."""
    state = op.operands[1]
    if torch.front_end_name(op) != "aten.lstm_cell":
        return [state]
    owner = state.owner
    made = not isinstance(owner, ir.Block) and owner.name == _LISTED
    return list(owner.operands) if made else []
