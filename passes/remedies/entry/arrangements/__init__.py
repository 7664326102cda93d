"""Remedies for ops of PyTorch that move the elements of tensors and compute nothing with them: stacks, splits, rolls, selections."""
