"""Findings about ops that do not belong where they are, and about the order of passes: FIS4xx and FIS5xx."""

from .rule import define
from .shown import Shown

define(
    "FIS401",
    "leftover-op",
    "a fissile op is left before translation",
    "An op of the fissile dialect reached IREE's translation, which cannot lower it.",
    "The pass that lowers the op did not run, or ran before the pass that created it.",
    "Run the named pass after the one that creates the op.",
    shown=Shown(
        "fissile-opt in.mlir --fissile-check-leftovers",
        """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
""",
        repaired_command="fissile-opt in.mlir --fissile-lower-boundaries --fissile-check-leftovers",
    ),
)
define(
    "FIS402",
    "invalid-op",
    "a fissile op does not verify",
    "An op of the fissile dialect violates the rules for its operands, results, attributes or regions, or is not written in "
    "generic form, the only one that these ops have.",
    "The op was written by hand, or a pass with a bug created it.",
    "Correct the named op; `fissile-opt --verify-dialect` shows the same error.",
    shown=Shown(
        "fissile-opt in.mlir --verify-dialect",
        """\
func.func @f(%t: tensor<4xf32>) {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<8xf32>
  return
}
""",
        """\
func.func @f(%t: tensor<4xf32>) {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
""",
    ),
)
define(
    "FIS403",
    "require-refuted",
    "a precondition never holds",
    "The condition of a fissile.require is the constant false, so no input can satisfy it.",
    "The program contradicts its own precondition.",
    "Correct the sizes or the condition that the finding names.",
    shown=Shown(
        "fissile-opt in.mlir --pass-pipeline='builtin.module(func.func(canonicalize),fissile-lower-requires)'",
        """\
func.func @f(%rows: index) {
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %ok = arith.cmpi ule, %c20, %c16 : index
  "fissile.require"(%ok) {message = "at most 16 rows"} : (i1) -> ()
  return
}
""",
        """\
func.func @f(%rows: index) {
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %ok = arith.cmpi ule, %rows, %c16 : index
  "fissile.require"(%ok) {message = "at most 16 rows"} : (i1) -> ()
  return
}
""",
    ),
)
define(
    "FIS404",
    "storage-escapes",
    "explicit storage is used where no pass can lower it",
    "A !fissile.storage is passed to a call, returned, or received as an argument.",
    "Storage becomes ordinary tensors inside one function; IREE has no type for it.",
    "Allocate the storage in the function that uses it, and pass its tensors instead.",
    shown=Shown(
        "fissile-opt in.mlir --fissile-lower-storage",
        """\
func.func @f(%n: index) -> !fissile.storage {
  %s = "fissile.alloc_storage"(%n) : (index) -> !fissile.storage
  return %s : !fissile.storage
}
""",
        """\
func.func @f(%n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %bytes = arith.muli %n, %c4 : index
  %s = "fissile.alloc_storage"(%bytes) : (index) -> !fissile.storage
  %t = "fissile.alloc_tensor"(%s, %c0, %n) : (!fissile.storage, index, index) -> tensor<?xf32>
  return %t : tensor<?xf32>
}
""",
    ),
)
define(
    "FIS405",
    "group-size",
    "the size of a group's result is unknown outside the group",
    "A fissile.group yields a tensor with a dynamic dimension that is computed from values inside the group.",
    "The result sizes of a dispatch must be known before it is launched.",
    "Compute the size before the group and use it inside.",
    shown=Shown(
        "fissile-opt in.mlir --fissile-lower-groups",
        """\
func.func @f(%sizes: tensor<4xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r = "fissile.group"() ({
    %n = tensor.extract %sizes[%c0] : tensor<4xindex>
    %e = tensor.empty(%n) : tensor<?xf32>
    flow.return %e : tensor<?xf32>
  }) : () -> tensor<?xf32>
  return %r : tensor<?xf32>
}
""",
        """\
func.func @f(%sizes: tensor<4xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %sizes[%c0] : tensor<4xindex>
  %r = "fissile.group"() ({
    %e = tensor.empty(%n) : tensor<?xf32>
    flow.return %e : tensor<?xf32>
  }) : () -> tensor<?xf32>
  return %r : tensor<?xf32>
}
""",
    ),
)
define(
    "FIS501",
    "contract-unmet",
    "the passes of a pipeline do not chain",
    "A pass requires a property that no pass before it establishes, or that a pass in between breaks.",
    "The passes are in the wrong order, or one is missing.",
    "Insert or move the pass that the finding names.",
    shown=Shown(
        "fissile-opt in.mlir --pass-pipeline='builtin.module(iree-dispatch-creation-pipeline,fissile-lower-boundaries)'",
        """\
util.func public @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "fissile.boundary"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  util.return %0 : tensor<4xf32>
}
""",
        repaired_command="fissile-opt in.mlir --pass-pipeline='builtin.module(fissile-lower-boundaries,iree-dispatch-creation-pipeline)'",
    ),
)
define(
    "FIS502",
    "contract-broken",
    "a pass broke a property that it must preserve",
    "--verify-contracts checks every property again after every pass; this one no longer holds.",
    "The pass has a bug, or its declared contract is wrong.",
    "The finding names the pass; `fissile passes NAME` shows its contract.",
    shown=Shown(
        "fissile-opt in.mlir --load-passes=mine.py --verify-contracts --mine-add-boundary",
        """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %t : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        files=(
            (
                "mine.py",
                """\
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import Contract, Pass, register_pass
from fissile.passes.properties import NO_BOUNDARIES


@register_pass
@dataclass(frozen=True)
class AddBoundary(Pass):
    '''Adds a boundary, and promises that none is left.'''

    name: ClassVar[str] = "mine-add-boundary"
    contract: ClassVar[Contract] = Contract(establishes=(NO_BOUNDARIES,))

    def run(self, op, report):
        block = op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
        value = block.arguments[0]
        point = ir.InsertionPoint.at_block_begin(block)
        ir.Operation.create("fissile.boundary", [value.type], [value], ip=point)
""",
            ),
        ),
        repaired_files=(
            (
                "mine.py",
                """\
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import Contract, Pass, register_pass
from fissile.passes.properties import NO_BOUNDARIES, NO_FISSILE_OPS


@register_pass
@dataclass(frozen=True)
class AddBoundary(Pass):
    '''Adds a boundary.'''

    name: ClassVar[str] = "mine-add-boundary"
    contract: ClassVar[Contract] = Contract(
        invalidates=(NO_BOUNDARIES, NO_FISSILE_OPS)
    )

    def run(self, op, report):
        block = op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
        value = block.arguments[0]
        point = ir.InsertionPoint.at_block_begin(block)
        ir.Operation.create("fissile.boundary", [value.type], [value], ip=point)
""",
            ),
        ),
    ),
)
define(
    "FIS503",
    "ran-on-nothing",
    "a pass ran on no function, because the functions are of another kind",
    "A pipeline runs one of your passes on `func.func` or on `util.func`, and the module has only functions of the other kind.",
    "IREE replaces func.func by util.func on its way to the end of phase input.",
    "Name the kind of functions that the phase has, as the finding does, and give the pass that anchor, or `any`.",
    shown=Shown(
        "fissile compile in.mlir --target=llvm-cpu -o out.vmfb --load-passes=mine.py "
        "--pipeline-after=global-optimization:'builtin.module(func.func(mine-look))'",
        """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %t : tensor<4xf32>
  return %0 : tensor<4xf32>
}
""",
        repaired_command="fissile compile in.mlir --target=llvm-cpu -o out.vmfb --load-passes=mine.py "
        "--pipeline-after=global-optimization:'builtin.module(util.func(mine-look))'",
        files=(
            (
                "mine.py",
                """\
from dataclasses import dataclass
from typing import ClassVar

from fissile.passes.definition import Pass, register_pass


@register_pass
@dataclass(frozen=True)
class Look(Pass):
    '''Looks at functions, of whatever kind.'''

    name: ClassVar[str] = "mine-look"
    anchor: ClassVar[str] = "any"

    def run(self, op, report):
        print(op.name)
""",
            ),
        ),
    ),
)
