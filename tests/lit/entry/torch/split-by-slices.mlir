// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-split-by-slices)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @by_sizes
// CHECK-SAME: (%[[X:[^:]+]]: {{.*}}, %[[A:[^:]+]]: !torch.int, %[[B:[^:]+]]: !torch.int)
// CHECK-NOT: split
// CHECK: %[[END:.+]] = torch.aten.add.int %{{.+}}, %[[A]]
// CHECK: torch.aten.slice.Tensor %[[X]], %{{.+}}, %{{.+}}, %[[END]],
// CHECK: %[[LAST:.+]] = torch.aten.add.int %[[END]], %[[B]]
// CHECK: torch.aten.slice.Tensor %[[X]], %{{.+}}, %[[END]], %[[LAST]],
func.func @by_sizes(%x: !torch.vtensor<[?,8],f32>, %a: !torch.int, %b: !torch.int) -> (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>) {
  %0 = torch.constant.int 0
  %sizes = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %parts = torch.aten.split_with_sizes %x, %sizes, %0 : !torch.vtensor<[?,8],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  %r:2 = torch.prim.ListUnpack %parts : !torch.list<vtensor> -> !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>
  return %r#0, %r#1 : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>
}

// The last part is what is left.
// CHECK-LABEL: @by_size
// CHECK-NOT: split
// CHECK-COUNT-2: torch.aten.slice.Tensor
// CHECK: %[[END:.+]] = torch.constant.int 9223372036854775807
// CHECK: torch.aten.slice.Tensor %{{.+}}, %{{.+}}, %{{.+}}, %[[END]],
func.func @by_size(%x: !torch.vtensor<[?,8],f32>, %a: !torch.int) -> (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>) {
  %0 = torch.constant.int 0
  %parts = torch.aten.split.Tensor %x, %a, %0 : !torch.vtensor<[?,8],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %r:3 = torch.prim.ListUnpack %parts : !torch.list<vtensor> -> !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>
  return %r#0, %r#1, %r#2 : !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>, !torch.vtensor<[?,8],f32>
}

// IREE lowers it.
// CHECK-LABEL: @known
// CHECK: torch.aten.split_with_sizes
func.func @known(%x: !torch.vtensor<[5,8],f32>) -> (!torch.vtensor<[2,8],f32>, !torch.vtensor<[3,8],f32>) {
  %0 = torch.constant.int 0
  %2 = torch.constant.int 2
  %3 = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %2, %3 : (!torch.int, !torch.int) -> !torch.list<int>
  %parts = torch.aten.split_with_sizes %x, %sizes, %0 : !torch.vtensor<[5,8],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  %r:2 = torch.prim.ListUnpack %parts : !torch.list<vtensor> -> !torch.vtensor<[2,8],f32>, !torch.vtensor<[3,8],f32>
  return %r#0, %r#1 : !torch.vtensor<[2,8],f32>, !torch.vtensor<[3,8],f32>
}
