"""Families of ops by which `numbers` draws its programs; `random_program` draws from them too."""

from __future__ import annotations

from .element_ops import arithmetic, complex_numbers, moved
from .held_values import choice, held
from .linalg_ext_ops import extended
from .named_ops import product, window

FAMILIES = {
    "product": product,
    "window": window,
    "extended": extended,
    "moved": moved,
    "arithmetic": arithmetic,
    "complex": complex_numbers,
    "global": held,
    "choice": choice,
}
