"""`--tune`: several programs that pass and compute the same, compiled side by side and timed in turns; the fastest is taken."""
