"""Which ops of a program IREE cannot compile: each is compiled alone, and the program is compiled without them."""
