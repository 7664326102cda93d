"""Many models for many targets: what `fissile sweep` compiles, where it runs, and what is kept of it."""
