"""Which of ONNX's operator tests IREE and fissile compile, and whether the audit names what fails.

    python -m bench.legality_sweep onnx --limit 400 --target llvm-cpu --target vulkan --target gfx942

Results go to a file, one line for each model and target; a run that was stopped goes on where it was. With --docs the table in
docs/legality-sweep.md is written from them.
"""
