"""One table of what fissile costs and what its repairs run at, each number a ratio paired with stock in the same run."""
