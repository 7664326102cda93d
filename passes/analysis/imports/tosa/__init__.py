"""What IREE reads otherwise in a program of TOSA."""
