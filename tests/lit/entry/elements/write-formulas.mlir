// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-write-formulas)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @halves
// CHECK:         torch.aten.to.dtype %arg0, {{.*}} -> !torch.vtensor<[?],f32>
// CHECK:         torch.aten.softplus
// CHECK-NOT:     torch.aten.log_sigmoid
// CHECK:         return %{{.*}} : !torch.vtensor<[?],f16>
func.func @halves(%x: !torch.vtensor<[?],f16>) -> !torch.vtensor<[?],f16> {
  %r = torch.aten.log_sigmoid %x : !torch.vtensor<[?],f16> -> !torch.vtensor<[?],f16>
  return %r : !torch.vtensor<[?],f16>
}

// The mean is over all elements.
// CHECK-LABEL: @loss
// CHECK:         torch.aten.sum.dim_IntList
// CHECK:         torch.constant.float 8.0
// CHECK:         torch.aten.div.Scalar
func.func @loss(%x: !torch.vtensor<[2,4],f32>, %t: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[],f32> {
  %none = torch.constant.none
  %mean = torch.constant.int 1
  %r = torch.aten.binary_cross_entropy_with_logits %x, %t, %none, %none, %mean : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.none, !torch.none, !torch.int -> !torch.vtensor<[],f32>
  return %r : !torch.vtensor<[],f32>
}

// A weight for each channel, which is dimension 1.
// CHECK-LABEL: @channels
// CHECK:         torch.aten.unsqueeze %arg1, {{.*}} -> !torch.vtensor<[4,1],f32>
// CHECK:         torch.aten.unsqueeze {{.*}} -> !torch.vtensor<[4,1,1],f32>
// CHECK:         torch.aten.where.self
// CHECK-NOT:     torch.aten.prelu
func.func @channels(%x: !torch.vtensor<[?,4,8,4],f32>, %w: !torch.vtensor<[4],f32>) -> !torch.vtensor<[?,4,8,4],f32> {
  %r = torch.aten.prelu %x, %w : !torch.vtensor<[?,4,8,4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[?,4,8,4],f32>
  return %r : !torch.vtensor<[?,4,8,4],f32>
}

// One weight for all, channels at the end, and weights that are not those of the channels.
// CHECK-LABEL: @slopes
// CHECK-COUNT-3: torch.aten.prelu
func.func @slopes(%x: !torch.vtensor<[?,4,8,4],f32>, %y: !torch.vtensor<[?,4],f32>, %w: !torch.vtensor<[1],f32>, %v: !torch.vtensor<[4],f32>, %u: !torch.vtensor<[8],f32>) -> (!torch.vtensor<[?,4,8,4],f32>, !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4,8,4],f32>) {
  %r = torch.aten.prelu %x, %w : !torch.vtensor<[?,4,8,4],f32>, !torch.vtensor<[1],f32> -> !torch.vtensor<[?,4,8,4],f32>
  %s = torch.aten.prelu %y, %v : !torch.vtensor<[?,4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[?,4],f32>
  %t = torch.aten.prelu %x, %u : !torch.vtensor<[?,4,8,4],f32>, !torch.vtensor<[8],f32> -> !torch.vtensor<[?,4,8,4],f32>
  return %r, %s, %t : !torch.vtensor<[?,4,8,4],f32>, !torch.vtensor<[?,4],f32>, !torch.vtensor<[?,4,8,4],f32>
}

// f64 is left to IREE, and a sigmoid is right as it is.
// CHECK-LABEL: @left
// CHECK:         torch.aten.log_sigmoid
// CHECK:         torch.aten.sigmoid
func.func @left(%x: !torch.vtensor<[4],f64>) -> (!torch.vtensor<[4],f64>, !torch.vtensor<[4],f64>) {
  %r = torch.aten.log_sigmoid %x : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
  %s = torch.aten.sigmoid %x : !torch.vtensor<[4],f64> -> !torch.vtensor<[4],f64>
  return %r, %s : !torch.vtensor<[4],f64>, !torch.vtensor<[4],f64>
}

// All digits of pi, where GELU is the one by tanh.
// CHECK-LABEL: func.func @gelu
// CHECK-DAG:     torch.constant.float 0.79788456080286
// CHECK:         torch.aten.tanh
// CHECK-NOT:     torch.aten.gelu
func.func @gelu(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %how = torch.constant.str "tanh"
  %r = torch.aten.gelu %x, %how : !torch.vtensor<[4],f32>, !torch.str -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
// CHECK-LABEL: func.func @exact
// CHECK:         torch.aten.gelu
func.func @exact(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %how = torch.constant.str "none"
  %r = torch.aten.gelu %x, %how : !torch.vtensor<[4],f32>, !torch.str -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
