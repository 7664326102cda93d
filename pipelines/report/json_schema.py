"""The JSON that every command writes with `--format=json`, as a JSON Schema (draft 2020-12)."""

from __future__ import annotations

from fissile import wire
from fissile.report import Report
from fissile.rules import RULES

from .json_document import SCHEMA


def _object(required: dict, **optional: dict) -> dict:
    return {
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_COUNT = {"type": ["integer", "null"], "minimum": 0}
_TYPES = wire.schemas(Report)
"""Of a report and all that is in it, as the types declare them."""
_REPORTED = _TYPES.pop("Report")["properties"]
_TYPES["Finding"]["properties"]["code"] = {"enum": sorted(RULES)}
_CERTAINTY = {"$ref": "#/$defs/Certainty"}
FINDING = {"$ref": "#/$defs/Finding"}
_BUFFER = _object(
    {
        "bytes": _COUNT,
        "value": _TEXT,
        "reason": _TEXT,
        "scales_with_tile": {"type": ["boolean", "null"]},
        "formula": {"type": ["string", "null"]},
    }
)
_DISPATCH = _object(
    {
        "name": _TEXT,
        "codegen": _TEXT,
        "place": _TEXT,
        "bytes": _COUNT,
        "certainty": _CERTAINTY,
        "formula": {"type": ["string", "null"]},
        "largest": {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
        "fits": {"type": ["boolean", "null"]},
        "code_generated": {"type": "boolean"},
        "doubts": {"type": "array", "items": _TEXT},
        "buffers": {"type": "array", "items": _BUFFER},
    }
)
_COUNT = {"type": ["integer", "null"], "minimum": 0}
_MEMORY = _object(
    {
        "function": _TEXT,
        "complete": {"type": "boolean"},
        "peak": _COUNT,
        "bound": _COUNT,
        "at": _TEXT,
        "alive": {
            "type": "array",
            "items": _object(
                {
                    "bytes": _COUNT,
                    "tensors": {"type": "array", "items": _TEXT},
                    "needed": {"type": "boolean"},
                    "at": _TEXT,
                }
            ),
        },
        "over_time": {
            "type": "array",
            "items": _object({"at": _TEXT, "op": _TEXT, "live": _COUNT, "needed": _COUNT}),
        },
    }
)
"""Live bytes of one function over program time (`--memory`); null where a size is computed by the program."""
_INDICES = {"type": "array", "items": {"type": "integer", "minimum": 0}}
_GRAPH = _object(
    {
        "ops": {
            "type": "array",
            "items": _object({"name": _TEXT, "op": _TEXT, "type": _TEXT, "place": _TEXT, "feeds": _INDICES}),
        },
        "dispatches": {"type": "array", "items": _object({"name": _TEXT, "ops": _INDICES})},
    }
)
"""The source ops at global optimisation, with the indices of those that take their results, and which of them each dispatch holds."""
_TARGET = _object(
    {
        "name": _TEXT,
        "limit": {"type": "integer", "minimum": 1},
        "per": _TEXT,
        "source": _TEXT,
        "dispatches": {"type": "array", "items": _DISPATCH},
    },
    memory={"type": "array", "items": _MEMORY},
    graph=_GRAPH,
)
_CONTRACT = {"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}}
"""Function -> what its caller must keep to, a sentence each (the storage guard's preconditions)."""
_FACTS = {"type": "object"}


def _report(command: str, facts: dict, output: dict = _TEXT) -> dict:
    return _object(
        {
            "schema": {"const": SCHEMA},
            "fissile": _TEXT,
            "iree": _TEXT,
            "command": {"const": command},
            "exit_code": {"enum": [0, 1]},
            "output": output,
            "findings": _REPORTED["findings"],
            "messages": _REPORTED["messages"],
            "seconds": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
            "facts": facts,
        }
    )


_RUN = _object(
    {
        "program": _TEXT,
        "runtime": _TEXT,
        "seed": {"type": ["integer", "null"]},
        "against": _TEXT,
        "agrees": {"type": "boolean"},
        "sentence": _TEXT,
        "outputs": {"type": "array", "items": _FACTS},
        "finding": {"anyOf": [{"type": "null"}, FINDING]},
    }
)
_CERTIFICATE = _object(
    {
        "subject": _TEXT,
        "agrees": {"type": "boolean"},
        "bit_identical": {"type": "boolean"},
        "sentence": _TEXT,
        "checks": {"type": "array", "items": _RUN},
        "skipped": {"type": "array", "items": _TEXT},
    }
)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
CHECK_REPORT = {
    "$schema": _DRAFT,
    "$defs": _TYPES,
    "title": "fissile check --format=json",
    **_report(
        "check",
        _object({"targets": {"type": "array", "items": _TARGET}, "contract": _CONTRACT}, imported=_TEXT),
        {"const": ""},
    ),
}
"""Of `fissile check`; docs/footprint.md says what its facts mean."""
REPORT = {
    "$schema": _DRAFT,
    "$defs": _TYPES,
    "title": "a report of fissile in JSON",
    "oneOf": [
        _report("compile", _FACTS),
        _report("audit", _FACTS, {"const": ""}),
        {name: value for name, value in CHECK_REPORT.items() if name not in ("$schema", "$defs")},
        # A program that crashes IREE has no certificate.
        _report("verify", _object({}, certificate=_CERTIFICATE), {"const": ""}),
        _report("reduce", _FACTS),
        _report("fissile-opt", _FACTS),
    ],
}
"""Of every command: `fissile explain --json-schema` prints it."""
