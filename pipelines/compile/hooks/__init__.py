"""What fissile does to a program between two of IREE's phases, one module for each step."""
