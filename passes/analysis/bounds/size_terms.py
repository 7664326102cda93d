"""What a size is: an integer term over symbols, in a normal form in which equal sizes look equal.

A term is a polynomial over atoms. An atom is a symbol (a function argument, a dimension of one, a
value that the analysis cannot look into) or a function of terms that is no polynomial (minimum,
division, wrap-around). Terms are exact integers: a machine operation that may wrap is `wrap(term,
bits)`, which is the term itself exactly where the ranges of its symbols show that it cannot wrap.
Nothing here knows MLIR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

INDEX_BITS = 64
INDEX_MIN, INDEX_MAX = -(2**63), 2**63 - 1
DIMENSION_LIMIT = 2**48
"""No dimension, and no product of dimensions of one tensor, of a tensor that exists reaches this: a
48-bit address space of one-byte elements. Only an empty tensor could have a larger dimension;
docs/storage.md says so."""

MAX_MONOMIALS = 48
MAX_DEPTH = 12
MAX_ATOMS = 192
"""A term that grows beyond these becomes a symbol of its own: nothing is known of it but its range."""


class Undefined(ArithmeticError):
    """A term has no value for these symbols: a division by zero."""


@dataclass(frozen=True, eq=False)
class Symbol:
    """An unknown integer from ``low`` to ``high``. Two symbols are the same only if they are one
    object's ident.

    ``text`` is how a person reads it (`%m`, `dim 0 of %x`). ``tensor`` is the same for all dimensions
    of one tensor.
    """

    ident: int
    text: str
    low: int = INDEX_MIN
    high: int = INDEX_MAX
    tensor: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.ident == other.ident

    def __hash__(self) -> int:
        return hash(("symbol", self.ident))

    @property
    def key(self) -> tuple:
        return (0, self.ident)

    @property
    def depth(self) -> int:
        return 0

    @property
    def atoms(self) -> int:
        return 1

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Apply:
    """A function of terms: one of FUNCTIONS. ``parameter`` is its constant (the bits of a wrap)."""

    function: str
    arguments: tuple[Term, ...]
    parameter: int = 0
    key: tuple = field(init=False, repr=False)
    depth: int = field(init=False, repr=False)
    atoms: int = field(init=False, repr=False)
    """Written out, with those of its arguments."""
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "key", (1, self.function, self.parameter, tuple(a.key for a in self.arguments))
        )
        object.__setattr__(self, "depth", 1 + max(a.depth for a in self.arguments))
        object.__setattr__(self, "atoms", 1 + sum(a.atoms for a in self.arguments))
        object.__setattr__(self, "_hash", hash((self.function, self.parameter, self.arguments)))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Apply)
            and self._hash == other._hash
            and self.function == other.function
            and self.parameter == other.parameter
            and self.arguments == other.arguments
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        shown = [str(a) for a in self.arguments]
        if self.function == "wrap":
            return shown[0]
        if self.function in _INFIX:
            left, right = (f"({text})" if " " in text else text for text in shown)
            return f"{left} {_INFIX[self.function]} {right}"
        return f"{self.function}({', '.join(shown)})"


_INFIX = {
    "floordiv": "/",
    "tdiv": "/",
    "mod": "mod",
    "trem": "mod",
    "ceildiv": "ceildiv",
    "udiv": "/",
    "urem": "mod",
}

Atom = Symbol | Apply
Monomial = tuple[Atom, ...]


class Term:
    """A polynomial: monomials (sorted atoms, with repetition) to coefficients, none of them 0."""

    __slots__ = ("monomials", "_hash", "_key")

    def __init__(self, monomials: Mapping[Monomial, int]) -> None:
        kept = {m: c for m, c in monomials.items() if c}
        self.monomials = dict(sorted(kept.items(), key=lambda mc: _monomial_key(mc[0])))
        self._hash = hash(tuple(self.monomials.items()))
        self._key: tuple | None = None

    @property
    def key(self) -> tuple:
        if self._key is None:
            self._key = tuple((_monomial_key(m), c) for m, c in self.monomials.items())
        return self._key

    @property
    def depth(self) -> int:
        return max((atom.depth for m in self.monomials for atom in m), default=0)

    @property
    def atoms(self) -> int:
        """How many symbols and functions it has, written out: comparing and printing it take as long."""
        return sum(atom.atoms for m in self.monomials for atom in m)

    @property
    def constant(self) -> int | None:
        """The value of a term without symbols, else None."""
        if not self.monomials:
            return 0
        return self.monomials.get(()) if len(self.monomials) == 1 else None

    @property
    def atom(self) -> Atom | None:
        """The atom that the term is, if it is just one."""
        if len(self.monomials) == 1:
            ((monomial, factor),) = self.monomials.items()
            if factor == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self._hash == other._hash and self.monomials == other.monomials

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Term | int) -> Term:
        total = dict(self.monomials)
        for m, c in term(other).monomials.items():
            total[m] = total.get(m, 0) + c
        return Term(total)

    def __neg__(self) -> Term:
        return Term({m: -c for m, c in self.monomials.items()})

    def __sub__(self, other: Term | int) -> Term:
        return self + -term(other)

    def __mul__(self, other: Term | int) -> Term:
        total: dict[Monomial, int] = {}
        for m, c in self.monomials.items():
            for n, d in term(other).monomials.items():
                product = tuple(sorted(m + n, key=lambda a: a.key))
                total[product] = total.get(product, 0) + c * d
        return Term(total)

    def __str__(self) -> str:
        if not self.monomials:
            return "0"
        if self.atom is not None:
            return str(self.atom)
        text = ""
        # Symbols first, the constant last, as a person writes it.
        for monomial, factor in sorted(self.monomials.items(), key=lambda mc: (not mc[0], mc[1] < 0)):
            size, sign = abs(factor), " - " if factor < 0 else " + "
            factors = [
                written
                if isinstance(a, Symbol) or written[:1] == "(" or " " not in written
                else f"({written})"
                for a in monomial
                for written in [str(a)]
            ]
            shown = " * ".join(([str(size)] if size != 1 or not monomial else []) + factors)
            text += sign + shown if text else ("-" if factor < 0 else "") + shown
        return text

    def __repr__(self) -> str:
        return f"Term({self})"


def _monomial_key(monomial: Monomial) -> tuple:
    return (len(monomial), tuple(a.key for a in monomial))


ZERO = Term({})
ONE = Term({(): 1})


def term(value: Term | Symbol | Apply | int | str) -> Term:
    """``value`` as a term; a name is the dynamic dimension of that name."""
    if isinstance(value, Term):
        return value
    if isinstance(value, str):
        return Term({(Symbol(ident_of(value), value, 0, DIMENSION_LIMIT),): 1})
    return _constant(int(value)) if isinstance(value, int) else Term({(value,): 1})


def ident_of(dimension: str) -> int:
    """The ident of the symbol for a named dimension: equal names have equal ones, and no counted symbol has one of them."""
    return (1 << 64) + int.from_bytes(dimension.encode(), "big")


@lru_cache(4096)
def _constant(value: int) -> Term:
    return Term({(): value})


def product(factors: Iterable[Term | int | str]) -> Term:
    result = ONE
    for factor in factors:
        result = result * term(factor)
    return result


def wrap_integer(value: int, bits: int) -> int:
    """What a signed machine integer of ``bits`` holds."""
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _nonzero(divisor: int) -> int:
    if divisor == 0:
        raise Undefined("division by zero")
    return divisor


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(_nonzero(b))
    return quotient if (a < 0) == (b < 0) else -quotient


FUNCTIONS: dict[str, Callable[..., int]] = {
    "wrap": wrap_integer,  # (value, bits)
    "floordiv": lambda a, b: a // _nonzero(b),  # affine floordiv, arith.floordivsi
    "ceildiv": lambda a, b: -(-a // _nonzero(b)),  # affine ceildiv, arith.ceildivsi
    "mod": lambda a, b: a % _nonzero(b),  # affine mod: the divisor is positive
    "tdiv": _truncated,  # arith.divsi rounds to zero
    "trem": lambda a, b: a - b * _truncated(a, b),  # arith.remsi
    "udiv": lambda a, b: a % 2**INDEX_BITS // _nonzero(b % 2**INDEX_BITS),  # arith.divui of an index
    "urem": lambda a, b: a % 2**INDEX_BITS % _nonzero(b % 2**INDEX_BITS),  # arith.remui of an index
    "min": min,
    "max": max,
}


def apply(function: str, *arguments: Term | int, parameter: int = 0) -> Term:
    """``function`` of ``arguments``, computed where they are constant. `wrap` takes its bits as
    ``parameter``."""
    terms = tuple(term(a) for a in arguments)
    if len(terms) == 1 and function in ("min", "max"):
        return terms[0]
    values = [t.constant for t in terms]
    if None not in values:
        try:
            return term(FUNCTIONS[function](*values, *([parameter] if function == "wrap" else [])))
        except Undefined:
            pass
    if function in ("min", "max"):
        flat = [
            inner
            for t in terms
            for inner in (
                t.atom.arguments if isinstance(t.atom, Apply) and t.atom.function == function else (t,)
            )
        ]
        terms = tuple(sorted(_undecided(function, set(flat)), key=lambda t: t.key))
        if len(terms) == 1:
            return terms[0]
    elif function in ("floordiv", "ceildiv", "tdiv", "mod", "trem") and terms[1].constant not in (None, 0):
        divisor = terms[1].constant
        if all(c % divisor == 0 for c in terms[0].monomials.values()):
            if function in ("mod", "trem"):
                return ZERO
            return Term({m: c // divisor for m, c in terms[0].monomials.items()})
    return term(Apply(function, terms, parameter))


def _undecided(function: str, terms: set[Term]) -> set[Term]:
    """``terms`` without those that the range of a symbol leaves out: min(0, a size) is 0."""
    constants = [t for t in terms if t.constant is not None]
    if not constants:
        return terms
    pick = min if function == "min" else max
    known = pick(c for t in constants if (c := t.constant) is not None)
    open_ones = {t for t in terms if t.constant is None}
    for t in list(open_ones):
        if isinstance(t.atom, Symbol):
            if pick(known, t.atom.low) == pick(known, t.atom.high) == known:
                open_ones.discard(t)
            elif pick(known, t.atom.low) == t.atom.low and pick(known, t.atom.high) == t.atom.high:
                return open_ones  # the number is the one that is left out
    return {*open_ones, term(known)}


def evaluate(t: Term, values: Mapping[int, int]) -> int:
    """The value of ``t`` where symbol ``ident`` has value ``values[ident]``. Raises Undefined on a
    division by 0."""
    total = 0
    for monomial, factor in t.monomials.items():
        for atom in monomial:
            factor *= evaluate_atom(atom, values)
        total += factor
    return total


def evaluate_atom(atom: Atom, values: Mapping[int, int]) -> int:
    if isinstance(atom, Symbol):
        return values[atom.ident]
    arguments = [evaluate(a, values) for a in atom.arguments]
    return FUNCTIONS[atom.function](*arguments, *([atom.parameter] if atom.function == "wrap" else []))


def symbols_of(t: Term) -> dict[int, Symbol]:
    """The symbols inside ``t``, also those inside functions, by ident."""
    found: dict[int, Symbol] = {}
    pending: list[Term] = [t]
    seen: set[Atom] = set()
    while pending:
        for monomial in pending.pop().monomials:
            for atom in monomial:
                if atom in seen:
                    continue
                seen.add(atom)
                if isinstance(atom, Symbol):
                    found[atom.ident] = atom
                else:
                    pending.extend(atom.arguments)
    return found


def substitute(t: Term, replacements: Mapping[int, Term]) -> Term:
    """``t`` with symbols replaced by terms."""
    if not (symbols_of(t).keys() & replacements.keys()):
        return t
    result = ZERO
    for monomial, factor in t.monomials.items():
        part = term(factor)
        for atom in monomial:
            if isinstance(atom, Symbol):
                part = part * replacements.get(atom.ident, term(atom))
            else:
                inner = [substitute(a, replacements) for a in atom.arguments]
                part = part * apply(atom.function, *inner, parameter=atom.parameter)
        result = result + part
    return result
