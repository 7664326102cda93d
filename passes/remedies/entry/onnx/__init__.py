"""Remedies for ops of ONNX whose sizes the call decides."""
