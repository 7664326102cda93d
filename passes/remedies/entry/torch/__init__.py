"""Remedies for ops of PyTorch and ONNX that IREE's import misreads."""
