"""Tuning specs as IREE 3.13 reads them: which op gets which lowering configuration, in the transform dialect.

A spec is read where a dispatch's configuration is chosen (MaterializeTuningSpecs and MaterializeUserConfigs, 3.13), after
unit dimensions were folded. So an op is matched in the form that it has in a configured dispatch, without the
configuration. `Backend.spec_flag` is the flag by which a backend reads the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iree.compiler import ir

SPEC_ATTRIBUTE = "iree_codegen.tuning_spec_mlirbc"
"""On a module: the spec that MaterializeUserConfigs reads, as bytes, where no flag names a file."""
CONFIGURATION = "lowering_config"
"""The attribute by which a configured dispatch's op carries its decision."""
_MATCH_DAG = "transform.iree.match.cast_compatible_dag_from_root"
_NAME_ONLY = "match.operation_name_only"
"""On an op of the matched graph: any op of this name stands for it."""
_GENERIC = "linalg.generic"

_HEAD = """\
module attributes {iree_codegen.tuning_spec_with_default_entrypoint, transform.with_named_sequence} {
  transform.named_sequence @configure(%op: !transform.any_op {transform.readonly},
                                      %info: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %info : !transform.any_op, !transform.any_param
    transform.yield
  }
"""
_ENTRY = """\
  transform.named_sequence @NAME(%op: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {
    ^bb0(ARGUMENTS):
      %stand_in = arith.constant 0 : index
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    %info = transform.param.constant INFO -> !transform.any_param
    transform.yield %op, %info : !transform.any_op, !transform.any_param
  }
"""
_TAIL = """\
  transform.named_sequence @__kernel_config(%function: !transform.any_op {transform.consumed}) -> !transform.any_op
      attributes {iree_codegen.tuning_spec_entrypoint} {
    %tuned = transform.foreach_match in %function
        PAIRS : (!transform.any_op) -> !transform.any_op
    transform.yield %tuned : !transform.any_op
  }
}
"""


@dataclass(frozen=True)
class Entry:
    """``info`` (a `#iree_codegen.compilation_info<…>`) for every op that has the form of ``op``.

    ``op`` is live, in a configured dispatch; it stays as it is.
    """

    op: ir.Operation = field(compare=False)
    info: str
    name: str


def compilation_info(config: str, translation: str) -> str:
    """A `#iree_codegen.compilation_info` of a lowering configuration and a translation, as IREE prints both."""
    return f"#iree_codegen.compilation_info<lowering_config = {config}, translation_info = {translation}>"


def why_unmatchable(op: ir.Operation) -> str:
    """Why no matcher can be written for ``op``; empty where one can."""
    inside: set = set()
    captured: list[str] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == op:
            return ir.WalkResult.ADVANCE
        inside.update(inner.results)
        for operand in inner.operands:
            if isinstance(operand.owner, ir.Block):
                continue
            if operand not in inside:
                captured.append(str(operand.owner.name))
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    if captured:
        return f"its body uses a value from outside ({captured[0]}), which a matcher of IREE 3.13 cannot name"
    return ""


def write_spec(entries: Sequence[Entry]) -> str:
    """The text of a tuning spec with ``entries``, each form once. Raises ValueError where there are none.

    An operand that another generic op of the dispatch computes is matched as such, so that an op of the same
    form that reads memory (a plain convolution beside a dequantised one) keeps IREE's own choice.
    """
    if not entries:
        raise ValueError("a tuning spec needs an entry")
    texts: dict[str, str] = {}
    for entry in entries:
        texts.setdefault(_matcher(entry), entry.name)
    names = [f"match_{number}" for number in range(len(texts))]
    parts = [
        f"  // {dispatch}\n{text}".replace("@NAME", f"@{name}")
        for name, (text, dispatch) in zip(names, texts.items(), strict=True)
    ]
    pairs = ",\n        ".join(f"@{name} -> @configure" for name in names)
    return _HEAD + "".join(parts) + _TAIL.replace("PAIRS", pairs)


def attach_spec(module: ir.Operation, text: str) -> None:
    """Makes every dispatch of ``module`` read the spec ``text``, on each backend and without a flag.

    A file is parsed under a lock by a thread that may take another dispatch's task meanwhile, and that waits for the lock (IREE 3.13).
    """
    content = text.encode()
    values = ", ".join(str(byte if byte < 128 else byte - 256) for byte in content)
    module.attributes[SPEC_ATTRIBUTE] = ir.Attribute.parse(
        f"dense<[{values}]> : vector<{len(content)}xi8>", module.context
    )


def detach_spec(module: ir.Operation) -> None:
    """Undoes `attach_spec`."""
    if SPEC_ATTRIBUTE in module.attributes:
        del module.attributes[SPEC_ATTRIBUTE]


def _matcher(entry: Entry) -> str:
    """The named sequence that matches ``entry.op``: its text, indented, under the name @NAME."""
    op = entry.op
    read = [value for value in op.operands if not _computed(value)]
    arguments = ", ".join(f"%arg{i}: {value.type}" for i, value in enumerate(read))
    sequence = _ENTRY.replace("ARGUMENTS", arguments).replace("INFO", entry.info)
    with op.context, ir.Location.unknown():
        module = ir.Module.parse(f"module attributes {{transform.with_named_sequence}} {{\n{sequence}}}")
        block, stand_in = _graph_block(module.operation)
        with ir.InsertionPoint(stand_in):
            given = iter(block.arguments)
            operands = [
                _any_generic(value.type) if _computed(value) else next(given) for value in op.operands
            ]
            clone = op.clone()
        for i, value in enumerate(operands):
            clone.operands[i] = value
        if CONFIGURATION in clone.attributes:
            del clone.attributes[CONFIGURATION]
        stand_in.erase()
        text = module.body.operations[0].get_asm(use_local_scope=True)
    return "".join(f"  {line}\n" for line in text.splitlines())


def _computed(value: ir.Value) -> bool:
    """Whether a generic op of the same dispatch computes ``value``."""
    return not isinstance(value.owner, ir.Block) and value.owner.name == _GENERIC


def _graph_block(module: ir.Operation) -> tuple[ir.Block, ir.Operation]:
    """The block of the matched graph, and the op in it that stands where the graph goes."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == _MATCH_DAG:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    block = found[0].regions[0].blocks[0]
    return block, block.operations[0].operation


def _any_generic(type_: ir.Type) -> ir.Value:
    """The result, of type ``type_``, of a generic op that any generic op matches. Made at the insertion point."""
    shaped = ir.RankedTensorType(type_)
    loops = ", ".join(f"d{i}" for i in range(shaped.rank))
    kinds = ", ".join(['"parallel"'] * shaped.rank)
    made = ir.Module.parse(f"""
      %start = ub.poison : {type_}
      %any = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>], iterator_types = [{kinds}]}}
          outs(%start : {type_}) attrs = {{{_NAME_ONLY}}} {{
      ^bb0(%out: {shaped.element_type}):
        linalg.yield %out : {shaped.element_type}
      }} -> {type_}""")
    start, generic = (op.operation.clone() for op in made.body.operations)
    generic.operands[0] = start.results[0]
    return generic.results[0]
