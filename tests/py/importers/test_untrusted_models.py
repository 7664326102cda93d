"""A model file runs no code and reads no other file while it is imported."""

import io
import json
import pickle
import struct
import zipfile

import pytest

from fissile.cli.main import main
from fissile.pipelines.importers import torch_child
from fissile.pipelines.importers.exported_archive import code_in, is_expression


def node(target: str, **more) -> dict:
    return {
        "target": target,
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
        "metadata": {"stack_trace": "f();\n"},
        **more,
    }


def graph(*nodes: dict, **more) -> dict:
    return {
        "graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "x"}}], "nodes": list(nodes), **more}}
    }


def tensors(data: bytes = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00.", **entries: bytes) -> bytes:
    """A file as torch.save writes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {"data.pkl": data, "data/0": b"\0" * 16, "version": b"3", **entries}.items():
            archive.writestr(f"archive/{name}", content)
    return file.getvalue()


ADD = node("torch.ops.aten.add.Tensor")
GOOD = {
    "archive_format": b"pt2", "archive_version": b"0", "byteorder": b"little", ".data/version": b"3",
    "data/weights/weight_0": b"\0" * 48, "data/constants/tensor_0": tensors(), "data/sample_inputs/model.pt": tensors(),
    "models/model.json": graph(ADD, node("_operator.getitem"), node("math.sqrt"), node("torch.sym_max"), node("torch.ops.aten.__and__.Tensor")),
}  # fmt: skip


def archive(folder, entries: dict):
    file = folder / "model.pt2"
    with zipfile.ZipFile(file, "w") as opened:
        for name, content in entries.items():
            opened.writestr(f"model/{name}", json.dumps(content) if isinstance(content, dict) else content)
    return file


def test_tensors_and_a_graph_are_no_code(tmp_path):
    size = {
        "as_expr": {
            "expr_str": "Add(Mul(Integer(2), Symbol('s77', positive=True)), -1)",
            "hint": {"as_int": 5},
        }
    }
    spec = json.dumps([1, {"type": "builtins.dict", "context": '["last hidden state"]', "children_spec": []}])
    document = graph(ADD, sym_int_values={"s": size}) | {"signature": {"in_spec": spec, "out_spec": spec}}
    assert code_in(archive(tmp_path, GOOD | {"models/model.json": document})) == ""


@pytest.mark.parametrize(("name", "content", "status", "printed"), [
    ("a.mlir", bytes(range(128, 256)), 1, "error[FIS001]"), ("a.mlir", b"", 1, "error[FIS003]"),
    ("a.onnx", b"\x08\x07\x12" + bytes(range(200, 256)), 1, "error[FIS420]"),
    ("a.onnx", b"", 1, "error[FIS420] the ONNX model is not imported: the file is empty"),
    ("a.pt2", bytes(range(128, 256)), 2, "is not an exported PyTorch program: it is not an archive"),
    ("a.pt2", b"", 2, "is not an exported PyTorch program: it is empty"),
    ("a.tflite", b"\x1c\0\0\0TFL3", 2, "has no importer here"),
])  # fmt: skip
def test_the_exit_status_of_a_file_that_is_no_model(name, content, status, printed, tmp_path, capsys):
    """docs/exit-status.md says the same."""
    (tmp_path / name).write_bytes(content)
    words = ["compile", str(tmp_path / name), "--target=llvm-cpu", "-o", str(tmp_path / "out")]
    assert main(words) == status
    assert printed in capsys.readouterr().err and not (tmp_path / "out").exists()


class Runs:
    def __reduce__(self):
        return (print, ("ran",))


@pytest.mark.parametrize(
    ("entries", "reported"),
    [
        ({"data/aotinductor/model/a.so": b"\x7fELF"}, "neither a tensor nor a graph"),
        ({"data/constants/custom_obj_0": pickle.dumps(Runs())}, "custom_obj_0"),
        ({"data/constants/opaque_obj_0": b""}, "opaque_obj_0"),
        ({"../model.json": b"{}"}, "neither a tensor nor a graph"),
        ({"data/sample_inputs/model.pt": tensors(pickle.dumps(Runs(), protocol=2))}, "__builtin__.print"),
        ({"data/sample_inputs/model.pt": tensors(pickle.dumps(Runs(), protocol=4))}, "STACK_GLOBAL"),
        ({"data/sample_inputs/model.pt": pickle.dumps(Runs(), protocol=2)}, "__builtin__.print"),
        ({"data/weights/weight_0": tensors(pickle.dumps(Runs(), protocol=2))}, "__builtin__.print"),
        ({"data/constants/tensor_0": tensors(**{"code/__torch__.py": b"def f(): pass"})}, "code/__torch__.py"),
        ({"data/constants/tensor_0": b"PK\x03\x04 and no more"}, "damaged"),
        ({"models/model.json": graph(node("torch.os.system"))}, "torch.os.system"),
        ({"models/model.json": graph(node("torch.ops.load_library.x"))}, "load_library"),
        ({"models/model.json": graph(node("torch.ops.aten.__class__.mro"))}, "__class__"),
        ({"models/model.json": graph(node("torch.ops.aten.from_file.default"))}, "from_file"),
        ({"models/model.json": graph(node("_operator.call"))}, "_operator.call"),
        ({"models/model.json": graph(node("#ext:run"))}, "#ext:run"),
        ({"models/model.json": graph(ADD, inputs=[{"as_tensor": {"name": "x=print('ran')"}}])}, "x=print"),
        ({"models/model.json": graph(node(ADD["target"], inputs=[{"name": "a=print()", "arg": {"as_int": 1}}]))}, "a=print"),
        ({"models/model.json": graph(ADD, tensor_values={"x');print('": {}})}, "a name is"),
        ({"models/model.json": graph(ADD, sym_int_values={"s": {"as_expr": {"expr_str": "__import__('os').system('id')"}}})}, "a size is"),
        ({"models/model.json": graph(ADD) | {"in_spec": '[1, {"type": "x", "context": "{\\"__enum__\\": true, \\"fqn\\": \\"os:x\\"}"}]'}}, "__enum__"),
        ({"models/model.json": graph(ADD) | {"forward_arg_names": ["x, y=print()"]}}, "print"),
        ({"models/model.json": graph(ADD, custom_obj_values={"o": {"as_custom_obj": {"name": "o", "class_fqn": "C"}}})}, "not a tensor"),
        ({"models/model.json": b"\x80\x02}q\x00."}, ""),
    ],
)  # fmt: skip
def test_what_could_run_is_found(entries, reported, tmp_path):
    found = code_in(archive(tmp_path, GOOD | entries))
    assert reported in found and bool(found) == bool(reported), found


def test_two_entries_of_one_name_are_refused(tmp_path):
    file = archive(tmp_path, GOOD)
    with zipfile.ZipFile(file, "a") as opened, pytest.warns(UserWarning, match="Duplicate name"):
        opened.writestr("model/models/model.json", "{}")
    assert "two entries" in code_in(file)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("s0", True), ("2*s0 + 1", True), ("Max(1, Mod(Symbol('s1', integer=True), 4))", True), ("s0 <= 5", True), ("FloorDiv(s0, 2)", True),
        ("TruncToInt(Float('1.5', precision=53)*s0)", True), ("Float('1.5e3')", True), ("Float('1 + s0')", False),
        ("os.system('id')", False), ("eval('1')", False), ("Symbol('print(1)')", False), ("__class__", False), ("[x for x in y]", False),
        ("(lambda: 1)()", False), ("x[0]", False), ("f'{a}'", False), ("Symbol('a').evalf", False), ("", False), ("(" * 500, False),
    ],
)  # fmt: skip
def test_a_size_is_numbers_and_symbols(text, is_one):
    assert is_expression(text) == is_one


def test_the_importer_refuses_before_pytorch_sees_the_file(tmp_path):
    file = archive(tmp_path, GOOD | {"data/constants/custom_obj_0": pickle.dumps(Runs())})
    answer = torch_child.answer({"model": str(file), "program": str(tmp_path / "out"), "expand": []})
    assert "could run code" in answer["refused"] and "custom_obj_0" in answer["refused"]


def test_pytorch_reads_tensors_and_nothing_else(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    (tmp_path / "evil.pt").write_bytes(tensors(pickle.dumps(Runs(), protocol=2)))
    torch.save({"a": torch.ones(3)}, tmp_path / "good.pt")
    with torch_child._tensors_only():
        assert torch.load(tmp_path / "good.pt", weights_only=False)["a"].sum() == 3
        with pytest.raises(pickle.UnpicklingError):
            torch.load(tmp_path / "evil.pt", weights_only=False)
        with pytest.raises(torch_child.RunsCode):
            pickle.loads(pickle.dumps(Runs()))
    assert torch.load(tmp_path / "good.pt", weights_only=False)["a"].sum() == 3
    assert pickle.loads(pickle.dumps(struct.calcsize)) is struct.calcsize


def external(folder, location: str):
    """An ONNX model whose weights are in the file ``location``."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    weights = onnx.TensorProto(name="w", data_type=1, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=location)
    value = onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [value("x", 1, [4])],
        [value("y", 1, [4])],
        [weights],
    )
    file = folder / "model.onnx"
    file.write_bytes(
        onnx.helper.make_model(
            body, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
        ).SerializeToString()
    )
    return file


