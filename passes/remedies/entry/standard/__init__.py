"""Ops of the ONNX standard, written as it defines them."""
