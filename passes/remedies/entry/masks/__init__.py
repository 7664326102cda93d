"""What is known of a mask of an attention in PyTorch's dialect before anything runs."""
