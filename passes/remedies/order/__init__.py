"""Remedies for results that are written over what is still read."""
