"""Programs of PyTorch with dynamic sizes: `python -m bench.torch_programs`."""
