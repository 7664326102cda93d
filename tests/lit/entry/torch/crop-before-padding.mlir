// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-crop-before-padding)' | FileCheck %s

// CHECK-LABEL: @moved
// CHECK:         %[[REST:.*]] = torch.aten.slice.Tensor %{{.*}} -> !torch.vtensor<[2,4],f32>
// CHECK:         torch.aten.constant_pad_nd %[[REST]], %{{.*}} : !torch.vtensor<[2,4],f32>, {{.*}} -> !torch.vtensor<[3,4],f32>
func.func @moved(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %p = torch.constant.int 1
  %m = torch.constant.int -1
  %n = torch.constant.int 0
  %c = torch.constant.float 0.0
  %l = torch.prim.ListConstruct %n, %n, %p, %m : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %x, %l, %c : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: @onnx
// CHECK:         torch.aten.slice.Tensor
// CHECK:         dense<[0, 0, 0, 1]> : tensor<4xsi64>
// CHECK:         torch.operator "onnx.Pad"(%{{.*}}, %{{.*}}) {torch.onnx.mode = "constant"} : (!torch.vtensor<[3,3],f32>, !torch.vtensor<[4],si64>)
func.func @onnx(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,4],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %l = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0, -1, 0, 1]> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64>
  %r = torch.operator "onnx.Pad"(%x, %l) {torch.onnx.mode = "constant"} : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[3,4],f32>
  return %r : !torch.vtensor<[3,4],f32>
}

// A pad that only adds elements, and one that repeats them, stay as they are.
// CHECK-LABEL: @left_alone
// CHECK-NOT:     slice.Tensor
func.func @left_alone(%x: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,6],f32>, !torch.vtensor<[3,4],f32>) {
  %p = torch.constant.int 1
  %m = torch.constant.int -1
  %c = torch.constant.float 0.0
  %s = torch.constant.str "replicate"
  %k = torch.prim.ListConstruct %p, %p : (!torch.int, !torch.int) -> !torch.list<int>
  %l = torch.prim.ListConstruct %m, %p : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.constant_pad_nd %x, %k, %c : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[3,6],f32>
  %q = torch.aten.pad %x, %l, %s, %c : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.str, !torch.float -> !torch.vtensor<[3,4],f32>
  return %r, %q : !torch.vtensor<[3,6],f32>, !torch.vtensor<[3,4],f32>
}

// The axes are named: all widths are, after it.
// CHECK-LABEL: @along_an_axis
// CHECK:         torch.aten.slice.Tensor
// CHECK:         torch.onnx.value = dense<[0, 0, 0, 2]>
// CHECK:         torch.operator "onnx.Pad"(%{{[^,]*}}, %{{[^,]*}}, %arg1) {
func.func @along_an_axis(%x: !torch.vtensor<[2,?],f32>, %v: !torch.vtensor<[],f32>) -> !torch.vtensor<[2,?],f32> {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[-1, 2]> : tensor<2xsi64>} : () -> !torch.vtensor<[2],si64>
  %a = torch.operator "onnx.Constant"() {torch.onnx.value = dense<-1> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %r = torch.operator "onnx.Pad"(%x, %w, %v, %a) {torch.onnx.mode = "constant"} : (!torch.vtensor<[2,?],f32>, !torch.vtensor<[2],si64>, !torch.vtensor<[],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,?],f32>
  return %r : !torch.vtensor<[2,?],f32>
}
