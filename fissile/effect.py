"""What stock IREE does with a program that has a finding: the one question behind severity, exit status and wording."""

from __future__ import annotations

from enum import Enum


class Effect(Enum):
    """What becomes of the program where nothing is repaired. Every rule declares one; a finding may know better."""

    NONE = "none"
    """No statement about stock IREE: the input, an option, a pass."""
    REFUSED = "refused"
    """IREE stops with an error."""
    CRASHES = "crashes"
    """IREE's process ends by a signal."""
    ENDLESS = "endless"
    """IREE does not end within the time limit."""
    OVERRUN = "overrun"
    """Every call that gets there reads or writes out of bounds."""
    WRONG = "wrong"
    """IREE's code computes wrong numbers: measured, or it follows from the generated code."""
    MAY_BE_WRONG = "may be wrong"
    """IREE's code was measured to compute wrong numbers on some device; what it computes depends on timing or on the device."""
    UNPROVED = "unproved"
    """Right for some inputs, or not known to be right: it depends on the call, nobody looked, or no device was seen to get it
    wrong."""
    STALLS = "stalls"
    """Right, and one thread works for seconds to minutes while all others wait."""
    SLOW = "slow"
    """Right, and slow to compile or to run."""
    LARGE = "large"
    """Right, in more memory than the program needs."""

    @property
    def is_error(self) -> bool:
        """Whether a finding with this effect is an error as long as it is not repaired."""
        return self not in (Effect.UNPROVED, Effect.STALLS, Effect.SLOW, Effect.LARGE)

    @property
    def spoils_numbers(self) -> bool:
        """Whether the numbers are wrong, or depend on luck: the output is withheld, unless --allow-wrong-numbers is given."""
        return self in (Effect.WRONG, Effect.MAY_BE_WRONG)

    @property
    def is_built(self) -> bool:
        """Whether IREE says nothing of it and writes a module."""
        return self in (
            Effect.WRONG,
            Effect.MAY_BE_WRONG,
            Effect.UNPROVED,
            Effect.STALLS,
            Effect.SLOW,
            Effect.LARGE,
        )

    def stock(self, quote: str = "") -> str:
        """What stock IREE does with the program, in one line; ``quote`` is its own message on it, where one was captured."""
        sentence = {
            Effect.REFUSED: "rejects it",
            Effect.CRASHES: "crashes on it",
            Effect.ENDLESS: "does not finish within the time limit",
            Effect.OVERRUN: "miscompiles it: it reports no error, but calls read or write out of bounds",
            Effect.WRONG: "miscompiles it: it reports no error, but the numbers are wrong",
            Effect.MAY_BE_WRONG: "may miscompile it: it reports no error, but the numbers depend on timing or on the device",
            Effect.UNPROVED: "may miscompile it: it reports no error",
            Effect.STALLS: "compiles it correctly, but a call takes seconds to minutes",
            Effect.SLOW: "compiles it correctly, but it is slow to compile or to run",
            Effect.LARGE: "compiles it correctly, but with more memory than it needs",
            Effect.NONE: "",
        }[self]
        return f"{sentence}: {quote}" if quote and not self.is_built else sentence
