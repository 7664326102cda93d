"""An op that IREE refuses alone, as a finding: its class, its places, and what makes IREE take it (FIS406 to FIS412)."""

from __future__ import annotations

from dataclasses import replace

from fissile.finding import Finding, Help, Place
from fissile.passes.analysis.legality.refused import Occurrence, Refused
from fissile.passes.analysis.legality.ways_out import WaysOut
from fissile.passes.iree.legality.candidates import (
    CHANGES_NUMBERS,
    FOR_ALL_TARGETS,
    FRONT_ENDS,
    INPUT_TYPE_FLAG,
    OPEN_TYPE,
    TERMINATORS,
)
from fissile.passes.iree.messages import quoted
from fissile.passes.iree.ops import UTIL_OPTIMIZATION_BARRIER
from fissile.passes.iree.phases import INPUT_CONVERTED_AT

MOST_PLACES = 12
"""Places of one op that a finding lists; the rest is counted."""
LONGEST_TYPES = 160
SUPPORTED = "`fissile support` lists ops and element types by target"

CLASSES = {
    "FIS406": "unknown op or dialect",
    "FIS407": "wrong front end",
    "FIS408": "must be handled now",
    "FIS409": "not supported on this target",
    "FIS410": "missing type information: element type",
    "FIS411": "missing type information: shape",
    "FIS412": "dead code",
}
"""Rule -> the class of an op, as the table of an audit says it."""


def check_refused(refused: Refused, ways: WaysOut, target: str = "") -> Finding:
    """The finding for ``refused``. ``target`` is the name of the target it was compiled for."""
    code = rule_of(refused, ways)
    places = _places(refused)
    count = len(refused.occurrences)
    return Finding(
        code,
        f"{_subject(refused)}{_times(count)} {_predicate(code, refused, ways, target)}",
        subject=refused.name,
        target="" if _is_early(refused) else target,
        places=places,
        helps=tuple(_helps(code, refused, ways, target)),
        notes=tuple(_notes(refused, ways, count - len(refused.occurrences[:MOST_PLACES]))),
        stock=quoted(refused.outcome.message) if refused.outcome.message and code != "FIS412" else "",
        detail=with_program(refused.outcome.text, refused.probe.text if refused.probe else ""),
    )


def with_program(message: str, program: str) -> str:
    """IREE's message, and the program that shows it without the rest of the model."""
    return f"{message.rstrip()}\n\nstandalone program that IREE refuses:\n{program}" if program else message


def rule_of(refused: Refused, ways: WaysOut) -> str:
    """The rule for ``refused``: what settles it decides, before where it failed."""
    if refused.unused and refused.dies_unused:
        return "FIS412"
    if refused.unknown:
        return "FIS406"
    if any(flag.startswith(INPUT_TYPE_FLAG) for flag in ways.flags):
        return "FIS407"
    if ways.lacking or ways.needs_tensors:
        return "FIS410"
    if ways.needs_static or ways.needs_rank:
        return "FIS411"
    if ways.flags or ways.passes:
        return "FIS408"
    if _is_early(refused) and dialect_of(refused.name) in FRONT_ENDS:
        return "FIS407"
    return "FIS408" if refused.outcome.failed in FOR_ALL_TARGETS else "FIS409"


def dialect_of(name: str) -> str:
    return name.split(".", 1)[0]


def _is_early(refused: Refused) -> bool:
    return refused.outcome.failed == INPUT_CONVERTED_AT


def _subject(refused: Refused) -> str:
    return f"{refused.inner[0]} (in {refused.name})" if refused.inner else refused.name


def _times(count: int) -> str:
    return "" if count == 1 else f" ({count} times)"


def _predicate(code: str, refused: Refused, ways: WaysOut, target: str) -> str:
    here = f" for {target}" if target and not _is_early(refused) else ""
    if code == "FIS412":
        return "is not supported and compiles only because nothing uses it"
    if code == "FIS406":
        return f"is unknown: IREE has no op '{refused.inner[0] if refused.inner else refused.name}'"
    if code == "FIS410":
        if ways.needs_tensors:
            return f"does not compile{here} on vectors outside a dispatch, but does on tensors"
        wide, narrow = ways.lacking[0]
        if wide == OPEN_TYPE:
            return f"does not compile{here} without an element type, but does with {narrow}"
        return f"does not compile{here} with elements of type {wide}, but does with {narrow}"
    if code == "FIS411":
        if ways.needs_rank:
            return f"does not compile{here} without the rank of its operands, but does with one"
        return f"does not compile{here} with dynamic sizes, but does with static ones"
    if code == "FIS407":
        front = FRONT_ENDS.get(dialect_of(refused.name), ("front end", ""))[0]
        return f"is not lowered by IREE's {front} import as it is used here"
    if code == "FIS408":
        return f"must be rewritten before phase {refused.outcome.failed}{here}"
    return f"has no code{here or ' on this target'}"


def _places(refused: Refused) -> tuple[Place, ...]:
    """Each occurrence; where a scalar op in the body is to blame, that comes first."""
    found = [_labelled(one, refused) for one in refused.occurrences[:MOST_PLACES] if one.place]
    if refused.inner and refused.inner[1]:
        found.insert(0, refused.inner[1])
    return tuple(dict.fromkeys(found))


