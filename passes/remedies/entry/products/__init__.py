"""Matrix products of StableHLO: those that name an algorithm, and those of unknown sizes."""
