"""Threads of a workgroup read what others wrote where they may not."""
