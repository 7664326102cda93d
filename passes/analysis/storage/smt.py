"""The last tier: sizes as integers of an SMT solver (z3), with a time limit for each question.

z3 is optional (`pip install 'fissile[storage]'`). Without it `available()` is False and nothing here
is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from importlib.util import find_spec

from ..bounds.conditions import All, Any, Compare, Condition, symbols
from ..bounds.size_terms import Apply, Atom, Symbol, Term


class Found(Enum):
    """Whether conditions can hold together."""

    YES = "satisfiable"
    NO = "unsatisfiable"
    UNDECIDED = "undecided within the time limit"


@lru_cache(maxsize=1)
def available() -> bool:
    return find_spec("z3") is not None


STEPS_PER_MS = 600
"""z3's resource units in a millisecond, measured: 500 to 1900 on two shared cores."""
BACKSTOP = 4
"""A question may take this many times its limit where z3 counts few steps and takes long over them."""


class Solver:
    """Questions about a fixed set of facts. ``timeout_ms`` limits each question, not all of them
    together.

    The limit is counted in z3's own steps, so that the same question has the same answer on a fast
    and on a slow machine; the clock is only the backstop.
    """

    def __init__(self, facts: Iterable[Condition], timeout_ms: int) -> None:
        import z3

        self._z3 = z3
        # A context of its own: z3's default one is shared by all threads of the process.
        self._context = z3.Context()
        self._solver = z3.SolverFor("QF_NIA", ctx=self._context)
        self._solver.set("rlimit", timeout_ms * STEPS_PER_MS)
        self._solver.set("timeout", timeout_ms * BACKSTOP)
        self._atoms: dict[Atom, object] = {}
        self._count = 0
        for fact in facts:
            self._solver.add(self._condition(fact))

    def satisfiable(self, *conditions: Condition) -> tuple[Found, dict[int, int]]:
        """Whether the facts and ``conditions`` can hold together, and then values by symbol ident."""
        z3 = self._z3
        outside = dict(self._atoms)
        self._solver.push()
        try:
            for condition in conditions:
                self._solver.add(self._condition(condition))
            answer = self._solver.check()
            if answer == z3.unsat:
                return Found.NO, {}
            if answer != z3.sat:
                return Found.UNDECIDED, {}
            model = self._solver.model()
            return Found.YES, {
                atom.ident: model.eval(variable, model_completion=True).as_long()
                for atom, variable in self._atoms.items()
                if isinstance(atom, Symbol)
            }
        finally:
            self._solver.pop()
            self._atoms = outside  # what the scope asserted about other atoms is gone with it

    def _condition(self, condition: Condition):
        z3 = self._z3
        if isinstance(condition, Compare):
            left = self._term(condition.term)
            zero = z3.IntVal(0, self._context)
            return {"<=": left <= zero, "==": left == zero, "!=": left != zero}[condition.relation]
        parts = [self._condition(p) for p in condition.parts]
        if not parts:
            return z3.BoolVal(isinstance(condition, All), self._context)
        return (z3.Or if isinstance(condition, Any) else z3.And)(parts)

    def _term(self, t: Term):
        total = self._z3.IntVal(0, self._context)
        for monomial, factor in t.monomials.items():
            part = self._z3.IntVal(factor, self._context)
            for atom in monomial:
                part = part * self._atom(atom)
            total = total + part
        return total

    def _atom(self, atom: Atom):
        if atom not in self._atoms:
            self._count += 1
            variable = self._z3.Int(f"a{self._count}", self._context)
            self._atoms[atom] = variable
            if isinstance(atom, Symbol):
                self._solver.add(variable >= atom.low, variable <= atom.high)
            else:
                self._define(variable, atom)
        return self._atoms[atom]

    def _define(self, result, atom: Apply) -> None:
        """States what ``result`` is; division is stated for a divisor other than 0 only, as nothing
        else is defined."""
        z3, add = self._z3, self._solver.add
        arguments = [self._term(a) for a in atom.arguments]
        if atom.function == "wrap":
            turns = z3.Int(f"turns_{result}", self._context)
            half = 1 << (atom.parameter - 1)
            add(result == arguments[0] + turns * (2 * half), result >= -half, result < half)
        elif atom.function in ("min", "max"):
            for argument in arguments:
                add(result <= argument if atom.function == "min" else result >= argument)
            add(z3.Or([result == argument for argument in arguments]))
        else:
            a, b = arguments
            if atom.function in ("udiv", "urem"):
                a, b = (z3.If(v >= 0, v, v + 2**64) for v in arguments)
            # z3's division is Euclidean: the remainder is never negative. It is floor division for b > 0.
            floor = z3.If(b > 0, a / b, (-a) / (-b))
            quotient = {
                "floordiv": floor,
                "mod": floor,
                "udiv": floor,
                "urem": floor,
                "ceildiv": z3.If(b > 0, -((-a) / b), -(a / (-b))),
                "tdiv": z3.If((a >= 0) == (b >= 0), _abs(z3, a) / _abs(z3, b), -(_abs(z3, a) / _abs(z3, b))),
            }
            if atom.function in ("mod", "trem", "urem"):
                by = quotient["tdiv" if atom.function == "trem" else "mod"]
                add(z3.Implies(b != 0, result == a - b * by))
            else:
                add(z3.Implies(b != 0, result == quotient[atom.function]))


def _abs(z3, value):
    return z3.If(value >= 0, value, -value)


def relevant(facts: Iterable[Condition], about: Condition) -> list[Condition]:
    """The facts that share symbols with ``about``, directly or through other facts."""
    remaining = [(fact, set(symbols(fact))) for fact in facts]
    reached = set(symbols(about))
    chosen: list[Condition] = []
    while True:
        near = [row for row in remaining if row[1] & reached]
        if not near:
            return chosen
        for row in near:
            chosen.append(row[0])
            reached |= row[1]
        remaining = [row for row in remaining if row not in near]
