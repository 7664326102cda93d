"""What a process of fissile's own loads, and when: the start is a large part of a short compile."""
