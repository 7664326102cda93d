"""Producers that a dispatch computes again for every use, because they stand in the body of its reduction, or that end its vectorisation.

On llvm-cpu IREE's code generation folds an elementwise producer into the body of the consumer that reads it. A convolution
or matmul reads each element many times, computes the producer as often, and no longer looks like a plain
multiply-and-add to the vectoriser. A transposition is folded into an indexing map: nothing is computed again, but the vectoriser does not know a
convolution in such an order (`layout/transposed_operands.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from iree.compiler import ir

from fissile.dialect.places import ops_of
from fissile.finding import Place

from ..layout.unvectorised import is_left_unvectorised
from .dispatches import Dispatch
from .provenance import place_of, tags_of, tags_read
from .structure import iterations_of


@dataclass(frozen=True)
class Recomputed:
    """One producer in the body of a reduction. ``times``: evaluations per element that it has, rounded down.

    ``moves``: it is a transposition, and the convolution that reads it is not vectorised.

    ``tag`` is the producer's source op where the module is tagged; ``elements`` are those of the operand it reads.
    """

    tag: int | None
    place: Place | None
    root: Place | None
    times: int
    elements: int
    operand: str
    body: tuple[str, ...] = ()
    """The reduction's body as `bodies_of` knows it."""
    moves: bool = False


def bodies_of(module: ir.Operation) -> Counter[tuple[str, ...]]:
    """How often each body of a linalg op occurs in ``module``: its ops' names, and the types of the elements that it is given."""
    found: Counter[tuple[str, ...]] = Counter()

    def visit(op: ir.Operation) -> ir.WalkResult:
        if not op.name.startswith("linalg.") or not op.regions:
            return ir.WalkResult.ADVANCE
        found[_body_of(op)] += 1
        return ir.WalkResult.SKIP

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _body_of(op: ir.Operation) -> tuple[str, ...]:
    block = op.regions[0].blocks[0]
    return (*(str(one.type) for one in block.arguments), *(one.operation.name for one in block.operations))


def recomputed_producers(dispatch: Dispatch) -> list[Recomputed]:
    """Producers folded into reduction bodies of ``dispatch`` (configured), with how often each is evaluated.

    On a tagged module what the author wrote into a reduction's own body is distinguished from a producer; on one
    without tags it is not. Dynamic sizes give no count, so such a reduction is left out.
    """
    found: dict[tuple, Recomputed] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name != "linalg.generic" or "reduction" not in str(op.attributes["iterator_types"]):
            return ir.WalkResult.ADVANCE
        for producer in (*_producers(op), *_transpositions(op, dispatch)):
            found.setdefault((producer.tag, producer.place, producer.operand), producer)
        return ir.WalkResult.SKIP

    dispatch.inner_module().walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(found.values())


def _producers(op: ir.Operation) -> list[Recomputed]:
    iterations = iterations_of(op)
    if iterations is None:
        return []
    own, root = tags_of(op), place_of(op)
    body = op.regions[0].blocks[0]
    outputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1]
    producers = []
    for position in range(len(body.arguments) - outputs):
        type_ = op.operands[position].type
        if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
            continue
        elements = 1
        for size in type_.shape:
            elements *= size
        for use in body.arguments[position].uses:
            user = use.owner.operation
            tags = tags_of(user)
            if _takes_one_input(user, body) and not (own and tags == own):
                producers.append(
                    Recomputed(
                        tags[0] if tags else None,
                        place_of(user),
                        root,
                        iterations // max(1, elements),
                        elements,
                        str(type_),
                        _body_of(op),
                    )
                )
                break
    return producers


def _transpositions(op: ir.Operation, dispatch: Dispatch) -> list[Recomputed]:
    """Those that the convolution ``op`` read in the program, where IREE vectorises it no longer."""
    if not (read := tags_read(op)) or not is_left_unvectorised(dispatch):
        return []
    return [moved for tag in read if (moved := _moved(op, tag, None)) is not None]


def transpositions_at(
    dispatch: Dispatch, places: Mapping[Place | None, Iterable[Place | None]]
) -> list[Recomputed]:
    """The same of a dispatch without tags: ``places`` has the places of convolutions, and of the transpositions that each of them read."""
    read = [
        (op, place)
        for op in ops_of(dispatch.inner_module(), "linalg.generic")
        if "reduction" in str(op.attributes["iterator_types"])
        for place in places.get(place_of(op), ())
    ]
    return [moved for op, place in read if (moved := _moved(op, None, place)) is not None]


def _moved(op: ir.Operation, tag: int | None, place: Place | None) -> Recomputed | None:
    """A transposition that ``op`` reads: counted as if it were its weights. None without static sizes."""
    if (iterations := iterations_of(op)) is None:
        return None
    type_ = ir.RankedTensorType(op.operands[1].type)
    elements = prod(type_.shape)
    return Recomputed(
        tag, place, place_of(op), iterations // max(1, elements), elements, str(type_), moves=True
    )


def _takes_one_input(user: ir.Operation, body: ir.Block) -> bool:
    """An op on one element of one input and constants: what a producer's body begins with, a contraction's does not."""
    if user.name == "linalg.yield":
        return False
    inputs = [
        operand for operand in user.operands if isinstance(operand.owner, ir.Block) and operand.owner == body
    ]
    inside = [
        operand
        for operand in user.operands
        if not isinstance(operand.owner, ir.Block) and operand.owner.operation.block == body
    ]
    return len(inputs) == 1 and not inside
