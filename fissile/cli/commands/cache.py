"""`fissile cache`: where answers of earlier runs are kept, and how many."""

from __future__ import annotations

import argparse

from fissile.errors import ExitCode


def run(args: argparse.Namespace) -> int:
    from fissile.pipelines.cache import store

    if args.clear:
        store.forget_all()
    where = store.file()
    if args.path:
        print(where or "")
    elif where is None:
        print(f"no answers are kept: {store.VARIABLE}={store.OFF}")
    elif not store.is_private(where):
        print(f"no answers are kept: others than you may write to {where.parent}, or own what is there")
    else:
        count, size = store.totals()
        print(f"{where}: {count} answer{'s' if count != 1 else ''}, {size} of {store.MOST_BYTES} bytes")
    return int(ExitCode.CLEAN)
