"""Whole layers of neural networks, and the losses behind them."""
