"""`fissile targets`: the targets there are, with each limit's source."""

from __future__ import annotations

import argparse
import json
import sys


def run(args: argparse.Namespace) -> int:
    """Prints the table; returns 0. Raises UsageError for an unknown name."""
    from fissile.cli.fitted_text import print_fitted
    from fissile.pipelines.targets import PRESENT_DEVICE, resolve_target
    from fissile.target import KNOWN_TARGETS

    chosen = [resolve_target(name) for name in args.name] or list(KNOWN_TARGETS.values())
    if args.format == "json":
        rows = [
            {
                "name": t.name,
                "family": t.family,
                "arch": t.arch,
                "limit": t.limit.bytes,
                "per": t.limit.per,
                "claims": [{"bytes": c.bytes, "source": c.source} for c in t.claims],
            }
            for t in chosen
        ]
        json.dump(rows, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return 0
    room = max(len(name) for name in (*(t.name for t in chosen), PRESENT_DEVICE))
    for target in chosen:
        claims = (
            "; ".join(f"{claim.bytes} by {claim.source}" for claim in target.claims)
            if target.disagrees
            else ""
        )
        print_fitted(
            f"{target.name:<{room}} {target.limit.bytes:>7}  per {target.per}: {claims or target.limit.source}\n"
        )
    if not args.name:
        print_fitted(
            f"{PRESENT_DEVICE:<{room}} {'queried':>7}  per workgroup: the Vulkan device present, queried on use\n"
        )
    return 0
