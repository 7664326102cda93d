"""Findings about programs of a front end as IREE imports them: which models, which ops, how they are computed, in how many bits."""

from . import arithmetic, models, operators, precision

__all__ = ["arithmetic", "models", "operators", "precision"]
