"""How tensors lie in memory: in which order ops read their operands, which orders IREE's vectoriser knows, and what fills whole bytes."""
