"""Calls a compiled module, in a process of its own: `scene_calls.py MODULE CALLS FIRST`; a line of JSON before and after each call.

CALLS is a pickled list of (function, values), written by the process that starts this one.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from pathlib import Path

import iree.runtime as rt
import numpy as np


def packed(value: object) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()


def main(module: str, calls: str, first: str) -> None:
    config = rt.Config("local-sync")
    loaded = rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, Path(module).read_bytes()), config)
    for number, (function, values) in enumerate(pickle.loads(Path(calls).read_bytes())):
        if number < int(first):
            continue
        print(json.dumps({"begin": number}), flush=True)
        before = pickle.dumps(values)
        try:
            found = getattr(loaded, function)(*values)
            found = found if isinstance(found, tuple) else (found,)
            answer = {"found": packed([np.array(f.to_host()) if hasattr(f, "to_host") else f for f in found])}
        except Exception as raised:
            answer = {"error": str(raised)}
        answer["written"] = before != pickle.dumps(values)
        print(json.dumps({"end": number, **answer}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
