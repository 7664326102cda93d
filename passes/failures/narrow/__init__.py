"""Narrow elements are stored or extended wrongly: repaired by packing (`narrow_elements.py`)."""
