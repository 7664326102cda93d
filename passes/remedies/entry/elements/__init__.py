"""Ops of PyTorch and ONNX on element types that IREE rejects, or converts to another before it computes."""
