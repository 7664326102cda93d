"""`fissile audit`: every op that the rest of the pipeline cannot take, in one run."""
