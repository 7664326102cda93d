"""Ops of MLIR's own dialects (arith, math, index, tensor), and programs of several front ends."""
