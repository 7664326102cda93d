"""Windows of StableHLO over tensors of unknown sizes: reductions, and convolutions of groups."""
