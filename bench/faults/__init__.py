"""Faults around every command: signals, broken inputs, poor environments, crashes and hangs, growth, and stock as the measure.

`python -m bench.faults MODE --count N --results FILE` runs trials and appends one JSON line each; a run that is cut off goes on where
it was. `python -m bench.faults report FILE…` prints the counts. Exit status 0: no trial broke a promise of SECURITY.md.
"""
