"""Findings about how a model of another front end comes to IREE: FIS420 and on."""

from fissile.effect import Effect

from .rule import define

define(
    "FIS420",
    "model-not-imported",
    "the importer does not take the model",
    "The input is a model of another format (ONNX, an exported PyTorch program), and the importer that makes MLIR of it ended with an error.",
    "An element type or an attribute that the importer does not know, a model that the format's own checker refuses, or a file that is damaged.",
    "Change the node that is named, or export the model again without it.",
    effect=Effect.REFUSED,
)
define(
    "FIS421",
    "front-end-op",
    "IREE has no lowering for an op of the front end",
    "The program uses an op of PyTorch's or ONNX's that IREE lists, or lets pass, and does not lower. Stock IREE stops at the first one, "
    "and its message may name another op: the one that it had reached when the conversion was undone.",
    "No pattern of the torch dialect matches the op, or none does with these types and attributes.",
    "Where the op is the same as others that IREE lowers, fissile writes those (the `fissile-rewrite-…` passes; for ONNX ops, the definition in the "
    "ONNX standard). Others have to be decomposed when the model is exported: `decomposition_table=` of torch.export, or another opset.",
    example="%0 = torch.aten.__and__.Tensor %a, %b : !torch.vtensor<[],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>",
    repaired="%0 = torch.aten.bitwise_and.Tensor %a, %b",
    effect=Effect.REFUSED,
)
