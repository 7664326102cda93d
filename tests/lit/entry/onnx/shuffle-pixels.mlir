// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-shuffle-pixels)' | FileCheck %s

// CHECK-LABEL: func.func @blocks
// CHECK:         %[[SIDE:.*]] = torch.constant.int 2
// CHECK:         torch.aten.pixel_shuffle %{{.*}}, %[[SIDE]] {{.*}} -> !torch.vtensor<[1,3,?,?],f32>
func.func @blocks(%x: !torch.vtensor<[1,12,?,?],f32>) -> !torch.vtensor<[1,3,?,?],f32> {
  %r = torch.operator "onnx.DepthToSpace"(%x) {torch.onnx.blocksize = 2 : si64, torch.onnx.mode = "CRD"} : (!torch.vtensor<[1,12,?,?],f32>) -> !torch.vtensor<[1,3,?,?],f32>
  return %r : !torch.vtensor<[1,3,?,?],f32>
}

// The other order of channels, which IREE reads.
// CHECK-LABEL: func.func @silent
// CHECK-NOT:     pixel_shuffle
// CHECK:         return
func.func @silent(%x: !torch.vtensor<[1,12,4,6],f32>) -> (!torch.vtensor<[1,3,8,12],f32>, !torch.vtensor<[1,3,8,12],f32>) {
  %r = torch.operator "onnx.DepthToSpace"(%x) {torch.onnx.blocksize = 2 : si64} : (!torch.vtensor<[1,12,4,6],f32>) -> !torch.vtensor<[1,3,8,12],f32>
  %s = torch.operator "onnx.DepthToSpace"(%x) {torch.onnx.blocksize = 2 : si64, torch.onnx.mode = "DCR"} : (!torch.vtensor<[1,12,4,6],f32>) -> !torch.vtensor<[1,3,8,12],f32>
  return %r, %s : !torch.vtensor<[1,3,8,12],f32>, !torch.vtensor<[1,3,8,12],f32>
}
