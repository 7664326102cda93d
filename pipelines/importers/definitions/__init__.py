"""Definitions of ONNX ops, those of ONNX Runtime among them, by ops that IREE lowers; plain ONNX nodes, without IREE."""
