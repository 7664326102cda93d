// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-flatten-axes)' | FileCheck %s

// CHECK-LABEL: func.func @merged
// CHECK:         torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[2,?],f32>
// CHECK:         torch.aten.softmax.int {{.*}} -> !torch.vtensor<[2,?],f32>
// CHECK:         torch.aten.unflatten.int {{.*}} -> !torch.vtensor<[2,3,?],f32>
func.func @merged(%x: !torch.vtensor<[2,3,?],f32>) -> !torch.vtensor<[2,3,?],f32> attributes {torch.onnx_meta.opset_version = 9 : si64} {
  %r = torch.operator "onnx.Softmax"(%x) : (!torch.vtensor<[2,3,?],f32>) -> !torch.vtensor<[2,3,?],f32>
  return %r : !torch.vtensor<[2,3,?],f32>
}

// CHECK-LABEL: func.func @one_hot
// CHECK:         torch.aten.argmax {{.*}} -> !torch.vtensor<[2,1],si64>
// CHECK:         torch.aten.eq.Tensor
func.func @one_hot(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32> attributes {torch.onnx_meta.opset_version = 11 : si64} {
  %r = torch.operator "onnx.Hardmax"(%x) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}

// From opset 13 on the op works along one dimension.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.operator "onnx.Softmax"
func.func @silent(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32> attributes {torch.onnx_meta.opset_version = 13 : si64} {
  %r = torch.operator "onnx.Softmax"(%x) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}
