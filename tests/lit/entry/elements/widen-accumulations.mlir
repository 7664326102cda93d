// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-widen-accumulations)' 2>/dev/null | FileCheck %s

// The type that was given for the sum is gone: it is computed in f32.
// CHECK-LABEL: @sum
// CHECK:         %[[WIDE:.*]] = torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[2,?],f32>
// CHECK:         %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[WIDE]], %{{.*}}, %{{.*}}, %none{{[_0-9]*}} {{.*}} -> !torch.vtensor<[2],f32>
// CHECK:         torch.aten.to.dtype %[[SUM]], {{.*}} -> !torch.vtensor<[2],bf16>
func.func @sum(%x: !torch.vtensor<[2,?],bf16>) -> !torch.vtensor<[2],bf16> {
  %one = torch.constant.int 1
  %bf16 = torch.constant.int 15
  %no = torch.constant.bool false
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %r = torch.aten.sum.dim_IntList %x, %dims, %no, %bf16 : !torch.vtensor<[2,?],bf16>, !torch.list<int>, !torch.bool, !torch.int -> !torch.vtensor<[2],bf16>
  return %r : !torch.vtensor<[2],bf16>
}

// A layer's operands and results, each by its own type; a result of f32 stays.
// CHECK-LABEL: @layer
// CHECK:         %[[NORM:.*]], %[[MEAN:.*]], %{{.*}} = torch.aten.native_layer_norm {{.*}} : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.vtensor<[8],f32>, !torch.none, !torch.float -> !torch.vtensor<[4,8],f32>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>
// CHECK:         %[[BACK:.*]] = torch.aten.to.dtype %[[NORM]], {{.*}} -> !torch.vtensor<[4,8],f16>
// CHECK:         return %[[BACK]], %[[MEAN]]
func.func @layer(%x: !torch.vtensor<[4,8],f16>, %w: !torch.vtensor<[8],f32>) -> (!torch.vtensor<[4,8],f16>, !torch.vtensor<[4,1],f32>) {
  %eight = torch.constant.int 8
  %none = torch.constant.none
  %eps = torch.constant.float 1.0e-5
  %shape = torch.prim.ListConstruct %eight : (!torch.int) -> !torch.list<int>
  %r, %mean, %root = torch.aten.native_layer_norm %x, %shape, %w, %none, %eps : !torch.vtensor<[4,8],f16>, !torch.list<int>, !torch.vtensor<[8],f32>, !torch.none, !torch.float
    -> !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>
  return %r, %mean : !torch.vtensor<[4,8],f16>, !torch.vtensor<[4,1],f32>
}

// An op of ONNX keeps its attributes.
// CHECK-LABEL: @onnx
// CHECK:         torch.operator "onnx.GlobalLpPool"(%{{.*}}) {torch.onnx.p = 2 : si64} : (!torch.vtensor<[1,2,3,3],f32>) -> !torch.vtensor<[1,2,1,1],f32>
func.func @onnx(%x: !torch.vtensor<[1,2,3,3],f16>) -> !torch.vtensor<[1,2,1,1],f16> {
  %r = torch.operator "onnx.GlobalLpPool"(%x) {torch.onnx.p = 2 : si64} : (!torch.vtensor<[1,2,3,3],f16>) -> !torch.vtensor<[1,2,1,1],f16>
  return %r : !torch.vtensor<[1,2,1,1],f16>
}

// What sums in f32 already, what sums no halves, a product of matrices, and a norm by the statistics of the model are left alone.
// CHECK-LABEL: @left
// CHECK-NOT:     torch.aten.to.dtype
// CHECK:         return
func.func @left(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[4,8],f32>, %c: !torch.vtensor<[8],f16>)
    -> (!torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,8],f16>) {
  %none = torch.constant.none
  %f32 = torch.constant.int 6
  %no = torch.constant.bool false
  %eps = torch.constant.float 1.0e-5
  %a = torch.aten.sum %x, %f32 : !torch.vtensor<[4,8],f16>, !torch.int -> !torch.vtensor<[],f32>
  %b = torch.aten.sum %y, %none : !torch.vtensor<[4,8],f32>, !torch.none -> !torch.vtensor<[],f32>
  %t = torch.aten.t %x : !torch.vtensor<[4,8],f16> -> !torch.vtensor<[8,4],f16>
  %m = torch.aten.mm %x, %t : !torch.vtensor<[4,8],f16>, !torch.vtensor<[8,4],f16> -> !torch.vtensor<[4,4],f16>
  %n = torch.aten.batch_norm %x, %c, %c, %c, %c, %no, %eps, %eps, %no : !torch.vtensor<[4,8],f16>, !torch.vtensor<[8],f16>, !torch.vtensor<[8],f16>, !torch.vtensor<[8],f16>, !torch.vtensor<[8],f16>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[4,8],f16>
  return %a, %b, %m, %n : !torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[4,4],f16>, !torch.vtensor<[4,8],f16>
}