def _labelled(one: Occurrence, refused: Refused) -> Place:
    assert one.place is not None
    return replace(one.place, label="contains it" if refused.inner else "")


def _helps(code: str, refused: Refused, ways: WaysOut, target: str) -> list[Help]:
    on = f", for {target}" if target else ""

    def checked(title: str, what: str, *facts: tuple[str, str]) -> Help:
        return Help(title, facts=(("checked", f"IREE compiles the op alone {what}{on}"), *facts))

    helps = [checked(f"compile with {flag}", f"with {flag}", *_costs(flag)) for flag in ways.flags]
    helps += [
        checked(f"rewrite it: fissile-opt --pass-pipeline='{one}'", "after that pass") for one in ways.passes
    ]
    helps += [checked(_type_help(wide, narrow), f"with {narrow}") for wide, narrow in ways.lacking]
    if ways.needs_tensors:
        helps.append(checked("use tensors instead of vectors", "with tensors"))
    if ways.needs_rank:
        helps.append(checked("give its operands a rank, as in tensor<?x?xf32>", "with rank 2"))
    if ways.needs_static:
        helps.append(checked("give its operands static sizes", "with static sizes"))
    if code == "FIS412":
        helps.append(Help("remove the op"))
    return helps or _other_ways(code, refused)


def _other_ways(code: str, refused: Refused) -> list[Help]:
    """What to do where nothing that was tried makes IREE take the op."""
    if code == "FIS406":
        return [
            Help("replace it in the model with ops that IREE has, or lower it with a pass of your own before")
        ]
    if code == "FIS407":
        return _front_end_help(refused)
    return [Help("replace it in the model with ops that IREE compiles", facts=(("which", SUPPORTED),))]


def _type_help(wide: str, narrow: str) -> str:
    if wide == OPEN_TYPE:
        return f"give the tensors an element type in the model, such as {narrow}"
    return f"use {narrow} instead of {wide}"


def _costs(flag: str) -> list[tuple[str, str]]:
    """What a flag that converts types does to the rest of the program."""
    if any(word in flag for word in CHANGES_NUMBERS) and not flag.endswith("=false"):
        return [("costs", "the whole program computes in the other type: other precision, other range")]
    return []


def _front_end_help(refused: Refused) -> list[Help]:
    dialect = dialect_of(refused.name)
    if dialect in ("torch", "torch_c", "tm_tensor"):
        op = refused.name.removeprefix("torch.").replace("aten.", "torch.ops.aten.", 1)
        return [
            Help(
                "have the exporter decompose it",
                facts=(
                    (
                        "how",
                        f"decomposition_table with an entry for {op}, given to torch.export / aot.export",
                    ),
                ),
            )
        ]
    if dialect == "onnx":
        return [
            Help(
                "write it with other ONNX operators, or convert the model to an opset in which it is a function of such"
            )
        ]
    return [Help("rewrite it into ops that IREE lowers before the import")]


def _notes(refused: Refused, ways: WaysOut, more: int) -> list[str]:
    notes = [f"class: {CLASSES[rule_of(refused, ways)]}"]
    if refused.types:
        notes.append(f"types: {_short(refused.types)}")
    if refused.outcome.failing_pass:
        notes.append(
            f"IREE stops in pass {refused.outcome.failing_pass}, before phase {refused.outcome.failed}"
        )
    if refused.probe is None and not refused.unknown:
        notes.append(
            "it cannot be compiled alone, since no function takes or returns its types; IREE's message names it"
        )
    if more > 0:
        notes.append(f"and {more} more places")
    if ways.on_reference is not None:
        notes.append("llvm-cpu accepts the op alone" if ways.on_reference else "llvm-cpu rejects the op too")
    notes += _uses(refused)
    return notes


def _uses(refused: Refused) -> list[str]:
    """What keeps the op alive: without its uses, dead code elimination would remove it."""
    if refused.unused:
        if refused.types.endswith("-> ()"):
            return []
        if refused.dies_unused:
            return ["dead code elimination removes it; any use of its result makes IREE refuse the program"]
        return ["nothing uses its result; it stays because IREE does not know it to be free of effects"]
    users = [user for one in refused.occurrences for user in one.users]
    if refused.dies_unused and len(refused.occurrences) == 1 and len(users) == 1:
        name, place = users[0]
        if name.endswith(TERMINATORS) or name == UTIL_OPTIMIZATION_BARRIER:
            return []  # the result of a program
        at = f" at {place}" if place else ""
        return [f"only {name}{at} uses it; without that use it is dead code"]
    return []


def _short(types: str) -> str:
    """``types``, whole or with its operands counted: a sentence is never cut in the middle."""
    if len(types) <= LONGEST_TYPES:
        return types
    operands, _, results = types.rpartition(" -> ")
    count = operands.count("tensor<") + operands.count("!torch.")
    return f"{count} operands -> {results}" if len(results) <= LONGEST_TYPES else f"{count} operands"
