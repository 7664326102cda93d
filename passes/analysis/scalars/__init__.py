"""Scalar ops in the bodies of ops on tensors that IREE computes wrongly for some numbers."""
