"""Whole recurrent layers: what stock refuses enters, and computes what torch.nn documents."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, entered

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
REMEDY = "fissile-decompose-recurrent-layers"
LENGTH, WIDTH, FEATURES = 2, 3, 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tensor(*sizes):
    return f"!torch.vtensor<[{','.join(map(str, sizes))}],f32>"


def shapes_of(kind, layers, directions, biased, projected):
    """Those of the weights, in torch's order."""
    rows, hidden = GATES[kind] * WIDTH, projected or WIDTH
    shapes = []
    for layer in range(layers):
        features = hidden * directions if layer else FEATURES
        for _ in range(directions):
            shapes += [(rows, features), (rows, hidden), *([(rows,)] * 2 if biased else [])]
            shapes += [(WIDTH, hidden)[::-1]] if projected else []
    return shapes


def program(kind, layers, directions, biased, batch_first, projected=0, length=LENGTH, batch="?"):
    hidden, count = projected or WIDTH, layers * directions
    states = [tensor(count, batch, hidden), *([tensor(count, batch, WIDTH)] if kind == "lstm" else [])]
    weights = [tensor(*shape) for shape in shapes_of(kind, layers, directions, biased, projected)]
    order = (batch, length) if batch_first else (length, batch)
    value, results = tensor(*order, FEATURES), [tensor(*order, hidden * directions), *states]
    named = [("%x", value), *((f"%s{k}", type_) for k, type_ in enumerate(states))]
    named += [(f"%w{k}", type_) for k, type_ in enumerate(weights)]

    def listed(prefix, types):
        names = ", ".join(f"%{prefix}{k}" for k in range(len(types)))
        return f"%{prefix} = torch.prim.ListConstruct {names} : ({', '.join(types)}) -> !torch.list<vtensor>"

    state, state_type = ("%s", "!torch.list<vtensor>") if kind == "lstm" else ("%s0", states[0])
    made = ", ".join(results)
    return f"""
func.func @main({", ".join(f"{name}: {type_}" for name, type_ in named)}) -> ({made}) {{
  {listed("s", states)}
  {listed("w", weights)}
  %biased = torch.constant.bool {str(biased).lower()}
  %layers = torch.constant.int {layers}
  %dropped = torch.constant.float 0.5
  %train = torch.constant.bool false
  %both = torch.constant.bool {str(directions == 2).lower()}
  %first = torch.constant.bool {str(batch_first).lower()}
  %r:{len(results)} = torch.operator "torch.aten.{kind}.input"(%x, {state}, %w, %biased, %layers, %dropped, %train, %both, %first) : ({value}, {state_type}, !torch.list<vtensor>, !torch.bool, !torch.int, !torch.float, !torch.bool, !torch.bool, !torch.bool) -> ({made})
  return {", ".join(f"%r#{k}" for k in range(len(results)))} : {made}
}}
"""


def advanced(kind, product, old, states):
    """One step, from the products of the input and of the hidden state."""
    hidden = states[0]
    if kind == "gru":
        (r, z, n), (hr, hz, hn) = np.split(product, 3, 1), np.split(old, 3, 1)
        kept = sigmoid(z + hz)
        return [(1 - kept) * np.tanh(n + sigmoid(r + hr) * hn) + kept * hidden]
    if kind == "lstm":
        taken, kept, new, shown = np.split(product + old, 4, 1)
        cell = sigmoid(kept) * states[1] + sigmoid(taken) * np.tanh(new)
        return [sigmoid(shown) * np.tanh(cell), cell]
    return [np.tanh(product + old) if kind == "rnn_tanh" else np.maximum(product + old, 0)]


def expected(kind, value, states, weights, layers, directions, biased, projected):
    """The output, time first, and the last states."""
    size = len(weights) // (layers * directions)
    ends = [[] for _ in states]
    for layer in range(layers):
        sides = []
        for side in range(directions):
            index = layer * directions + side
            w, u, *rest = weights[index * size : (index + 1) * size]
            b, c = rest[:2] if biased else (0, 0)
            now, outputs = [one[index] for one in states], {}
            for moment in range(len(value))[:: -1 if side else 1]:
                now = advanced(kind, value[moment] @ w.T + b, now[0] @ u.T + c, now)
                if projected:
                    now[0] = now[0] @ rest[-1].T
                outputs[moment] = now[0]
            sides.append(np.stack([outputs[k] for k in range(len(value))]))
            for end, one in zip(ends, now, strict=True):
                end.append(one)
        value = np.concatenate(sides, 2)
    return [value, *(np.stack(end) for end in ends)]


def compare(tmp_path, kind, layers, directions, biased, batch_first, projected, text, length):
    random, batch = np.random.default_rng(4), 2
    states = [random.standard_normal((layers * directions, batch, projected or WIDTH))]
    if kind == "lstm":
        states.append(random.standard_normal((layers * directions, batch, WIDTH)))
    value = random.standard_normal((length, batch, FEATURES))
    shapes = shapes_of(kind, layers, directions, biased, projected)
    weights = [random.standard_normal(shape) for shape in shapes]
    wanted = expected(kind, value, states, weights, layers, directions, biased, projected)
    entered(tmp_path, text, f"aten.{kind}.input", REMEDY)
    given = [value.swapaxes(0, 1) if batch_first else value, *states, *weights]
    made = all_computed(tmp_path, *(np.ascontiguousarray(one, np.float32) for one in given))
    made[0] = made[0].swapaxes(0, 1) if batch_first else made[0]
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "layers", "directions", "biased", "batch_first", "projected"),
    [
        ("lstm", 1, 2, True, True, 0),
        ("lstm", 2, 1, False, False, 2),
        ("gru", 1, 2, True, False, 0),
        ("gru", 1, 1, False, True, 0),
        ("rnn_tanh", 2, 1, True, True, 0),
        ("rnn_relu", 1, 2, False, False, 0),
    ],
)
def test_every_step_and_the_last_states(tmp_path, kind, layers, directions, biased, batch_first, projected):
    text = program(kind, layers, directions, biased, batch_first, projected)
    compare(tmp_path, kind, layers, directions, biased, batch_first, projected, text, LENGTH)


@pytest.mark.parametrize(
    ("kind", "directions", "batch_first", "projected", "length"),
    [("lstm", 1, True, 2, "?"), ("gru", 2, False, 0, "?"), ("rnn_relu", 1, True, 0, 40)],
)
def test_many_steps_and_an_unknown_number_of_them_are_a_loop(
    tmp_path, kind, directions, batch_first, projected, length
):
    text = program(kind, 1, directions, True, batch_first, projected, length)
    count = 5 if length == "?" else length
    compare(tmp_path, kind, 1, directions, True, batch_first, projected, text, count)
    assert "torch.prim.Loop" in (tmp_path / "entered.mlir").read_text()


def test_weights_of_another_width_are_left_alone(tmp_path):
    rows = f"!torch.vtensor<[{3 * WIDTH},{FEATURES}],f32>"
    text = program("gru", 1, 1, True, True).replace(rows, rows.replace(f",{FEATURES}]", ",7]"))
    status, findings = compiled(tmp_path, text)
    assert status == 1 and [f["severity"] for f in findings] == ["error"]
