"""Put on PYTHONPATH by test_check.py: opening an IREE session in a check worker crashes, or raises."""

import os
import sys

if "check_worker" in " ".join(sys.orig_argv):

    class Break:
        """Found before the real module: importing IREE's session module ends the process."""

        def find_spec(self, name, path=None, target=None):
            if name == "fissile.pipelines.session":
                if os.environ.get("CRASHING_HOW") == "raise":
                    raise RuntimeError("on purpose")
                os.abort()

    sys.meta_path.insert(0, Break())
