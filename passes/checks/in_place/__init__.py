"""Checks of tensors that IREE writes in place: too much, too early, or where another one is kept."""
