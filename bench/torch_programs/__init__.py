"""Programs of PyTorch, gradients and training steps among them: `python -m bench.torch_programs`."""
