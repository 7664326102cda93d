"""What IREE's import reads as another op: a row for each kind, and how its ops are found."""
