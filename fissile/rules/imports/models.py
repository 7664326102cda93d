"""Findings about how a model of another front end comes to IREE: FIS420 and on."""

from fissile.effect import Effect

from ..rule import define
from ..shown import Shown

define(
    "FIS420",
    "model-not-imported",
    "the importer rejects the model",
    "The input is a model in another format (ONNX, an exported PyTorch program), and the importer that converts it "
    "to MLIR ended with an error.",
    "The importer does not know an element type or an attribute, the format's own checker rejects the model, or the "
    "file is damaged.",
    "Change the node that the finding names, or export the model without it.",
    effect=Effect.REFUSED,
    shown=Shown(
        "python make.py\nfissile compile model.onnx --target=llvm-cpu -o out.vmfb",
        files=(
            (
                "make.py",
                """\
import onnx
from onnx import TensorProto, helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
node = helper.make_node("NoSuchOp", ["x"], ["y"])
graph = helper.make_graph([node], "g", [x], [y])
opset = helper.make_opsetid("", 17)
onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), "model.onnx")
""",
            ),
        ),
        repaired_files=(
            (
                "make.py",
                """\
import onnx
from onnx import TensorProto, helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
node = helper.make_node("Abs", ["x"], ["y"])
graph = helper.make_graph([node], "g", [x], [y])
opset = helper.make_opsetid("", 17)
onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), "model.onnx")
""",
            ),
        ),
    ),
)
define(
    "FIS421",
    "front-end-op",
    "IREE has no lowering for a front-end op",
    "The program uses an op of PyTorch, ONNX or StableHLO, or of an MLIR dialect outside of a dispatch, that IREE accepts but "
    "does not lower. Stock IREE stops at the first such op. Its message may name another one: the op that it had "
    "reached when it rolled the conversion back. On some ops it crashes.",
    "No pattern matches the op, or none does with these types and attributes. Examples are `scf.forall`, "
    "`scf.index_switch`, affine loops with tensor results, `tensor.splat` and `tensor.generate`.",
    "If other ops that IREE lowers express the op, fissile rewrites it with them (the `fissile-decompose-…` and "
    "`fissile-lower-…` passes for the input; for ONNX ops, the definition in the ONNX standard). Decompose any "
    "other op when you export the model: `decomposition_table=` of torch.export, or other ops in an ONNX model.",
    effect=Effect.REFUSED,
    shown=Shown(
        "fissile compile in.mlir --target=llvm-cpu -o out.vmfb",
        """\
func.func @main(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.operator "torch.aten.no_such"(%a, %b)
      : (!torch.vtensor<[4],i1>, !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}
""",
        """\
func.func @main(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.bitwise_and.Tensor %a, %b
      : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}
""",
    ),
)
