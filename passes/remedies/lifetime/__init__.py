"""Remedies that place the releases of storage."""
