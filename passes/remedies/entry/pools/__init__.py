"""Pools of ONNX and PyTorch in forms that IREE rejects or misreads."""
