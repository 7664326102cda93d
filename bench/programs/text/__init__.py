"""How programs are written as MLIR text: patterns, transformer blocks, and what differs between versions of IREE."""
