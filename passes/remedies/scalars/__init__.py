"""Scalar ops in the bodies of linalg ops, in a form that a target computes as they are defined."""
