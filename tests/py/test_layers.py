"""The house keeps its order: imports go down, IREE's names stay in one room, a file has a name of its own.

The rules are functions in shared/house_rules; tests/py/house/test_rules.py runs each on a tree made to break it.
"""

from __future__ import annotations

import pytest
from house_rules.files import crowded_folders, empty_names, long_files
from house_rules.imports import (
    KNOWN_CYCLES,
    compiler_imports_in_the_vocabulary,
    import_cycles,
    imports_of_nothing,
    names_that_iree_lacks,
    new_cycles,
    packages_without_a_layer,
    upward_imports,
)
from house_rules.iree_names import NAMES_ALLOWED, iree_names_in, stray_iree_names
from house_rules.source_tree import FOLDERS, ROOT, Module, modules_beside, modules_of


@pytest.fixture(scope="module")
def tree() -> list[Module]:
    found = modules_of(ROOT)
    assert {m.path.split("/")[0] for m in found} == set(
        FOLDERS
    )  # else every rule below would hold for nothing
    return found


def none_of(offences: list[str]) -> None:
    assert not offences, "\n" + "\n".join(offences)


def test_imports_go_down(tree):
    none_of(upward_imports(tree))


def test_no_module_is_part_of_a_new_cycle(tree):
    none_of(new_cycles(tree, KNOWN_CYCLES))
    cycles = import_cycles(tree)
    assert len(cycles) <= len(KNOWN_CYCLES)


def test_what_is_imported_exists(tree):
    none_of(imports_of_nothing([*tree, *modules_beside(ROOT)], tree))


def test_irees_bindings_have_what_is_read_from_them(tree):
    none_of(names_that_iree_lacks(tree))


def test_the_vocabulary_is_plain_data(tree):
    none_of(compiler_imports_in_the_vocabulary(tree))


def test_every_package_has_a_layer(tree):
    none_of(packages_without_a_layer(tree))


def test_irees_names_stand_in_pipelines_iree_only(tree):
    none_of(stray_iree_names(tree, NAMES_ALLOWED))


def test_no_allowance_is_left_over(tree):
    used = {(m.path, name) for m in tree for _, name in iree_names_in(m)}
    assert NAMES_ALLOWED - used == set()


def test_files_are_named_by_what_they_decide(tree):
    none_of(empty_names(tree))


def test_files_stay_short(tree):
    none_of(long_files(tree))


def test_no_folder_is_crowded(tree):
    none_of(crowded_folders(tree))
