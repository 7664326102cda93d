"""What the matrix products of StableHLO multiply."""
