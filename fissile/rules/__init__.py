"""The only catalogue of finding codes. `fissile explain CODE` prints a rule as a manual page.

FIS0xx input and driver, FIS1xx fusion and on-chip memory, FIS2xx storage, FIS3xx lifetime,
FIS4xx legality, FIS5xx order of passes, FIS9xx fissile itself.
"""

from . import (
    agreement,
    audit,
    donation,
    fusion,
    host,
    imports,
    in_place,
    input,
    legality,
    lifetime,
    loops,
    storage,
)
from .rule import RETIRED, RULES, Rule

__all__ = [
    "RETIRED",
    "RULES",
    "Rule",
    "agreement",
    "audit",
    "donation",
    "fusion",
    "host",
    "in_place",
    "imports",
    "input",
    "legality",
    "lifetime",
    "loops",
    "storage",
]
