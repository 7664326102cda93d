"""Remedies for Fourier transforms, complex numbers and window functions of PyTorch."""
