"""Findings about programs of a front end as IREE imports them: which models, which ops, how they are computed, in how many bits."""

from . import arithmetic, constants, models, operators, precision

__all__ = ["arithmetic", "constants", "models", "operators", "precision"]
