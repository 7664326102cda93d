// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-loop-scans)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @backwards
// CHECK:         torch.prim.Loop
// CHECK:         ^bb0(%[[AT:.*]]: !torch.int, %[[STATE:.*]]: !torch.vtensor<[3],f32>, %[[MADE:.*]]: !torch.vtensor<[?,3],f32>):
// CHECK:           %[[LEFT:.*]] = torch.aten.sub.int %{{.*}}, %[[AT]]
// CHECK:           %[[LAST:.*]] = torch.aten.sub.int %[[LEFT]]
// CHECK:           %[[X:.*]] = torch.aten.select.int %arg1, %{{.*}}, %[[LAST]]
// CHECK:           %[[SUM:.*]] = torch.operator "onnx.Add"(%[[STATE]], %[[X]])
// CHECK:           %[[NEXT:.*]] = torch.aten.select_scatter %[[MADE]], %[[SUM]], %{{.*}}, %[[AT]]
// CHECK:           torch.prim.Loop.condition %{{.*}}, iter(%[[SUM]], %[[NEXT]]
func.func @backwards(%h: !torch.vtensor<[3],f32>, %x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[?,3],f32>) attributes {torch.onnx_meta.opset_version = 21 : si64} {
  %r:2 = torch.operator "onnx.Scan"(%h, %x) {torch.onnx.num_scan_inputs = 1 : si64, torch.onnx.scan_input_directions = [1 : si64]} : (!torch.vtensor<[3],f32>, !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[?,3],f32>) {
  ^bb0(%a: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>):
    %s = torch.operator "onnx.Add"(%a, %b) : (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
    torch.operator_terminator %s, %s : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
  }
  return %r#0, %r#1 : !torch.vtensor<[3],f32>, !torch.vtensor<[?,3],f32>
}

// Forwards along the first dimension, of a length that is known: as IREE reads it.
// CHECK-LABEL: @silent
// CHECK:         torch.operator "onnx.Scan"
func.func @silent(%h: !torch.vtensor<[3],f32>, %x: !torch.vtensor<[5,3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[5,3],f32>) attributes {torch.onnx_meta.opset_version = 21 : si64} {
  %r:2 = torch.operator "onnx.Scan"(%h, %x) {torch.onnx.num_scan_inputs = 1 : si64, torch.onnx.scan_input_axes = [0 : si64]} : (!torch.vtensor<[3],f32>, !torch.vtensor<[5,3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[5,3],f32>) {
  ^bb0(%a: !torch.vtensor<[3],f32>, %b: !torch.vtensor<[3],f32>):
    %s = torch.operator "onnx.Add"(%a, %b) : (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
    torch.operator_terminator %s, %s : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
  }
  return %r#0, %r#1 : !torch.vtensor<[3],f32>, !torch.vtensor<[5,3],f32>
}
