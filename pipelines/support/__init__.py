"""Which ops on which element types a target takes: measured with small programs."""
