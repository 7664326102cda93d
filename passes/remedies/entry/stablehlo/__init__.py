"""Remedies for ops of StableHLO."""
