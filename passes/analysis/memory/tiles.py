"""A configured dispatch as plain data, and how much of each value one workgroup works on.

Extents are counted in elements. A dimension is a number, or a name where it is dynamic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fissile.finding import Place

from ..bounds.size_terms import Term, product, term
from ..dispatch.linear_index import Linear

Dim = int | str
"""A static extent, or the name of a dynamic dimension."""
Extent = Dim | Term


@dataclass(frozen=True)
class Value:
    """An operand or result: its type, how it is indexed, and the op of the dispatch that makes it.

    ``index`` has one entry per dimension; None stands for an expression that is not linear. ``maker`` is None
    for what comes from outside. ``reshaped`` says that a reshape, slice or cast lies between; ``shape_only``
    that it is an empty tensor, which lends its shape and no values (a pooling window).
    """

    shape: tuple[Dim, ...]
    bits: int
    element: str
    index: tuple[Linear | None, ...]
    maker: int | None = None
    reshaped: bool = False
    shape_only: bool = False
    result: int = 0
    """Which result of its maker it is."""

    @property
    def type(self) -> str:
        return describe(self.shape, self.element)

    @property
    def plain(self) -> bool:
        """Whether every dimension is indexed by one loop alone, with nothing in between."""
        return not self.reshaped and all(index is not None and index.loop is not None for index in self.index)


@dataclass(frozen=True)
class Config:
    """A lowering configuration: named lists of integers, and the matrix intrinsic's (M, N, K) where there is
    one.

    ``levels`` holds the unnamed tile levels of `#iree_codegen.lowering_config`.
    """

    lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    levels: tuple[tuple[int, ...], ...] = ()
    intrinsic: tuple[int, int, int] | None = None
    subgroups: tuple[int, ...] = ()
    """Subgroups per loop."""
    other: tuple[str, ...] = ()
    """Keys that this reader does not know: a prediction that ignores them may be wrong."""

    def tile(self, name: str, loop: int) -> int:
        """The tile of ``loop`` at a level; 0: not tiled."""
        sizes = self.lists.get(name, ())
        return sizes[loop] if loop < len(sizes) else 0


@dataclass(frozen=True)
class Gemm:
    """A convolution as the matrix product that IREE makes of it (implicit GEMM).

    ``operands`` are (index of each dimension of the packed operand, number of the convolution's input).
    """

    loops: tuple[int, ...]
    reduction: tuple[bool, ...]
    operands: tuple[tuple[tuple[Linear | None, ...], int], ...]


@dataclass(frozen=True)
class Op:
    """One structured op of a dispatch. ``inits`` are its accumulators, in the order of its results."""

    number: int
    name: str
    loops: tuple[Dim, ...]
    reduction: tuple[bool, ...]
    inputs: tuple[Value, ...]
    inits: tuple[Value, ...]
    config: Config | None = None
    tags: tuple[int, ...] = ()
    place: Place | None = None
    stored: bool = False
    """A result goes straight to the dispatch's output."""
    gemm: Gemm | None = None
    understood: bool = True
    """False for ops whose loops or indexing this reader does not know."""
    fills_zero: bool = False
    """A fill of the constant 0: padded by zeros it is one fill again."""

    @property
    def configuration(self) -> Config:
        """``config`` of an op that has one."""
        assert self.config is not None
        return self.config

    @property
    def is_fill(self) -> bool:
        return self.name == "linalg.fill"

    @property
    def reduces(self) -> bool:
        return any(self.reduction)

    @property
    def elementwise(self) -> bool:
        """Only parallel loops, each read without window or broadcast of its result."""
        return not self.reduces and all(v is not None and v.loop is not None for v in self.inits[0].index)


@dataclass(frozen=True)
class ConfiguredDispatch:
    """What code generation will start from. ``limit`` in bytes is the target attribute's own."""

    name: str
    backend: str
    pipeline: str
    options: dict[str, str | int]
    workgroup: tuple[int, ...]
    """Threads of a workgroup along x, y, z."""
    subgroup: int
    limit: int | None
    ops: tuple[Op, ...]
    opaque: tuple[str, ...] = ()
    """Names of ops that compute something and are not structured: loops, calls, custom ops."""
    bounds: dict[str, int] = field(default_factory=dict)
    """The largest value of a dynamic dimension, where the program states one."""

    @property
    def threads(self) -> int:
        result = 1
        for size in self.workgroup:
            result *= size
        return result

    @property
    def root(self) -> Op | None:
        """The op whose configuration tiles the workgroup (the last such op), None where none has one."""
        configured = [op for op in self.ops if op.config]
        tiling = [
            op for op in configured if op.config and (op.config.levels or "workgroup" in op.config.lists)
        ]
        return next(reversed(tiling or configured), None)

    def users(self, op: Op) -> list[Op]:
        return [user for user in self.ops if any(v.maker == op.number for v in (*user.inputs, *user.inits))]


def describe(shape: tuple[Extent, ...], element: str) -> str:
    """`64x58x58xf32`."""
    return "x".join([*(str(dim) for dim in shape), element])


def clamp(tile: int, extent: Dim) -> Dim:
    """The part of a loop that one tile covers; 0 is no tile: the whole loop."""
    if tile == 0:
        return extent
    return min(tile, extent) if isinstance(extent, int) else tile


def window(index: Linear, tiles: tuple[Extent, ...], extent: Dim) -> Extent:
    """How far an expression reaches over a tile: 1 + sum(c * (T - 1)), never more than the dimension
    itself."""
    reach = term(1)
    for loop in index.loops:
        factor, tile = abs(index.coefficients[loop]), tiles[loop]
        size = term(tile)
        if size.constant is not None:
            reach = reach + factor * (size.constant - 1)
        elif factor == 1 and len(index.loops) == 1:
            reach = size
        else:
            reach = reach + size * factor
    if reach.constant is None:
        return reach if len(index.loops) > 1 else extent
    return min(reach.constant, extent) if isinstance(extent, int) else reach.constant


def region(value: Value, tiles: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """The extents of ``value`` that loops tiled by ``tiles`` read; a non-linear index reads all of its
    dimension."""
    return tuple(
        extent if index is None else window(index, tiles, extent)
        for index, extent in zip(value.index, value.shape, strict=True)
    )


def whole_bytes(elements: int, bits: int) -> int:
    """Bytes of ``elements`` of ``bits`` each, rounded up."""
    return -(-elements * bits // 8)


def bytes_of(shape: tuple[Extent, ...], bits: int) -> Term:
    """Bytes of a buffer; less than a byte counts as a part of the whole, rounded up where static."""
    elements = product(shape)
    if elements.constant is not None:
        return term(whole_bytes(elements.constant, bits))
    return elements * max(1, bits // 8)
