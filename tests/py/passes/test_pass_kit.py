"""What makes a pass: definitions that are refused by name, options from and to text, the catalogue."""

import importlib
import pkgutil
import subprocess
import sys
from dataclasses import dataclass, fields
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fissile.passes.checks
import fissile.passes.remedies
from fissile.errors import UsageError
from fissile.passes import catalogue, definition
from fissile.passes.definition import (
    Contract,
    Pass,
    PassDefinitionError,
    Property,
    define_property,
    make_pass,
    option,
    register_pass,
)
from fissile.passes.options import split_options


@pytest.fixture(autouse=True)
def registries(monkeypatch):
    """What a test registers is gone after it; what fissile itself registers stays."""
    for name in catalogue.built_in():
        catalogue.find_pass(name)
    monkeypatch.setattr(definition, "_PASSES", dict(definition._PASSES))
    monkeypatch.setattr(definition, "_PROPERTIES", dict(definition._PROPERTIES))


@dataclass(frozen=True)
class Everything(Pass):
    """A pass with an option of every type."""

    name: ClassVar[str] = "test-everything"
    count: int = option(1, "an integer")
    on: bool = option(False, "a switch")
    ratio: float = option(0.5, "a number")
    some_word: str = option("", "a word")
    sizes: tuple[int, ...] = option((), "integers")
    words: tuple[str, ...] = option((), "words")
    limit: int | None = option(None, "an integer, or not given")
    part: float = option(1, "a number whose default is an integer")

    def run(self, op, report):
        pass


def test_options_have_the_types_of_their_fields():
    made = make_pass(
        Everything, "count=0x10 on=true ratio=1e-3 some-word='a b' sizes=1,2 words={x, y} limit=3"
    )
    assert made == Everything(16, True, 0.001, "a b", (1, 2), ("x", "y"), 3)
    assert make_pass(Everything, "on some_word=x") == Everything(on=True, some_word="x")
    assert make_pass(Everything) == Everything()


def test_a_pass_prints_what_differs_from_its_defaults():
    assert str(Everything()) == "test-everything"
    assert str(Everything(count=2, on=True, words=("a", "b"))) == "test-everything{count=2 on=true words=a,b}"


word = st.text(alphabet="abXY09_-./= {}", max_size=8).filter(lambda s: s.count("{") == s.count("}") == 0)


@given(
    st.builds(
        Everything,
        st.integers(),
        st.booleans(),
        st.floats(allow_nan=False),
        word,
        st.lists(st.integers(), max_size=3).map(tuple),
        st.lists(st.from_regex(r"[a-z]{1,4}", fullmatch=True), max_size=3).map(tuple),
        st.none() | st.integers(),
    )
)
def test_options_printed_and_read_are_the_same(made):
    printed = str(made)
    text = printed[len("test-everything{") : -1] if printed.endswith("}") else ""
    assert make_pass(Everything, text) == made


@pytest.mark.parametrize(
    "text, message, hint",
    [
        ("cuont=1", "pass 'test-everything' has no option 'cuont'", "did you mean 'count'?"),
        ("count=x", "option 'count' of pass 'test-everything' takes an integer, not 'x'", ""),
        ("count", "option 'count' of pass 'test-everything' takes an integer, not nothing", ""),
        ("on=maybe", "option 'on' of pass 'test-everything' takes true or false, not 'maybe'", ""),
        (
            "sizes=1,b",
            "option 'sizes' of pass 'test-everything' takes integers separated by commas, not '1,b'",
            "",
        ),
        ("count=1 count=2", "pass 'test-everything' is given option 'count' twice", ""),
        ("words={a", "options of pass 'test-everything': missing }", "the options were: words={a"),
    ],
)
def test_wrong_options_are_refused_naming_pass_and_option(text, message, hint):
    with pytest.raises(UsageError) as refused:
        make_pass(Everything, text)
    assert (refused.value.message, refused.value.hint) == (message, hint)


def test_options_split_outside_brackets_and_quotes_only():
    assert split_options("a=1  b={x y={z}} c='p q' d") == [
        ("a", "1"),
        ("b", "x y={z}"),
        ("c", "p q"),
        ("d", None),
    ]
    assert split_options("a={x}{y}") == [("a", "{x}{y}")]


def define(body: str, decorator="@dataclass(frozen=True)", base="Pass"):
    """A pass class as a user's file would define it, registered."""
    lines = "\n    ".join(body.split("\n"))
    source = f"from dataclasses import *\n@register_pass\n{decorator}\nclass Wrong({base}):\n    {lines}\n"
    namespace = {
        "register_pass": register_pass,
        "Pass": Pass,
        "option": option,
        "ClassVar": ClassVar,
        "Contract": Contract,
        "Property": Property,
        "__name__": __name__,
    }
    exec(source, namespace)
    return namespace["Wrong"]


