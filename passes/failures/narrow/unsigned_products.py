"""FIS188: a matrix instruction takes numbers without a sign for numbers with one."""

from __future__ import annotations

from fissile.effect import Effect
from fissile.rules.agreement import UNSIGNED

from ..failure import Failure, failure


@failure
class UnsignedProducts(Failure):
    code = "FIS188"
    name = "unsigned-products"
    title = "a matrix instruction takes unsigned 8-bit numbers for signed ones"
    what = (
        "A matmul or convolution multiplies unsigned 8-bit integers (`arith.extui` in its body, `cast_unsigned` of a named op) on an AMD GPU with "
        "matrix instructions. Each number above 127 counts as itself minus 256: 4093 of 4096 values of the program below are wrong."
    )
    why = (
        "IREE 3.13 chooses an MFMA or WMMA instruction by the width of the elements (8 bits into 32). Those that it knows are the signed forms "
        "(iree-org/iree#18372 says so), and the extension that the program asks for is dropped with the body. The counts come from running the "
        "generated code in fissile's simulation (`fissile check --simulate`): no AMD device was at hand."
    )
    remedy = (
        "fissile subtracts 128 from each unsigned number, which makes it a signed one of 8 bits, lets the matrix instructions multiply these, and adds "
        "128 times the sum of the other factor (`fissile-multiply-signed`). The result is the same in every bit."
    )
    effect = Effect.WRONG
    order = 33
    upstream = "iree-org/iree#18372"
    target = "gfx942"
    fails = UNSIGNED.format(extension="extui")
    repaired_by = "fissile-multiply-signed"

    def concerns(self, backend):
        return backend.signed_products

    def may_occur(self, dispatch, configured):
        return bool(_unsigned_in(dispatch.inner_module()))

    def detect(self, dispatch, code):
        from fissile.passes.analysis.kernel.evidence import NOTHING, Evidence
        from fissile.passes.analysis.scalars.matrix_instructions import takes_signed_bytes

        found = _unsigned_in(dispatch.inner_module())
        return Evidence(count=len(found)) if found and takes_signed_bytes(code) else NOTHING

    def explain(self, dispatch, evidence, ops):
        from fissile.finding import Finding
        from fissile.passes.checks.dispatch_places import root_places

        which = "a factor of its products is" if evidence.count == 1 else "factors of its products are"
        return Finding(
            self.code,
            f"the numbers are wrong: {which} unsigned 8-bit integers, which the matrix instruction takes for signed ones",
            subject=dispatch.name,
            target=dispatch.target.name,
            places=root_places(dispatch, ops),
        )


def _unsigned_in(module):
    """Unsigned factors of the sums of products in a configured dispatch."""
    from fissile.passes.analysis.dispatch.structure import structure_of
    from fissile.passes.analysis.scalars.bodies import ops_in_bodies
    from fissile.passes.analysis.scalars.unsigned_factors import unsigned_factors

    return [one for op in ops_in_bodies(module) if structure_of(op) for one in unsigned_factors(op)]
