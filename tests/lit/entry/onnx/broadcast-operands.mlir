// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-broadcast-operands)' | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK:         torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[3,4],f32>
// CHECK:         torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[2,3,4],f32>
func.func @sum(%x: !torch.vtensor<[3,1],f32>, %y: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[2,1,1],f32>) -> !torch.vtensor<[2,3,4],f32> {
  %r = torch.operator "onnx.Sum"(%x, %y, %z) : (!torch.vtensor<[3,1],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[2,1,1],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}

// A NaN of each operand is passed on.
// CHECK-LABEL: func.func @max
// CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[3,1],f32>,
// CHECK:         %[[MADE:.*]] = torch.aten.maximum {{.*}} -> !torch.vtensor<[3,4],f32>
// CHECK:         torch.aten.where.self %{{.*}}, %[[X]], %[[MADE]]
// CHECK:         torch.aten.maximum {{.*}} -> !torch.vtensor<[2,3,4],f32>
// CHECK:         torch.aten.where.self
func.func @max(%x: !torch.vtensor<[3,1],f32>, %y: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[2,1,1],f32>) -> !torch.vtensor<[2,3,4],f32> {
  %r = torch.operator "onnx.Max"(%x, %y, %z) : (!torch.vtensor<[3,1],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[2,1,1],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}

// CHECK-LABEL: func.func @fewer_dimensions
// CHECK:         torch.aten.broadcast_to {{.*}} -> !torch.vtensor<[3,4,5],f32>
func.func @fewer_dimensions(%x: !torch.vtensor<[3,1,5],f32>, %s: !torch.vtensor<[2],si64>) -> !torch.vtensor<[3,4,5],f32> {
  %r = torch.operator "onnx.Expand"(%x, %s) : (!torch.vtensor<[3,1,5],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[3,4,5],f32>
  return %r : !torch.vtensor<[3,4,5],f32>
}

// One shape from the first two on, and a result whose size the call decides.
// CHECK-LABEL: func.func @silent
// CHECK:         torch.operator "onnx.Max"
// CHECK:         torch.operator "onnx.Expand"
func.func @silent(%x: !torch.vtensor<[3,4],f32>, %s: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[?,4],f32>) {
  %r = torch.operator "onnx.Max"(%x, %x, %x) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],f32>
  %e = torch.operator "onnx.Expand"(%x, %s) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[?,4],f32>
  return %r, %e : !torch.vtensor<[3,4],f32>, !torch.vtensor<[?,4],f32>
}
