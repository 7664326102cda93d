"""Programs of ONNX with dynamic sizes: `python -m bench.onnx_programs`."""