GOOD = '"""Documented."""\nname: ClassVar[str] = "test-good"\ndef run(self, op, report): pass'


def test_a_good_definition_is_registered():
    assert "test-good" not in catalogue.known_passes()
    defined = define(GOOD)
    assert catalogue.find_pass("test-good") is defined
    assert "test-good" in catalogue.known_passes()


@pytest.mark.parametrize(
    "body, kwargs, says",
    [
        (GOOD, {"decorator": ""}, "is a frozen dataclass"),
        (GOOD, {"decorator": "@dataclass"}, None),
        (GOOD, {"base": "object"}, "derives from fissile's Pass"),
        (GOOD.replace("test-good", "TestGood"), {}, "its name 'TestGood' is not lower case"),
        (GOOD.replace("test-good", ""), {}, "its name '' is not lower case"),
        (GOOD.replace('"test-good"', "5"), {}, "its name 5 is no text"),
        (GOOD.replace('"test-good"', "None"), {}, "its name None is no text"),
        (GOOD.replace("test-good", "fissile-lower-groups"), {}, "is the name of a pass of fissile"),
        (GOOD.replace('"""Documented."""\n', ""), {}, "no docstring"),
        (GOOD.split("\ndef")[0], {}, "does not define run"),
        (GOOD + "\nx: dict = option(None, 'd')", {}, "option 'x' has type"),
        (GOOD + "\nx: list[int] = option((), 'd')", {}, "option 'x' has type"),
        (GOOD + "\nx: int = 3", {}, "option 'x' is not documented"),
        (GOOD + "\nx: int = option('1', 'd')", {}, "the default of option 'x', '1', is not of its type: int"),
        (GOOD + "\nx: int = option(True, 'd')", {}, "is not of its type: int"),
        (GOOD + "\nx: str = option(None, 'd')", {}, "is not of its type: str"),
        (GOOD + "\nx: tuple[int, ...] = option(('1',), 'd')", {}, "is not of its type: list of int"),
        (GOOD + "\nanchor: ClassVar[str] = 'func'", {}, "its anchor 'func' is no op"),
        (GOOD + "\nanchor: ClassVar[str] = 'func.func '", {}, "its anchor 'func.func ' is no op"),
        (GOOD + "\nanchor: ClassVar[str] = None", {}, "its anchor None is no op"),
        (GOOD + "\nx: int = field(metadata={'doc': 'd'})", {}, "option 'x' has no default"),
        (GOOD + "\ncontract: ClassVar = 'none'", {}, "its contract is not a Contract"),
        (GOOD + "\ncontract: ClassVar = Contract(requires=['x'])", {}, "contract.requires is not a tuple"),
        (GOOD + "\ncontract: ClassVar = Contract(requires=('x',))", {}, "which no define_property made"),
        (
            GOOD + "\ncontract: ClassVar = Contract(requires=(Property('p', 's', list),))",
            {},
            "no define_property made",
        ),
        (GOOD + "\ndialects: ClassVar = 'cf'", {}, "its dialects are not a tuple"),
    ],
)
def test_a_wrong_definition_is_refused_naming_the_class(body, kwargs, says):
    if says is None:  # a plain dataclass below a frozen one: Python itself refuses
        with pytest.raises(TypeError):
            define(body, **kwargs)
        return
    with pytest.raises(PassDefinitionError) as refused:
        define(body, **kwargs)
    assert f"pass class {__name__}.Wrong: " in str(refused.value)
    assert says in str(refused.value)


def test_two_classes_cannot_have_one_name():
    define(GOOD)
    with pytest.raises(PassDefinitionError, match="its name 'test-good' belongs to"):

        @register_pass
        @dataclass(frozen=True)
        class Other(Pass):
            """Documented."""

            name: ClassVar[str] = "test-good"

            def run(self, op, report):
                pass


def test_a_contract_cannot_establish_and_break_one_property():
    both = define_property("test-both", "a sentence")(lambda op: [])
    with pytest.raises(PassDefinitionError, match="both establishes and invalidates test-both"):

        @register_pass
        @dataclass(frozen=True)
        class Both(Pass):
            """Documented."""

            name: ClassVar[str] = "test-both-ways"
            contract: ClassVar[Contract] = Contract(establishes=(both,), invalidates=(both,))

            def run(self, op, report):
                pass


def test_a_property_is_defined_once_and_has_a_plain_name():
    define_property("test-once", "a sentence")(lambda op: [])
    with pytest.raises(PassDefinitionError, match="'test-once' is defined twice"):
        define_property("test-once", "a sentence")(lambda op: [])
    for wrong in ("Test Once", 5):
        with pytest.raises(PassDefinitionError, match="lower case words"):
            define_property(wrong, "a sentence")(lambda op: [])


