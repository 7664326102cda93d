"""Ops of TOSA, written so that IREE's import of it takes them, and reads their numbers."""
