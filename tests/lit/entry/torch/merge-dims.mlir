// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-merge-dims)' | FileCheck %s

// CHECK-LABEL: func.func @heads
// CHECK:         %[[COLUMNS:.*]] = torch.aten.flatten.using_ints %arg0, %int2{{.*}}, %int3{{.*}} -> !torch.vtensor<[?,?,32],f32>
// CHECK:         %[[ROWS:.*]] = torch.aten.flatten.using_ints %[[COLUMNS]], %int0{{.*}}, %int1{{.*}} -> !torch.vtensor<[?,32],f32>
// CHECK:         torch.aten.view %[[ROWS]]
func.func @heads(%x: !torch.vtensor<[?,?,4,8],f32>) -> !torch.vtensor<[?,32],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %a = torch.constant.int -1
  %b = torch.constant.int 32
  %l = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %l : !torch.vtensor<[?,?,4,8],f32>, !torch.list<int> -> !torch.vtensor<[?,32],f32>
  return %r : !torch.vtensor<[?,32],f32>
}

// Known sizes in front stay; a 0 in ONNX is the operand's size there.
// CHECK-LABEL: func.func @onnx
// CHECK:         torch.aten.flatten.using_ints %arg0, %int3{{.*}}, %int4{{.*}} -> !torch.vtensor<[2,?,?,32],f32>
// CHECK:         %[[MERGED:.*]] = torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[2,?,32],f32>
// CHECK:         torch.aten.size.int %arg0
// CHECK:         torch.aten.view %[[MERGED]]
func.func @onnx(%x: !torch.vtensor<[2,?,?,4,8],f32>) -> !torch.vtensor<[2,?,32],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %l = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0, -1, 32]> : tensor<3xsi64>} : () -> !torch.vtensor<[3],si64>
  %r = torch.operator "onnx.Reshape"(%x, %l) : (!torch.vtensor<[2,?,?,4,8],f32>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[2,?,32],f32>
  return %r : !torch.vtensor<[2,?,32],f32>
}

// The sizes of the operand are kept, nothing is assumed.
// CHECK-LABEL: func.func @kept
// CHECK-NOT:     flatten
// CHECK:         return
func.func @kept(%x: !torch.vtensor<[?,?,4,8],f32>) -> !torch.vtensor<[?,?,32],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %a = torch.aten.size.int %x, %zero : !torch.vtensor<[?,?,4,8],f32>, !torch.int -> !torch.int
  %b = torch.aten.size.int %x, %one : !torch.vtensor<[?,?,4,8],f32>, !torch.int -> !torch.int
  %c = torch.constant.int 32
  %l = torch.prim.ListConstruct %a, %b, %c : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %l : !torch.vtensor<[?,?,4,8],f32>, !torch.list<int> -> !torch.vtensor<[?,?,32],f32>
  return %r : !torch.vtensor<[?,?,32],f32>
}

// One unknown size follows from the others.
// CHECK-LABEL: func.func @batch
// CHECK-NOT:     flatten
// CHECK:         return
func.func @batch(%x: !torch.vtensor<[?,6,4,8],f32>) -> !torch.vtensor<[?,32],f32> attributes {torch.assume_strict_symbolic_shapes} {
  %a = torch.constant.int -1
  %b = torch.constant.int 32
  %l = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.view %x, %l : !torch.vtensor<[?,6,4,8],f32>, !torch.list<int> -> !torch.vtensor<[?,32],f32>
  return %r : !torch.vtensor<[?,32],f32>
}
