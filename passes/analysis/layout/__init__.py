"""In which order ops read their operands, and which orders IREE's vectoriser knows."""
