"""One function of several programs on the same inputs: which are compared, and which a check refuses."""
