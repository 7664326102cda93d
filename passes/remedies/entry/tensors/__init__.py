"""Remedies for ops of PyTorch on whole tensors that IREE has no lowering for: paddings, interpolations, products of groups, counts."""
