"""Contracts of passes: does a pipeline chain, which order does, and does each pass keep its contract?"""

from .chain import unmet_requirements
from .known import contract_from, contract_of, establishers, known_properties, property_named
from .order import recommended_order
from .phases import PhaseWatch
from .watch import ContractWatch, named_by, watching

__all__ = [
    "ContractWatch",
    "PhaseWatch",
    "contract_from",
    "contract_of",
    "establishers",
    "known_properties",
    "named_by",
    "property_named",
    "recommended_order",
    "unmet_requirements",
    "watching",
]
