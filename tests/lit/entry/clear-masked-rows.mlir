// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-clear-masked-rows)' 2>/dev/null | FileCheck %s

// A row of which the mask leaves nothing is 0.
// CHECK-LABEL: @choice
// CHECK:         %[[RESULT:.*]] = torch.aten.scaled_dot_product_attention
// CHECK:         %[[SOME:.*]] = torch.aten.any.dim %arg1, %{{.*}}, %{{.*}} -> !torch.vtensor<[1,1,4,1],i1>
// CHECK:         torch.aten.where.ScalarOther %[[SOME]], %[[RESULT]], %{{.*}}
func.func @choice(%q: !torch.vtensor<[1,2,4,8],f32>, %mask: !torch.vtensor<[1,1,4,4],i1>) -> !torch.vtensor<[1,2,4,8],f32> {
  %zero = torch.constant.float 0.0
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %mask, %zero, %no, %none, %no
    : !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,1,4,4],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,4,8],f32>
  return %r : !torch.vtensor<[1,2,4,8],f32>
}

// A mask that is added: minus infinity throughout.
// CHECK-LABEL: @addend
// CHECK:         %[[MOST:.*]] = torch.aten.amax %arg1, %{{.*}}, %{{.*}} -> !torch.vtensor<[?,1],f32>
// CHECK:         torch.aten.ne.Scalar %[[MOST]]
// CHECK:         torch.aten.where.ScalarOther
func.func @addend(%q: !torch.vtensor<[1,2,?,8],f32>, %mask: !torch.vtensor<[?,?],f32>) -> !torch.vtensor<[1,2,?,8],f32> {
  %zero = torch.constant.float 0.0
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %mask, %zero, %no, %none, %no
    : !torch.vtensor<[1,2,?,8],f32>, !torch.vtensor<[1,2,?,8],f32>, !torch.vtensor<[1,2,?,8],f32>, !torch.vtensor<[?,?],f32>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,?,8],f32>
  return %r : !torch.vtensor<[1,2,?,8],f32>
}

// No mask, and a constant one with something in each row.
// CHECK-LABEL: @whole
// CHECK-NOT:     where
// CHECK:         return
func.func @whole(%q: !torch.vtensor<[1,2,2,8],f32>) -> (!torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[1,2,2,8],f32>) {
  %zero = torch.constant.float 0.0
  %yes = torch.constant.bool true
  %no = torch.constant.bool false
  %none = torch.constant.none
  %mask = torch.vtensor.literal(dense<[[true, false], [true, true]]> : tensor<2x2xi1>) : !torch.vtensor<[2,2],i1>
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %zero, %yes, %none, %no
    : !torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[1,2,2,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,2,8],f32>
  %s = torch.aten.scaled_dot_product_attention %q, %q, %q, %mask, %zero, %no, %none, %no
    : !torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[2,2],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,2,8],f32>
  return %r, %s : !torch.vtensor<[1,2,2,8],f32>, !torch.vtensor<[1,2,2,8],f32>
}
