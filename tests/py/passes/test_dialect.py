"""The dialect in process and the dialect in IRDL: the same ops, the same names, the same verdicts."""

import itertools
import re
import subprocess

import pytest
from iree.compiler import ir

from fissile import dialect
from fissile.dialect import ops
from fissile.dialect.verify import verify_dialect


@pytest.fixture(scope="module")
def context():
    made = ir.Context()
    dialect.register(made)
    return made


def irdl_ops() -> dict[str, dict[str, list[str]]]:
    """Op name -> names of operands, results, attributes and regions, as fissile.irdl.mlir declares them."""
    text = re.sub(r"//.*", "", dialect.irdl_file().read_text())
    found = {}
    for name, body in re.findall(r"irdl\.operation @(\w+) \{(.*?)\n  \}", text, re.DOTALL):

        def listed(kind, body=body):
            match = re.search(rf"irdl\.{kind}\((.*?)\)", body)
            return re.findall(r"(\w+):", match.group(1)) if match else []

        attributes = re.search(r"irdl\.attributes \{(.*?)\}", body)
        found[f"fissile.{name}"] = {
            "operands": listed("operands"),
            "results": listed("results"),
            "regions": listed("regions"),
            "attributes": re.findall(r'"(\w+)"', attributes.group(1)) if attributes else [],
        }
    return found


def test_irdl_and_python_declare_the_same_ops():
    assert set(irdl_ops()) == set(dialect.OP_NAMES)


@pytest.mark.parametrize("cls", ops.OPS, ids=lambda cls: cls.OPERATION_NAME)
def test_python_accessors_are_the_operands_attributes_and_regions_of_irdl(cls):
    declared = irdl_ops()[cls.OPERATION_NAME]
    accessors = {name for name, value in vars(cls).items() if isinstance(value, property)}
    if cls is ops.GroupOp:  # its terminator's operands, which IRDL cannot name
        accessors -= {"yielded"}
    assert accessors == {*declared["operands"], *declared["attributes"], *declared["regions"]}
    assert cls._ODS_REGIONS[0] == len(declared["regions"])


def build_everything(context) -> ir.Module:
    """A module with every op, made by the builders."""
    from iree.compiler.dialects import func

    dialect.load_dialects(context, ["func", "flow"])
    with context, ir.Location.file("made.py", 1, 1):
        module = ir.Module.create()
        tensor = ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size(), 4], ir.F32Type.get())
        index, i1 = ir.IndexType.get(), ir.IntegerType.get_signless(1)
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("f", ([tensor, index, i1], [tensor]))
            function.attributes[dialect.BUDGET] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 4096)
        block = function.add_entry_block()
        value, size, condition = block.arguments
        with ir.InsertionPoint(block):
            boundary = ops.BoundaryOp(value)
            ops.RequireOp(condition, "the condition holds")
            storage = ops.AllocStorageOp(size)
            on_storage = ops.AllocTensorOp(tensor, storage.results[0], size, [size])
            group = ops.GroupOp([tensor])
            with ir.InsertionPoint(group.body):
                ir.Operation.create(dialect.GROUP_TERMINATOR, operands=[boundary.results[0]])
            ops.KillOp(on_storage.results[0])
            ops.KillOp(storage.results[0])
            func.ReturnOp([group.results[0]])
        assert boundary.value == value and group.yielded == [boundary.results[0]]
    return module


def test_what_the_builders_make_verifies_here_and_in_iree_opt(context):
    module = build_everything(context)
    module.operation.verify()
    assert verify_dialect(module.operation) == []
    done = subprocess.run(
        ["iree-opt", f"--irdl-file={dialect.irdl_file()}", "-"],
        input=str(module),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    # iree-opt's registered ops print as ours do.
    assert done.stdout.split() == str(module).split()


def test_parsed_ops_come_back_as_the_classes_with_their_parts(context):
    module = ir.Module.parse(str(build_everything(context)), context=context)
    body = module.body.operations[0].regions[0].blocks[0].operations
    classes = [type(op) for op in body][:-1]
    assert classes == [
        ops.BoundaryOp,
        ops.RequireOp,
        ops.AllocStorageOp,
        ops.AllocTensorOp,
        ops.GroupOp,
        ops.KillOp,
        ops.KillOp,
    ]
    boundary, require, storage, on_storage, group, kill, _ = list(body)[:-1]
    assert require.message == "the condition holds" and str(require.condition.type) == "i1"
    assert storage.capacity == on_storage.offset == on_storage.sizes[0]
    assert on_storage.storage == storage.results[0] and kill.value == on_storage.results[0]
    assert group.yielded == [boundary.results[0]]


def test_registering_twice_changes_nothing(context):
    before = context.allow_unregistered_dialects
    dialect.register(context)
    assert before is context.allow_unregistered_dialects is True


def test_places_are_read_through_every_kind_of_location(context):
    def place(location):
        return dialect.place_of(ir.Module.parse(f"module {{}} {location}", context=context).operation)

    assert str(place('loc("a.mlir":3:7)')) == "a.mlir:3:7"
    assert str(place('loc("name"("a.mlir":3:7))')) == "a.mlir:3:7"
    assert str(place('loc(fused[unknown, "b.py":1:2])')) == "b.py:1:2"
    assert str(place('loc(callsite("fz":12:1 at "b.py":1:2))')) == "b.py:1:2"  # a tag is no place
    assert place("loc(unknown)") is None and place('loc("fz":1:1)') is None


TYPES = ("i1", "index", "tensor<4xf32>", "tensor<?xf32>", "!fissile.storage")
OPERANDS = [pair for n in range(3) for pair in itertools.product(TYPES, repeat=n)]
RESULTS = [(), ("tensor<4xf32>",), ("tensor<?xf32>",), ("!fissile.storage",)]
STRICTER_IN_PROCESS = re.compile(r"dynamic dimension")
"""What verify.py says and IRDL cannot: the size of alloc_tensor's dynamic dimensions."""


def drawn_ops() -> list[str]:
    """Every op of the dialect with every choice of up to two operands and one result."""
    texts = []
    for name, operands, results in itertools.product(dialect.OP_NAMES, OPERANDS, RESULTS):
        if name == "fissile.group":
            continue  # takes no operands; lit tests its body
        arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(operands))
        values = ", ".join(f"%a{i}" for i in range(len(operands)))
        attributes = ' {message = "m"}' if name == "fissile.require" else ""
        texts.append(
            f'func.func @f({arguments}) {{ {"%r = " if results else ""}"{name}"({values}){attributes} : '
            f"({', '.join(operands)}) -> ({', '.join(results)}) return }}"
        )
    return texts


def test_process_and_irdl_refuse_the_same_ops(context):
    texts = drawn_ops()
    separator = "// -----\n"  # op number i stands on line 2 i + 1
    done = subprocess.run(
        ["iree-opt", f"--irdl-file={dialect.irdl_file()}", "--split-input-file", "-", "-o", "/dev/null"],
        input=separator.join(text + "\n" for text in texts),
        capture_output=True,
        text=True,
        timeout=300,
    )
    refused_by_irdl = {
        (int(line) - 1) // 2 for line in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)
    }
    assert 0 < len(refused_by_irdl) < len(texts)
    accepted = 0
    for number, text in enumerate(texts):
        printed = [f.message for f in verify_dialect(ir.Module.parse(text, context=context).operation)]
        if number in refused_by_irdl:
            assert printed, f"iree-opt refuses, fissile does not: {text}"
        else:
            assert all(STRICTER_IN_PROCESS.search(message) for message in printed), f"{text}: {printed}"
            accepted += not printed
    assert accepted >= len(ops.OPS)
