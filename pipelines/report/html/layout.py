"""Where the dispatches of a program stand in a drawing: layers from inputs to results, boxes of a fixed width, curves between them.

Plain data in, plain data out; the template draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

BOX_WIDTH, GAP_X, GAP_Y, MARGIN = 232, 26, 40, 12
HEAD, LINE = 24, 17
MOST_DRAWN = 80
"""Of more dispatches than these the ones with findings and their neighbours are drawn, up to this many."""
MOST_LINES = 7
"""Ops named in one box."""
MOST_CHARACTERS = 29
"""Of one line in a box, in the page's monospaced font."""
MOST_COLUMNS = 5


@dataclass(frozen=True)
class Line:
    """One op of a dispatch: what stands in the box, and all of it for the tooltip. ``moved``: a boundary stands behind it."""

    text: str
    whole: str
    moved: bool = False


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    height: float
    title: str
    lines: tuple[Line, ...]
    more: int = 0
    fails: bool = False
    width: float = BOX_WIDTH


@dataclass(frozen=True)
class Edge:
    """From the bottom of one box to the top of another. ``moved``: a boundary that a repair placed."""

    x1: float
    y1: float
    x2: float
    y2: float
    moved: bool = False

    @property
    def path(self) -> str:
        bend = max(18.0, abs(self.y2 - self.y1) / 2)
        return (
            f"M{self.x1:g},{self.y1:g} C{self.x1:g},{self.y1 + bend:g} "
            f"{self.x2:g},{self.y2 - bend:g} {self.x2:g},{self.y2:g}"
        )


@dataclass(frozen=True)
class Drawing:
    """``left_out`` dispatches are not drawn."""

    title: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0


def draw(
    title: str,
    ops: Sequence[Mapping],
    groups: Sequence[Sequence[int]],
    failing: Iterable[int] = (),
    moved: Iterable[int] = (),
    names: Sequence[str] = (),
) -> Drawing:
    """The drawing of ``groups``, lists of indices into ``ops`` (one a dispatch).

    An op has `name`, `op`, `place`, and in `feeds` the indices of its consumers. ``failing`` are indices of groups, ``moved`` of ops
    behind which a boundary was placed; ``names`` call the groups.
    """
    wrong, cut = set(failing), set(moved)
    homes: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        for tag in group:
            homes.setdefault(tag, []).append(number)
    links = _links(ops, groups, homes)
    chosen = _chosen(len(groups), links, wrong)
    kept = {pair: tags for pair, tags in links.items() if pair[0] in chosen and pair[1] in chosen}
    places: dict[int, Box] = {}
    y = float(MARGIN)
    for row in _rows(chosen, kept):
        x, tallest = float(MARGIN), 0.0
        for number in row:
            lines = [_line(ops[tag], tag in cut) for tag in sorted(groups[number]) if 0 <= tag < len(ops)]
            shown = lines if len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
            more = len(lines) - len(shown)
            height = HEAD + LINE * (len(shown) + bool(more)) + 6
            name = names[number] if number < len(names) else f"dispatch {number}"
            places[number] = Box(x, y, height, name, tuple(shown), more, number in wrong)
            x += BOX_WIDTH + GAP_X
            tallest = max(tallest, height)
        y += tallest + GAP_Y
    edges = tuple(
        Edge(
            places[a].x + BOX_WIDTH / 2,
            places[a].y + places[a].height,
            places[b].x + BOX_WIDTH / 2,
            places[b].y,
            bool(tags & cut),
        )
        for (a, b), tags in sorted(kept.items())
    )
    width = max((box.x + BOX_WIDTH for box in places.values()), default=0.0) + MARGIN
    return Drawing(title, width, y - GAP_Y + MARGIN, tuple(places.values()), edges, len(groups) - len(chosen))


def _links(
    ops: Sequence[Mapping], groups: Sequence[Sequence[int]], homes: Mapping[int, list[int]]
) -> dict[tuple[int, int], set[int]]:
    """Pairs of different dispatches, the first before the second, with the ops whose results pass between them."""
    links: dict[tuple[int, int], set[int]] = {}
    for tag, op in enumerate(ops):
        for user in op["feeds"]:
            for a in homes.get(tag, ()):
                for b in homes.get(user, ()):
                    # A producer that is copied into its user's dispatch passes nothing.
                    if a != b and tag not in groups[b] and a < b:
                        links.setdefault((a, b), set()).add(tag)
    return links


def _chosen(count: int, links: Mapping[tuple[int, int], set[int]], wrong: set[int]) -> list[int]:
    """All dispatches, or of many those that fail with what stands next to them, then the first."""
    if count <= MOST_DRAWN:
        return list(range(count))
    wanted = dict.fromkeys(sorted(wrong)[:MOST_DRAWN])
    for a, b in sorted(links):
        if a in wrong or b in wrong:
            wanted.update(dict.fromkeys((a, b)))
    wanted.update(dict.fromkeys(range(min(count, MOST_DRAWN))))
    return sorted(list(wanted)[:MOST_DRAWN])


def _rows(chosen: Sequence[int], links: Mapping[tuple[int, int], set[int]]) -> list[list[int]]:
    """Dispatches by how far they are from an input; a wide layer takes several rows."""
    depth = dict.fromkeys(chosen, 0)
    for a, b in sorted(links):  # in program order, so what feeds ``a`` has been seen
        depth[b] = max(depth[b], depth[a] + 1)
    layers: dict[int, list[int]] = {}
    for number in chosen:
        layers.setdefault(depth[number], []).append(number)
    return [
        layer[start : start + MOST_COLUMNS]
        for _depth, layer in sorted(layers.items())
        for start in range(0, len(layer), MOST_COLUMNS)
    ]


def _line(op: Mapping, moved: bool) -> Line:
    name, kind = op["name"], op["op"]
    whole = " ".join(filter(None, (name, kind, op["place"])))
    text = f"{name}  {kind}" if name else kind
    if len(text) > MOST_CHARACTERS:
        text = text.replace(kind, kind.rpartition(".")[2])
    return Line(text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…", whole, moved)