def test_the_catalogue_lists_exactly_the_passes_that_the_modules_define():
    for package in (fissile.passes.checks, fissile.passes.remedies):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
    defined = {
        name: cls.__module__
        for name, cls in definition.registered_passes().items()
        if cls.__module__.startswith("fissile.passes.")
    }
    assert defined == catalogue.built_in()


def test_every_built_in_option_and_pass_explains_itself():
    for name in catalogue.built_in():
        cls = catalogue.find_pass(name)
        assert cls.__doc__.strip().endswith("."), name
        assert all(field.metadata["doc"] for field in fields(cls))
        assert name.startswith("fissile-")


def test_an_unknown_pass_is_refused_with_the_nearest():
    with pytest.raises(UsageError) as refused:
        catalogue.find_pass("fissile-lower-boundary")
    assert refused.value.hint == "did you mean 'fissile-lower-boundaries'?"


USER_FILE = '''
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from fissile.passes.definition import Pass, option, register_pass

@register_pass
@dataclass(frozen=True)
class Mine(Pass):
    """Documented."""
    name: ClassVar[str] = "NAME"
    size: int = option(1, "a size")
    def run(self, op, report): pass
'''


def test_a_users_file_is_loaded_once_and_its_passes_are_known(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(USER_FILE.replace("NAME", "test-mine"))
    assert catalogue.load_user_passes(file) == ("test-mine",)
    first = catalogue.find_pass("test-mine")
    assert catalogue.load_user_passes(str(file)) == ("test-mine",)
    assert catalogue.find_pass("test-mine") is first
    assert make_pass(first, "size=3").size == 3


def test_a_name_of_fissiles_is_taken_before_its_module_is_loaded():
    code = (
        "import fissile, sys\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
        "from fissile.passes.definition import Pass, PassDefinitionError\n"
        "assert not any(name.startswith('fissile.passes.remedies.') for name in sys.modules)\n"
        "try:\n    @fissile.register_pass\n    @dataclass(frozen=True)\n    class Mine(Pass):\n"
        "        'Documented.'\n        name: ClassVar[str] = 'fissile-lower-groups'\n"
        "        def run(self, op, report): pass\n"
        "except PassDefinitionError as error:\n    print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "its name 'fissile-lower-groups' is the name of a pass of fissile" in ended.stdout


def test_a_name_of_two_files_is_named_with_the_other_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text(USER_FILE.replace("NAME", "test-of-two-files"))
    catalogue.load_user_passes("one.py")
    with pytest.raises(UsageError) as refused:
        catalogue.load_user_passes("other.py")
    assert "pass class Mine: its name 'test-of-two-files' belongs to Mine of one.py" in refused.value.message
    assert (
        refused.value.message.startswith("other.py ") and "fissile_user_passes" not in refused.value.message
    )


@pytest.mark.parametrize(
    "text, says",
    [
        (None, "no such file of passes: "),
        ("import nothing_of_that_name", "cannot be imported: ModuleNotFoundError: No module named"),
        ("def", "cannot be imported: SyntaxError"),
        ("raise ValueError('two\\nlines')", "cannot be imported: ValueError: two lines"),
        (USER_FILE.replace("NAME", "Not Kebab"), "cannot be imported: PassDefinitionError: pass class"),
        (USER_FILE.replace("NAME", "fissile-check-leftovers"), "fissile-check-leftovers"),
    ],
)
def test_a_users_file_that_is_wrong_is_one_line(tmp_path, text, says):
    file = tmp_path / "wrong.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError) as refused:
        catalogue.load_user_passes(file)
    assert says in refused.value.message and "\n" not in refused.value.message
    assert str(file) in refused.value.message


@pytest.mark.parametrize(
    "name, anchor, says",
    [
        ("canonicalize", "builtin.module", "its name 'canonicalize' is the name of a pass of IREE"),
        ("iree-llvmcpu-tile", "any", "its name 'iree-llvmcpu-tile' is the name of a pass of IREE"),
        ("test-p", "func.nop", "its anchor 'func.nop' is no op: the dialect 'func' has none of that name"),
        ("test-p", "hal.executable", ""),
        ("test-p", "mine.op", ""),  # an input may hold ops that IREE does not know
    ],
)
def test_a_users_file_hides_no_pass_of_iree_and_names_an_op_that_there_is(name, anchor, says, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from fissile.passes.definition import Pass, register_pass\n"
        "@register_pass\n@dataclass(frozen=True)\n"
        'class Mine(Pass):\n    """Documented."""\n'
        f"    name: ClassVar[str] = {name!r}\n    anchor: ClassVar[str] = {anchor!r}\n"
        "    def run(self, op, report): pass\n"
    )
    if not says:
        assert catalogue.load_user_passes(file) == (name,)
        return
    with pytest.raises(PassDefinitionError) as raised:
        catalogue.load_user_passes(file)
    assert raised.value.message == f"{file}: pass class Mine: {says}" and raised.value.hint
