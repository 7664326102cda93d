// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-normalise-instances)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @plain
// CHECK-NOT: instance_norm
// CHECK: torch.aten.mean.dim {{.*}} -> !torch.vtensor<[2,3,1,1],f32>
// CHECK: torch.aten.mean.dim {{.*}} -> !torch.vtensor<[2,3,1,1],f32>
// CHECK: torch.aten.rsqrt
func.func @plain(%x: !torch.vtensor<[2,3,4,5],f32>) -> !torch.vtensor<[2,3,4,5],f32> {
  %none = torch.constant.none
  %own = torch.constant.bool true
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %r = torch.aten.instance_norm %x, %none, %none, %none, %none, %own, %momentum, %eps, %true
      : !torch.vtensor<[2,3,4,5],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,3,4,5],f32>
  return %r : !torch.vtensor<[2,3,4,5],f32>
}

// In f32, as in PyTorch.
// CHECK-LABEL: @of_half
// CHECK-NOT: instance_norm
// CHECK: torch.aten.mean.dim {{.*}} -> !torch.vtensor<[?,3,1],f32>
// CHECK: torch.aten.to.dtype {{.*}} -> !torch.vtensor<[?,3,?],f16>
func.func @of_half(%x: !torch.vtensor<[?,3,?],f16>) -> !torch.vtensor<[?,3,?],f16> {
  %none = torch.constant.none
  %own = torch.constant.bool true
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %r = torch.aten.instance_norm %x, %none, %none, %none, %none, %own, %momentum, %eps, %true
      : !torch.vtensor<[?,3,?],f16>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[?,3,?],f16>
  return %r : !torch.vtensor<[?,3,?],f16>
}

// The statistics of the model: no means of the input.
// CHECK-LABEL: @held
// CHECK-NOT: instance_norm
// CHECK-NOT: mean.dim
// CHECK: torch.aten.rsqrt {{.*}} -> !torch.vtensor<[3,1,1],f32>
func.func @held(%x: !torch.vtensor<[2,3,4,5],f32>, %w: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>, %m: !torch.vtensor<[3],f32>, %v: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4,5],f32> {
  %none = torch.constant.none
  %own = torch.constant.bool false
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %r = torch.aten.instance_norm %x, %w, %b, %m, %v, %own, %momentum, %eps, %true
      : !torch.vtensor<[2,3,4,5],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,3,4,5],f32>
  return %r : !torch.vtensor<[2,3,4,5],f32>
}

// IREE lowers it.
// CHECK-LABEL: @lowered
// CHECK: torch.aten.instance_norm
func.func @lowered(%x: !torch.vtensor<[2,3,4,5],f32>, %w: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4,5],f32> {
  %none = torch.constant.none
  %own = torch.constant.bool true
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %r = torch.aten.instance_norm %x, %w, %b, %none, %none, %own, %momentum, %eps, %true
      : !torch.vtensor<[2,3,4,5],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,3,4,5],f32>
  return %r : !torch.vtensor<[2,3,4,5],f32>
}

// It also changes the statistics that it is given.
// CHECK-LABEL: @training
// CHECK: torch.aten.instance_norm
func.func @training(%x: !torch.vtensor<[2,3,4,5],f32>, %m: !torch.vtensor<[3],f32>, %v: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4,5],f32> {
  %none = torch.constant.none
  %own = torch.constant.bool true
  %momentum = torch.constant.float 0.1
  %eps = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  %r = torch.aten.instance_norm %x, %none, %none, %m, %v, %own, %momentum, %eps, %true
      : !torch.vtensor<[2,3,4,5],f32>, !torch.none, !torch.none, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,3,4,5],f32>
  return %r : !torch.vtensor<[2,3,4,5],f32>
}

// An unknown size with a weight and a bias: IREE takes another number of elements (FIS166).
// CHECK-LABEL: @unknown
// CHECK-NOT: InstanceNormalization
// CHECK: torch.aten.mean.dim {{.*}} -> !torch.vtensor<[2,3,1,1],f32>
// CHECK: torch.constant.float 0.0099
// CHECK: torch.aten.rsqrt
func.func @unknown(%x: !torch.vtensor<[2,3,?,5],f32>, %w: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,?,5],f32> attributes {torch.onnx_meta.opset_version = 22 : si64} {
  %r = torch.operator "onnx.InstanceNormalization"(%x, %w, %b) {torch.onnx.epsilon = 0.01 : f32}
      : (!torch.vtensor<[2,3,?,5],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,?,5],f32>
  return %r : !torch.vtensor<[2,3,?,5],f32>
}

// CHECK-LABEL: @known
// CHECK: onnx.InstanceNormalization
func.func @known(%x: !torch.vtensor<[2,3,4,5],f32>, %w: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4,5],f32> attributes {torch.onnx_meta.opset_version = 22 : si64} {
  %r = torch.operator "onnx.InstanceNormalization"(%x, %w, %b) {torch.onnx.epsilon = 0.01 : f32}
      : (!torch.vtensor<[2,3,4,5],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4,5],f32>
  return %r : !torch.vtensor<[2,3,4,5],f32>
}
