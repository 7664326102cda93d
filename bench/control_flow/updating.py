"""Drawn programs whose ops update tensors: scatters, sorts, sums that begin with one; of arguments, positions and numbers."""

from __future__ import annotations

import numpy as np

from .program import Values
from .stateful import PART, Dynamic

_LINE = "affine_map<(i) -> (i)>"


class Updating(Dynamic):
    def _elementwise(self, known: list[str], depth: int, indent: str):
        if self._draw.random() < 0.3:
            return super()._elementwise(known, depth, indent)
        ways = (
            self._positions,
            self._positions_twice,
            self._fill,
            self._scatter,
            self._scatter,
            self._sort,
            self._sort_with,
            self._sum,
            self._apart,
        )
        return self._draw.choice(ways)(known, indent)

    def _empty(self, known: list[str], new: str, indent: str) -> list[str]:
        """Lines that make %{new}e, as long as a tensor that is known."""
        return [
            f"{indent}%{new}n = tensor.dim %{self._draw.choice(known)}, %c0 : {self.TYPE}",
            f"{indent}%{new}e = tensor.empty(%{new}n) : {self.TYPE}",
        ]

    def _positions(self, known: list[str], indent: str):
        new, more = self._name("v"), self._draw.randrange(3)

        def step(values: Values) -> None:
            values[new] = np.arange(4, dtype=np.int32) + np.int32(more)

        lines = [
            *self._empty(known, new, indent),
            f'{indent}%{new} = linalg.generic {{indexing_maps = [{_LINE}], iterator_types = ["parallel"]}} outs(%{new}e : {self.TYPE}) {{',
            f"{indent}^bb0(%o: i32):",
            f"{indent}  %i = linalg.index 0 : index",
            f"{indent}  %j = arith.addi %i, %c{more} : index",
            f"{indent}  %k = arith.index_cast %j : index to i32",
            f"{indent}  linalg.yield %k : i32",
            f"{indent}}} -> {self.TYPE}",
        ]
        return lines, step, [new]

    def _positions_twice(self, known: list[str], indent: str):
        new = self._name("v")

        def step(values: Values) -> None:
            values[f"{new}#0"] = np.arange(4, dtype=np.int32)
            values[f"{new}#1"] = np.arange(4, dtype=np.int32) * 5

        lines = [
            *self._empty(known, new, indent),
            f"{indent}%{new}f = arith.constant 5 : i32",
            f'{indent}%{new}:2 = linalg.generic {{indexing_maps = [{_LINE}, {_LINE}], iterator_types = ["parallel"]}} outs(%{new}e, %{new}e : {self.TYPE}, {self.TYPE}) {{',
            f"{indent}^bb0(%o: i32, %u: i32):",
            f"{indent}  %i = linalg.index 0 : index",
            f"{indent}  %k = arith.index_cast %i : index to i32",
            f"{indent}  %l = arith.muli %k, %{new}f : i32",
            f"{indent}  linalg.yield %k, %l : i32, i32",
            f"{indent}}} -> ({self.TYPE}, {self.TYPE})",
        ]
        return lines, step, [f"{new}#0", f"{new}#1"]

    def _fill(self, known: list[str], indent: str):
        new, number = self._name("v"), self._draw.randrange(5)

        def step(values: Values) -> None:
            values[new] = np.full(4, number, np.int32)

        lines = [
            *self._empty(known, new, indent),
            f"{indent}%{new}k = arith.constant {number} : i32",
            f"{indent}%{new} = linalg.fill ins(%{new}k : i32) outs(%{new}e : {self.TYPE}) -> {self.TYPE}",
        ]
        return lines, step, [new]

    def _scatter(self, known: list[str], indent: str):
        """Two elements of a tensor, put at two places of another one, or added to those there."""
        source, target, new = *self._draw.choices(known, k=2), self._name("v")
        places, start, adds = (
            self._draw.sample(range(4), 2),
            self._draw.randrange(3),
            self._draw.random() < 0.4,
        )

        def step(values: Values) -> None:
            part = values[source][start : start + 2]
            values[new] = values[target].copy()
            values[new][places] = values[new][places] + part if adds else part

        lines = [
            f"{indent}%{new}p = arith.constant dense<[[{places[0]}], [{places[1]}]]> : tensor<2x1xi32>",
            f"{indent}%{new}s = tensor.extract_slice %{source}[%c{start}] [2] [1] : {self.TYPE} to {PART}",
            f"{indent}%{new} = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%{new}s, %{new}p : {PART}, tensor<2x1xi32>) outs(%{target} : {self.TYPE}) {{",
            f"{indent}^bb0(%p: i32, %q: i32):",
            *([f"{indent}  %t = arith.addi %p, %q : i32"] if adds else []),
            f"{indent}  iree_linalg_ext.yield {'%t' if adds else '%p'} : i32",
            f"{indent}}} -> {self.TYPE}",
        ]
        return lines, step, [new]

    def _sort(self, known: list[str], indent: str):
        target, new = self._draw.choice(known), self._name("v")

        def step(values: Values) -> None:
            values[new] = np.sort(values[target])

        lines = [
            f"{indent}%{new} = iree_linalg_ext.sort dimension(0) outs(%{target} : {self.TYPE}) {{",
            f"{indent}^bb0(%p: i32, %q: i32):",
            f"{indent}  %t = arith.cmpi sle, %p, %q : i32",
            f"{indent}  iree_linalg_ext.yield %t : i1",
            f"{indent}}} -> {self.TYPE}",
        ]
        return lines, step, [new]

    def _sort_with(self, known: list[str], indent: str):
        """A tensor in the order of keys that differ: 8 times another one, plus the positions."""
        source, target, new = *self._draw.choices(known, k=2), self._name("v")
        made, _step, _names = self._positions(known, indent)
        at = _names[0]

        def step(values: Values) -> None:
            _step(values)
            keys = values[source] * np.int32(8) + values[at]
            order = np.argsort(keys)
            values[f"{new}#0"], values[f"{new}#1"] = keys[order], values[target][order]

        lines = [
            *made,
            f"{indent}%{new}8 = arith.constant 8 : i32",
            f"{indent}%{new}e = tensor.empty(%{at}n) : {self.TYPE}",
            f"{indent}%{new}b = linalg.fill ins(%{new}8 : i32) outs(%{new}e : {self.TYPE}) -> {self.TYPE}",
            f"{indent}%{new}m = arith.muli %{source}, %{new}b : {self.TYPE}",
            f"{indent}%{new}k = arith.addi %{new}m, %{at} : {self.TYPE}",
            f"{indent}%{new}:2 = iree_linalg_ext.sort dimension(0) outs(%{new}k, %{target} : {self.TYPE}, {self.TYPE}) {{",
            f"{indent}^bb0(%p: i32, %q: i32, %r: i32, %s: i32):",
            f"{indent}  %t = arith.cmpi sle, %p, %q : i32",
            f"{indent}  iree_linalg_ext.yield %t : i1",
            f"{indent}}} -> {self.TYPE}, {self.TYPE}",
        ]
        return lines, step, [at, f"{new}#0", f"{new}#1"]

    def _sum(self, known: list[str], indent: str):
        """The sum of a tensor, added to each element of another one."""
        source, target, new = *self._draw.choices(known, k=2), self._name("v")

        def step(values: Values) -> None:
            values[new] = values[target] + values[source].sum(dtype=np.int32)

        maps = "affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>"
        lines = [
            f'{indent}%{new} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}} ins(%{source} : {self.TYPE}) outs(%{target} : {self.TYPE}) {{',
            f"{indent}^bb0(%p: i32, %q: i32):",
            f"{indent}  %t = arith.addi %p, %q : i32",
            f"{indent}  linalg.yield %t : i32",
            f"{indent}}} -> {self.TYPE}",
        ]
        return lines, step, [new]

    def _apart(self, known: list[str], indent: str):
        """A tensor that no op behind it is fused with."""
        source, new = self._draw.choice(known), self._name("v")

        def step(values: Values) -> None:
            values[new] = values[source]

        barrier = f"iree_tensor_ext.compute_barrier.start %{source}"
        sizes = f"{{%{new}n}}"
        lines = [
            f"{indent}%{new}n = tensor.dim %{source}, %c0 : {self.TYPE}",
            f"{indent}%{new} = {barrier} : {self.TYPE}{sizes} -> {self.TYPE}",
        ]
        return lines, step, [new]
