"""One node in ONNX's text format."""

from __future__ import annotations

from ..entries import of


def case(name: str, inputs: str, node: str, opset: int = 19, given: dict | None = None, **weights) -> None:
    """Adds a program of ``node``; of several nodes, the last one ends in a semicolon, and its result is y."""
    results = "y" if ";" in node else node.partition("=")[0].strip()
    of(f"form_{name}", f"{inputs} => {results}", node.replace(";", " "), opset, given, **weights)


def attributes(**values) -> str:
    """`<axis=1, mode="linear">`; what is None is left out."""
    held = [f"{name}={_spelled(value)}" for name, value in values.items() if value is not None]
    return f"<{', '.join(held)}>" if held else ""


def _spelled(value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(_spelled, value))}]"
    return str(value)
