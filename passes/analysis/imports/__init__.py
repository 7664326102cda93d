"""What IREE's import of a front end's program reads as something else, and what it says of the ops."""
