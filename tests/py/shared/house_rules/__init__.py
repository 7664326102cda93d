"""Rules of the source tree, each a function from the modules of a tree to a list of offences."""
