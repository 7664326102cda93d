"""Ops of PyTorch that are defined by others: products, distances, statistics and special functions."""
