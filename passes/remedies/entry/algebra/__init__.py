"""Remedies for factorisations of matrices and systems of linear equations."""
