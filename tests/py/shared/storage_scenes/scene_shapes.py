"""Tensors of another shape with the same elements: expand_shape, collapse_shape and reshape, to sizes that are computed."""

from __future__ import annotations

import numpy as np
from scene_arrays import cast_to, makes, slice_of, tree
from scene_integers import Draw, integer
from scene_values import Env, Node, Text, array, constant, dim, regrouped, tensor


@makes
def split(d: Draw, rank: int, element: str, depth: int) -> Node:
    """tensor.expand_shape of a flat tensor; one part may be computed, or asked for."""
    if rank < 2:
        return slice_of(d, rank, element, depth)
    of = tree(d, 1, element, depth - 1)
    k = d.number(1, 4)
    first = integer(d, "index", 1, [of]) if d.one_in(2) else _divided(dim(of, 0), k)
    parts: list[Node | int] = [first, k] if rank == 2 else [first, k, 1]
    if d.one_in(2):
        parts[0], parts[1] = parts[1], parts[0]
    dims = tuple(p if isinstance(p, int) else None for p in parts)
    if of.dims[0] is not None:
        of = cast_to(of, (None,))

    def value(env: Env) -> np.ndarray:
        shape = [p if isinstance(p, int) else env(p) for p in parts]
        return regrouped(env(of), shape)

    def write(text: Text) -> str:
        sizes = ", ".join(str(p) if isinstance(p, int) else text(p) for p in parts)
        return text.op(
            "r",
            f"tensor.expand_shape {text(of)} [[{', '.join(map(str, range(rank)))}]] output_shape [{sizes}] : {of.type} into "
            f"{tensor(dims, element)}",
        )

    return array(dims, element, write, value)


def _divided(of: Node, by: int) -> Node:
    return Node(
        "index",
        lambda text: text.op("q", f"arith.divui {text(of)}, {text.constant(by)} : index"),
        lambda env: env(of) // by,
    )


@makes
def flattened(d: Draw, rank: int, element: str, depth: int) -> Node:
    """tensor.collapse_shape, then what the rank wants."""
    of = tree(d, rank + 1 if rank < 3 else rank, element, depth - 1)
    if rank == 3:
        return of
    groups = [[0, 1], *([i] for i in range(2, rank + 1))]
    dims = tuple(_joined([of.dims[i] for i in g]) for g in groups)

    def value(env: Env) -> np.ndarray:
        shape = env(of).shape
        return env(of).reshape([shape[0] * shape[1], *shape[2:]])

    def write(text: Text) -> str:
        return text.op(
            "r", f"tensor.collapse_shape {text(of)} {groups} : {of.type} into {tensor(dims, element)}"
        )

    return array(dims, element, write, value)


def _joined(dims: list[int | None]) -> int | None:
    return None if None in dims else int(np.prod(dims))


@makes
def reshaped(d: Draw, rank: int, element: str, depth: int) -> Node:
    """tensor.reshape to sizes that are asked for, or that fit."""
    of = tree(d, d.number(1, 2), element, depth - 1)
    if d.one_in(2) and rank == 2:
        sizes = [_divided(_count(of), k := d.number(1, 3)), constant(k)]
    else:
        sizes = [integer(d, "index", 1, [of]) for _ in range(rank)]
    dims = (None,) * rank

    def value(env: Env) -> np.ndarray:
        shape = [env(s) for s in sizes]
        return regrouped(env(of), shape)

    def write(text: Text) -> str:
        listed = ", ".join(text(s) for s in sizes)
        shape = text.op("g", f"tensor.from_elements {listed} : tensor<{rank}xindex>")
        return text.op(
            "r",
            f"tensor.reshape {text(of)}({shape}) : ({of.type}, tensor<{rank}xindex>) -> {tensor(dims, element)}",
        )

    return array(dims, element, write, value)


def _count(of: Node) -> Node:
    if len(of.dims) == 1:
        return dim(of, 0)
    a, b = dim(of, 0), dim(of, 1)
    return Node(
        "index",
        lambda text: text.op("m", f"arith.muli {text(a)}, {text(b)} : index"),
        lambda env: env(a) * env(b),
    )
