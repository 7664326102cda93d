// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-sample-grids,fissile-saturate-casts,fissile-clamp-slices,fissile-pool-windows,fissile-scale-products)' | FileCheck %s

// Every place that is read lies in the image, and what lies outside counts as 0.
// CHECK-LABEL: func.func @grid
// CHECK:         linalg.generic
// CHECK:           math.floor
// CHECK:           arith.minsi
// CHECK:           tensor.extract
// CHECK:           arith.select
// CHECK-NOT:     onnx.GridSample
func.func @grid(%x: !torch.vtensor<[1,1,3,2],f32>, %g: !torch.vtensor<[1,2,4,2],f32>) -> !torch.vtensor<[1,1,2,4],f32> {
  %r = torch.operator "onnx.GridSample"(%x, %g) : (!torch.vtensor<[1,1,3,2],f32>, !torch.vtensor<[1,2,4,2],f32>) -> !torch.vtensor<[1,1,2,4],f32>
  return %r : !torch.vtensor<[1,1,2,4],f32>
}

// CHECK-LABEL: func.func @cast
// CHECK-DAG:     %[[HIGH:.*]] = torch.constant.float 4.480000e+02
// CHECK-DAG:     %[[LOW:.*]] = torch.constant.float -4.480000e+02
// CHECK:         torch.aten.clamp %arg0, %[[LOW]], %[[HIGH]]
// CHECK:         torch.aten.to.dtype
func.func @cast(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f8E4M3FN> {
  %r = torch.operator "onnx.Cast"(%x) {torch.onnx.to = 17 : si64} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f8E4M3FN>
  return %r : !torch.vtensor<[4],f8E4M3FN>
}

// CHECK-LABEL: func.func @as_it_is
// CHECK:         torch.operator "onnx.Cast"
func.func @as_it_is(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f8E4M3FN> {
  %r = torch.operator "onnx.Cast"(%x) {torch.onnx.saturate = 0 : si64, torch.onnx.to = 17 : si64} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f8E4M3FN>
  return %r : !torch.vtensor<[4],f8E4M3FN>
}

// The bytes of an initialiser stand behind the module.
// CHECK-LABEL: func.func @slice
// CHECK:         %[[START:.*]] = torch.operator "onnx.Constant"() {torch.onnx.value = dense<4> : tensor<1xsi64>}
// CHECK:         torch.operator "onnx.Slice"(%arg0, %[[START]],
func.func @slice(%x: !torch.vtensor<[5],f32>) -> !torch.vtensor<[5],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<start> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %e = torch.operator "onnx.Constant"() {torch.onnx.value = dense<-9> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %a = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %p = torch.operator "onnx.Constant"() {torch.onnx.value = dense<-1> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %r = torch.operator "onnx.Slice"(%x, %s, %e, %a, %p)
    : (!torch.vtensor<[5],f32>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[5],f32>
  return %r : !torch.vtensor<[5],f32>
}

// The last of three windows has one element.
// CHECK-LABEL: func.func @pool
// CHECK:         torch.aten.avg_pool1d
func.func @pool(%x: !torch.vtensor<[1,1,7],f32>) -> !torch.vtensor<[1,1,3],f32> {
  %r = torch.operator "onnx.AveragePool"(%x) {torch.onnx.ceil_mode = 1 : si64, torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [3 : si64]}
    : (!torch.vtensor<[1,1,7],f32>) -> !torch.vtensor<[1,1,3],f32>
  return %r : !torch.vtensor<[1,1,3],f32>
}

// CHECK-LABEL: func.func @whole_windows
// CHECK:         torch.operator "onnx.AveragePool"
func.func @whole_windows(%x: !torch.vtensor<[1,1,6],f32>) -> !torch.vtensor<[1,1,2],f32> {
  %r = torch.operator "onnx.AveragePool"(%x) {torch.onnx.ceil_mode = 1 : si64, torch.onnx.kernel_shape = [3 : si64], torch.onnx.strides = [3 : si64]}
    : (!torch.vtensor<[1,1,6],f32>) -> !torch.vtensor<[1,1,2],f32>
  return %r : !torch.vtensor<[1,1,2],f32>
}

// CHECK-LABEL: func.func @factor
// CHECK:         %[[P:.*]] = torch.operator "onnx.FusedMatMul"(%arg0, %arg1) {torch.onnx.transB = 1 : si64}
// CHECK:         %[[ALPHA:.*]] = torch.constant.float 1.250000e-01
// CHECK:         torch.aten.mul.Scalar %[[P]], %[[ALPHA]]
func.func @factor(%a: !torch.vtensor<[2,3],f32>, %b: !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[2,4],f32> {
  %r = torch.operator "onnx.FusedMatMul"(%a, %b) {torch.onnx.alpha = 1.250000e-01 : f32, torch.onnx.transB = 1 : si64}
    : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

{-#
  dialect_resources: {
    builtin: {
      start: "0x080000000600000000000000"
    }
  }
#-}
