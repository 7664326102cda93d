"""What failures have in common on which IREE itself stops: they are read off its message, and nothing is looked for in code."""

from __future__ import annotations

from ..failure import Failure, Stage


class Refusal(Failure):
    """``messages``, ``ending`` or ``measure`` says what is read; the finding quotes IREE."""

    stage = Stage.NOT_BUILT

    def concerns(self, backend):
        return True

    def may_occur(self, dispatch, configured):
        """Never has code to be generated for it: the compile stops by itself."""
        return False

    def detect(self, dispatch, code):
        return None

    def explain(self, dispatch, evidence, ops):
        from fissile.passes.checks.refusals.codegen_failure import check_codegen

        return check_codegen(dispatch, self.code, evidence, ops)
