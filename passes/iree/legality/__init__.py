"""What an audit asks of IREE."""
