"""Scalar ops in the body of an op that a target computes otherwise than they are defined."""
