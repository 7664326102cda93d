"""Put on PYTHONPATH by test_check_worker.py: for gfx942, forming dispatches or generating their code crashes or never ends."""

import importlib.util
import os
import sys

if {"fissile.pipelines.check.check_worker", "fissile.pipelines.probe.probe_server"} & set(sys.orig_argv):
    WHERE = {
        "forming": "fissile.pipelines.phase_pipeline",
        "generating": "fissile.pipelines.probe.one_dispatch",
    }[os.environ["CRASHING_WHERE"]]

    def lost():
        while os.environ["CRASHING_HOW"] == "hang":
            pass  # busy, as a compile without end is
        os.abort()

    def break_forming(module):
        advance = module.PhasePipeline.advance

        def broken(self, given, to):
            flags = self.session._session.get_flags(non_default_only=True)
            if to == "executable-configurations" and any("gfx942" in flag for flag in flags):
                from fissile.pipelines import session

                with session.running(f"{session.PHASE_STEP}{to}"):
                    lost()
            return advance(self, given, to)

        module.PhasePipeline.advance = broken

    def break_generating(module):
        probe = module._probe

        def broken(dispatch, *more):
            if dispatch.target.arch == "gfx942":
                lost()
            return probe(dispatch, *more)

        module._probe = broken

    class Break:
        """Changes a module as soon as it is loaded."""

        def find_spec(self, name, path=None, target=None):
            if name != WHERE:
                return None
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(name)
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                (break_forming if WHERE.endswith("phase_pipeline") else break_generating)(module)

            spec.loader.exec_module = exec_module
            return spec

    sys.meta_path.insert(0, Break())
