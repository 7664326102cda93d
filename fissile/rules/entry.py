"""Findings about how a model of another front end comes to IREE: FIS420 and on."""

from fissile.effect import Effect

from .rule import define
from .shown import Shown

define(
    "FIS420",
    "model-not-imported",
    "the importer does not take the model",
    "The input is a model of another format (ONNX, an exported PyTorch program), and the importer that makes MLIR of it ended with an error.",
    "An element type or an attribute that the importer does not know, a model that the format's own checker refuses, or a file that is damaged.",
    "Change the node that is named, or export the model again without it.",
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
    "IREE has no lowering for an op of the front end",
    "The program uses an op of PyTorch's or ONNX's, or of MLIR's own dialects outside of a dispatch, that IREE lists, or lets pass, and does not lower. "
    "Stock IREE stops at the first one, and its message may name another op: the one that it had reached when the conversion was undone. On some it crashes.",
    "No pattern matches the op, or none does with these types and attributes: `scf.forall`, `scf.index_switch` and affine loops with tensors among "
    "their results, `tensor.splat` and `tensor.generate` are such ops.",
    "Where the op is the same as others that IREE lowers, fissile writes those (the `fissile-decompose-…` and `fissile-lower-…` passes for the input; for ONNX ops, the definition in the "
    "ONNX standard). Others have to be decomposed when the model is exported: `decomposition_table=` of torch.export, or another opset.",
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
