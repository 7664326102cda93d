"""Random small programs of many kinds of ops (`random_program`); a program is the same for the same seed."""
