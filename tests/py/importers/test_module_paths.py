"""The path of a PyTorch module in an op's location; no PyTorch needed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest
from iree.compiler import ir

from fissile.dialect.places import place_of_location
from fissile.pipelines.importers.module_paths import STACK, module_path, module_paths_kept


@pytest.mark.parametrize(
    ("stack", "path"),
    [
        (
            {"L__self__": ("", "Model"), "a": ("layers.0", "Block"), "b": ("layers.0.attn", "Linear")},
            "layers.0.attn",
        ),
        ({"a": ("L['self'].layers[0].attn", "Linear")}, "layers.0.attn"),
        ({"a": ("L['self'].blocks['first'].attn", "Linear")}, "blocks.first.attn"),
        ({"a": ("L['self']", "Model")}, ""),
        ({"a": ["layers.1", "Block"]}, "layers.1"),
        ({"a": ("selfish.norm", "Norm")}, "selfish.norm"),
        ({}, ""),
        (None, ""),
        ({"a": ()}, ""),
    ],
)
def test_the_innermost_path_as_named_modules_writes_it(stack, path):
    assert module_path(stack) == path


@pytest.fixture
def importer(monkeypatch):
    """Stands for IREE's, which is imported with PyTorch only: the part of it that is changed."""
    module = ModuleType("iree.compiler.extras.fx_importer")

    class ContextCache:
        def get_node_location(self, node):
            return node.meta.get("location")

    module.ContextCache = ContextCache
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return ContextCache


def test_the_path_is_the_name_of_the_place(importer):
    plain = importer.get_node_location
    with ir.Context():
        location = ir.Location.file("model.py", 12, 1)
        node = SimpleNamespace(meta={"location": location, STACK: {"a": ("layers.0.attn", "Linear")}})
        with module_paths_kept():
            place = place_of_location(importer().get_node_location(node))
            assert importer().get_node_location(SimpleNamespace(meta={"location": location})) == location
            assert importer().get_node_location(SimpleNamespace(meta={})) is None
    assert (str(place), place.name) == ("model.py:12:1", "layers.0.attn")
    assert importer.get_node_location is plain


def test_an_importer_of_another_make_is_left_as_it_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "iree.compiler.extras.fx_importer", ModuleType("other"))
    with module_paths_kept():
        pass
