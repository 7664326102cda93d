"""Which ops wait for others, and which results are written over what is still read."""
