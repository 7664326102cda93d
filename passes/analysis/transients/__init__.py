"""Transients of one slab: their sizes, their lives, and offsets that take less memory."""
