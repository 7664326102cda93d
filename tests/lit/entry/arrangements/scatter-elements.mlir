// RUN: fissile-opt %s --split-input-file --pass-pipeline='builtin.module(fissile-scatter-elements)' | FileCheck %s

// IREE crashes on a dimension that is counted from the end.
// CHECK-LABEL: func.func @last
// CHECK:         %[[D:.*]] = torch.constant.int 1
// CHECK:         torch.aten.scatter_add %{{.*}}, %[[D]], %{{.*}}
func.func @last(%x: !torch.vtensor<[3,6],f32>, %i: !torch.vtensor<[3,4],si64>, %s: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,6],f32> {
  %d = torch.constant.int -1
  %r = torch.aten.scatter_add %x, %d, %i, %s : !torch.vtensor<[3,6],f32>, !torch.int, !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,6],f32>
  return %r : !torch.vtensor<[3,6],f32>
}

// -----

// CHECK-LABEL: func.func @old_name
// CHECK:         %[[K:.*]] = torch.constant.str "prod"
// CHECK:         torch.aten.scatter_reduce.two %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[K]], %{{.*}}
// CHECK-NOT:     aten.scatter.reduce
func.func @old_name(%x: !torch.vtensor<[3,6],f32>, %i: !torch.vtensor<[3,4],si64>, %s: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,6],f32> {
  %d = torch.constant.int 1
  %k = torch.constant.str "multiply"
  %r = torch.aten.scatter.reduce %x, %d, %i, %s, %k : !torch.vtensor<[3,6],f32>, !torch.int, !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],f32>, !torch.str -> !torch.vtensor<[3,6],f32>
  return %r : !torch.vtensor<[3,6],f32>
}

// -----

// The twin counts from the front.
// CHECK-LABEL: func.func @twin
// CHECK-NEXT:    %[[D:.*]] = torch.constant.int 0
// CHECK-NEXT:    torch.aten.scatter.src %{{.*}}, %[[D]], %{{.*}}
// CHECK-NEXT:    return
func.func @twin(%x: !torch.vtensor<[3,6],f32>, %i: !torch.vtensor<[3,6],si64>, %s: !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[3,6],f32> {
  %d = torch.constant.int 0
  %r = torch.aten.scatter.src %x, %d, %i, %s : !torch.vtensor<[3,6],f32>, !torch.int, !torch.vtensor<[3,6],si64>, !torch.vtensor<[3,6],f32> -> !torch.vtensor<[3,6],f32>
  return %r : !torch.vtensor<[3,6],f32>
}
