"""Random programs, and calls whose sizes lie around their capacities, as hypothesis strategies."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from storage_oracle import Program, wrap
from storage_programs import Builder

STEPS = (
    "extract",
    "extract",
    "insert",
    "insert",
    "extract_rows",
    "add",
    "tiled",
    "guarded_insert",
    "cast",
    "expand",
    "collapse",
    "pad",
    "gather",
    "asserted",
)
EDGES = (-1, 2**31, 2**62, 2**63 - 1, -(2**63))


@st.composite
def programs(draw, calls: int = 8) -> Program:
    """A program of one to three steps with calls whose sizes lie around its capacities, and at the
    ends of i64."""
    builder = Builder(draw)
    builder.argument_tensor((draw(st.sampled_from([None, None, 5, 8])),))
    for _ in range(draw(st.integers(1, 3))):
        getattr(builder, draw(st.sampled_from(STEPS)))()
    builder.p.result = builder.tensors[-1]
    if builder.p.result.name in {name for name, _ in builder.p.arguments}:
        builder.p.result = builder.doubled(builder.p.result)
    builder.p.calls = [draw(call_of(builder.p)) for _ in range(calls)]
    return builder.p


@st.composite
def call_of(draw, program: Program) -> dict[str, object]:
    call: dict[str, object] = {}
    common = draw(st.integers(0, 9))
    for name, kind in program.arguments:
        if kind.startswith("tensor"):
            *dims, element = kind[7:-1].split("x")
            shape = [
                int(d) if d != "?" else draw(st.one_of(st.just(common), st.integers(0, 9))) for d in dims
            ]
            if element == "i32":
                call[name] = np.array(
                    draw(
                        st.lists(
                            st.integers(-1, 9) if draw(st.booleans()) else st.integers(0, 3),
                            min_size=shape[0],
                            max_size=shape[0],
                        )
                    ),
                    np.int32,
                )
            else:
                call[name] = (np.arange(int(np.prod(shape)), dtype=np.float32) + 1).reshape(shape)
        else:
            value = draw(
                st.one_of(st.just(common), st.integers(0, 10), st.integers(-2, 10), st.sampled_from(EDGES))
            )
            call[name] = wrap(value, 32) if kind == "i32" else value
    return call
