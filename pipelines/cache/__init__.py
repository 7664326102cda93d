"""Answers that were found before, kept between runs: what does not end, what repairs a program, what a check found."""
