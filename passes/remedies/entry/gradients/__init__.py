"""Gradients of PyTorch's ops, as autograd writes them into a traced training step."""
