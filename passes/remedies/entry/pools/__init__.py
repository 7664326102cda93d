"""Pools of ONNX in forms that IREE rejects or misreads."""
