"""What an audit needs to know of IREE."""