@pytest.mark.parametrize("kind", ["outside", "absolute", "link", "pipe", "device", "folder"])
def test_weights_of_an_onnx_model_are_files_beside_it(kind, tmp_path):
    import os

    from fissile.pipelines.importers import onnx_child

    secret, own = tmp_path / "secret", tmp_path / "own"
    own.mkdir()
    secret.write_bytes(b"\0" * 16)
    location = {"outside": "../secret", "absolute": str(secret), "device": "/dev/zero"}.get(kind, "weights")
    if kind == "link":
        (own / "weights").symlink_to(secret)
    elif kind == "pipe":
        os.mkfifo(own / "weights")
    elif kind == "folder":
        (own / "weights").mkdir()
    file = external(own, location)
    answer = onnx_child.answer(
        {"model": str(file), "name": str(file), "program": str(own / "out"), "expand": []}
    )
    assert answer.get("refused") and not (own / "out").exists(), answer


def test_weights_beside_an_onnx_model_are_read(tmp_path):
    from fissile.pipelines.importers import onnx_child

    file = external(tmp_path, "weights")
    (tmp_path / "weights").write_bytes(b"\0" * 16)
    answer = onnx_child.answer(
        {"model": str(file), "name": str(file), "program": str(tmp_path / "out"), "expand": []}
    )
    assert "refused" not in answer and (tmp_path / "out").exists(), answer
