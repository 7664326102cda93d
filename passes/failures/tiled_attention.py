"""What failures have in common that are read off the tiles of an attention in the configured dispatch."""

from __future__ import annotations

from fissile.effect import Effect

from .failure import Failure, Stage


class TiledAttention(Failure):
    """A derived class says with `loop` which loop is tiled and must be whole, if any, why that is wrong, and what it does."""

    stage = Stage.CONFIGURED

    def concerns(self, backend):
        return True

    def may_occur(self, dispatch, configured):
        from fissile.passes.analysis.dispatch.attention_roles import attentions_in

        return bool(attentions_in(dispatch.inner_module()))

    def loop(self, tiled) -> tuple:
        """(the loop, why, the effect) where it is wrong that loops of the attention ``tiled`` are tiled; else nothing."""
        raise NotImplementedError

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import Evidence
        from fissile.passes.analysis.memory.attention_tiles import tiled_attentions

        for tiled in tiled_attentions(code):
            for loop, why, effect in filter(None, (self.loop(tiled),)):
                extent = "dynamic" if loop.extent is None else loop.extent
                effect = Effect.MAY_BE_WRONG if loop.extent is None else effect
                above = f" (above {loop.tile})" if loop.extent is None else ""
                return Evidence(
                    traits=(above,),
                    place=tiled.place,
                    effect=effect,
                    why=why.format(extent=extent, tile=loop.tile),
                )
        return None

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        wrong = evidence.effect is Effect.WRONG
        will = "will be wrong" if wrong else f"may be wrong{''.join(evidence.traits)}"
        return Finding(
            self.code,
            f"the numbers of the attention {will}: {evidence.why}",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops) or ((evidence.place,) if evidence.place else ()),
            effect=evidence.effect,
        )
