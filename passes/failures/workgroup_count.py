"""FIS144: a dispatch has more workgroups along one dimension than its target allows."""

from __future__ import annotations

import re
from math import prod

from fissile.effect import Effect

from .failure import CONVERTED, Failure, failure


@failure
class WorkgroupCount(Failure):
    code = "FIS144"
    name = "workgroup-count"
    title = "a dispatch has more workgroups than its target allows"
    what = (
        "IREE linearises all loops of a dispatch into workgroups along x, and their number exceeds "
        "`max_workgroup_counts` of the target attribute (65535 on the default Vulkan target and on Mali). Vulkan does "
        "not define what happens then. lavapipe, which has the same limit, computes the right numbers; other devices "
        "were not measured."
    )
    why = (
        "IREE 3.13 has the limit in its own table but does not compare the number of workgroups with it: an elementwise "
        "op on 67108864 values has 262144."
    )
    remedy = (
        "The finding is a warning; with `--tune` fissile gives each workgroup more elements "
        "(`fissile-enlarge-workgroups`). Or name the product that the module is for: RDNA3 allows 2147483647."
    )
    effect = Effect.UNPROVED
    order = CONVERTED + 30
    reported_only = True
    target = "vulkan"
    fails = """\
func.func @f(%x: tensor<67108864xf32>) -> tensor<67108864xf32> {
  %empty = tensor.empty() : tensor<67108864xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<67108864xf32>) outs(%empty : tensor<67108864xf32>) {
  ^bb0(%a: f32, %_: f32):
    %sum = arith.addf %a, %a : f32
    linalg.yield %sum : f32
  } -> tensor<67108864xf32>
  return %r : tensor<67108864xf32>
}
"""
    repaired_by = "fissile-enlarge-workgroups{ops=0}"

    def concerns(self, backend):
        return backend.spirv

    def may_occur(self, dispatch, configured):
        """The loops of the root, by its tiles; a loop of dynamic size counts once."""

        root = configured().root
        if root is None or root.config is None or not root.config.levels:
            return False
        tiled = zip(root.loops, root.config.levels[0], strict=False)
        return prod(-(-n // tile) for n, tile in tiled if tile and isinstance(n, int)) > min(
            _limits(dispatch)
        )

    def detect(self, dispatch, code):
        from iree.compiler import ir

        from fissile.passes.analysis.kernel.evidence import Evidence

        counts: list[int] = []

        def visit(op):
            if op.name == "iree_codegen.dispatch_config":
                yielded = list(op.regions[0].blocks[0].operations)[-1].operation
                counts.extend(filter(None, map(_constant, yielded.operands)))
            return ir.WalkResult.ADVANCE

        code.walk(visit)
        over = [count for count, limit in zip(counts, _limits(dispatch), strict=False) if count > limit]
        return Evidence(count=max(over, default=0))

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        return Finding(
            self.code,
            f"the dispatch has {evidence.count} workgroups in one dimension; {dispatch.target.name} allows {min(_limits(dispatch))}",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )


def _limits(dispatch) -> list[int]:
    """The most workgroups along x, y and z that the target attribute states; without one, no limit."""
    stated = re.search(r"max_workgroup_counts = \[([\d, ]+)\]", dispatch.target.text)
    return [int(count) for count in stated[1].split(",")] if stated else [2**31 - 1] * 3


def _constant(value) -> int | None:
    from iree.compiler import ir

    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(owner.operation.attributes["value"]).value
