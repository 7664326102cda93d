"""Child processes, scratch folders and output files: how they are started, bounded, written and cleaned up.

`child` starts every child process of fissile, `server` one that answers requests, `scratch` makes the folder that a command works
in, `reaper` cleans up after a parent that was killed, and `atomic_write` puts an output in its place.
"""
