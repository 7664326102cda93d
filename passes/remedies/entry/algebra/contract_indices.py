"""Einstein sums with indices that IREE's decomposition does not take, as sums and products of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..front_end import FrontEndRemedy
from ..tensors.values import permuted, type_of
from ..torch_ops import FLOATS, TensorType, apply

_EINSUM = "aten.einsum"
_ELEMENTS = {*FLOATS, "si64"}
_LIST = "torch.prim.ListConstruct"


@dataclass(frozen=True)
class _Term:
    """A tensor with an index for each of its dimensions."""

    indices: str
    value: ir.Value

    @property
    def type_(self) -> TensorType:
        return type_of(self.value)

    @property
    def shape(self) -> tuple[int | None, ...]:
        return self.type_.shape

    def without(self, dropped: str) -> str:
        return "".join(index for index in self.indices if index not in dropped)

    def summed(self, over: str) -> _Term:
        dims = [self.indices.index(index) for index in over]
        return _Term(self.without(over), Tensor(self.value).summed(dims, keep=False).value)

    def squeezed(self, over: str) -> _Term:
        value = Tensor(self.value)
        for dim in sorted((self.indices.index(index) for index in over), reverse=True):
            value = value.dropped(dim)
        return _Term(self.without(over), value.value)

    def ordered(self, indices: str) -> _Term:
        if indices == self.indices:
            return self
        return _Term(indices, permuted(self.value, [self.indices.index(index) for index in indices]))


@register_pass
@dataclass(frozen=True)
class ContractIndices(FrontEndRemedy):
    """Writes an `aten.einsum` as sums over the indices of one operand and Einstein sums of two operands each, which IREE takes.

    An index that only one operand has, and the result has not, is summed first; a dimension of size 1 that is broadcast is dropped; several operands are
    multiplied from the left. IREE 3.13 rejects an Einstein sum with such an index, over such a dimension, without an arrow, and many of three operands.
    Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-contract-indices"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "splits an `aten.einsum` into sums and products of two operands (in the input)"
    repairs: ClassVar[str] = (
        "Einstein sums over an index of one operand, or of three and more operands, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "split it into sums and products of two operands"
    advice: ClassVar[str] = "split it into sums and products of two operands"

    def fits(self, op: ir.Operation) -> bool:
        found = _terms(op)
        if found is None:
            return False
        terms, result = found
        made = TensorType.of(op.results[0])
        elements = {term.type_.element for term in terms}
        if made is None or elements != {made.element} or made.element not in _ELEMENTS:
            return False
        if not _agree(terms):
            return False
        return (
            len(terms) > 2
            or "->" not in (torch.string_of(op.operands[0]) or "")
            or any(_alone(term, terms, result) or _stretched(term, terms) for term in terms)
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        found = _terms(op)
        assert found is not None  # `fits`
        terms, result = found
        terms = [_diagonal(term) for term in terms]
        terms = [term.squeezed(_stretched(term, terms)) for term in terms]
        terms = [term.summed(_alone(term, terms, result)) for term in terms]
        product, *others = terms
        while others:
            other, *others = others
            product = _product(product, other, others, result)
            product = product.summed(_alone(product, [product, *others], result))
        return [torch.cast(product.ordered(result).value, op.results[0].type)]


def _terms(op: ir.Operation) -> tuple[list[_Term], str] | None:
    """The operands of an Einstein sum with their indices, and the indices of its result; None where they are not known."""
    if torch.front_end_name(op) != _EINSUM or len(op.operands) < 2 or len(op.results) != 1:
        return None
    equation, values = torch.string_of(op.operands[0]), op.operands[1]
    if equation is None or isinstance(values.owner, ir.Block) or values.owner.name != _LIST:
        return None
    types = [TensorType.of(value) for value in values.owner.operands]
    if not types or None in types:
        return None
    parsed = _parsed(equation, [len(type_.shape) for type_ in types if type_ is not None])
    if parsed is None:
        return None
    lists, result = parsed
    return [_Term(*pair) for pair in zip(lists, values.owner.operands, strict=True)], result


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[str], str] | None:
    """The indices of each operand and of the result, with letters that the equation lacks in place of an ellipsis."""
    given, arrow, result = equation.replace(" ", "").replace("...", ".").partition("->")
    lists = given.split(",")
    if len(lists) != len(ranks) or any(one.count(".") > 1 for one in (*lists, result)):
        return None
    unnamed = [rank - len(one.replace(".", "")) for one, rank in zip(lists, ranks, strict=True)]
    if any(count < 0 or ("." not in one and count) for one, count in zip(lists, unnamed, strict=True)):
        return None
    free = [letter for letter in ascii_letters if letter not in equation]
    most = max((count for one, count in zip(lists, unnamed, strict=True) if "." in one), default=0)
    if most > len(free):
        return None
    stand_ins = "".join(free[:most])
    if not arrow:
        once = sorted(one for one in {*given} - {*".,"} if given.count(one) == 1)
        result = "." + "".join(once)
    lists = [one.replace(".", stand_ins[most - count :]) for one, count in zip(lists, unnamed, strict=True)]
    result = result.replace(".", stand_ins)
    letters = {*"".join(lists)}
    is_plain = all(one.isalpha() for one in letters) and len({*result}) == len(result)
    return (lists, result) if is_plain and {*result} <= letters else None


def _agree(terms: Sequence[_Term]) -> bool:
    """Whether the known sizes of each index are the same, or 1."""
    sizes: dict[str, set[int]] = {}
    for term in terms:
        for index, size in zip(term.indices, term.shape, strict=True):
            sizes.setdefault(index, set()).update({size or 1} - {1})
    return all(len(known) <= 1 for known in sizes.values())


def _alone(term: _Term, terms: Sequence[_Term], result: str) -> str:
    """The indices of ``term`` that no other term and not the result has."""
    others = {*result, *(index for one in terms if one is not term for index in one.indices)}
    return "".join(dict.fromkeys(index for index in term.indices if index not in others))


def _stretched(term: _Term, terms: Sequence[_Term]) -> str:
    """The indices of ``term`` of size 1 that have another size elsewhere."""
    sizes = [(index, size) for one in terms for index, size in zip(one.indices, one.shape, strict=True)]
    return "".join(
        index
        for index, size in zip(term.indices, term.shape, strict=True)
        if size == 1 and any(other == index and there != 1 for other, there in sizes)
    )


def _diagonal(term: _Term) -> _Term:
    """``term`` with each of its indices once."""
    once = "".join(dict.fromkeys(term.indices))
    return term if once == term.indices else _summed_products([term], once)


def _product(left: _Term, right: _Term, others: Sequence[_Term], result: str) -> _Term:
    """The product of both, summed over the indices that both have, and neither ``others`` nor ``result``; the last one is in the order of ``result``."""
    needed = {*result, *(index for term in others for index in term.indices)}
    both = dict.fromkeys(left.indices + right.indices)
    kept = "".join(
        index for index in both if index in needed or (index in left.indices) != (index in right.indices)
    )
    return _summed_products([left, right], result if {*kept} == {*result} else kept)


def _summed_products(terms: Sequence[_Term], result: str) -> _Term:
    """An Einstein sum that IREE takes."""
    sizes: dict[str, int | None] = {}
    for term in terms:
        for index, size in zip(term.indices, term.shape, strict=True):
            sizes[index] = size if sizes.get(index) is None else sizes[index]
    made = TensorType(tuple(sizes[index] for index in result), terms[0].type_.element)
    equation = f"{','.join(term.indices for term in terms)}->{result}"
    listed = ir.Operation.create(
        _LIST, results=[ir.Type.parse("!torch.list<vtensor>")], operands=[term.value for term in terms]
    ).result
    value = apply(_EINSUM, [torch.string(equation), listed, torch.none()], made)
    return _Term(result, value)
