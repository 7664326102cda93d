"""Programs of TOSA, op by op and in the blocks of quantised models: `python -m bench.tosa_programs`."""
