"""The programs `fissile` and `fissile-opt`.

This is the first of their modules that is imported. From here on, a signal ends a program that has begun nothing yet in one line.
Once the imports are done, `run_program` cleans up after it.
"""

from fissile.before_work import signals_end_it

signals_end_it()
