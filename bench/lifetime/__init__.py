"""Lifetimes: programs, an interpreter with poisoned memory, mutations, and what other passes do with the same programs."""
