// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-index-merged-dims)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @last_of_each
// CHECK: %[[SIZE:.*]] = torch.aten.size.int %{{.*}}, %int1
// CHECK: torch.aten.where.self
// CHECK: torch.aten.mul.Scalar %{{.*}}, %[[SIZE]]
// CHECK: %[[ALL:.*]] = torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[?,8],f32>
// CHECK: torch.aten.index.Tensor %[[ALL]], %{{.*}} -> !torch.vtensor<[?,8],f32>
func.func @last_of_each(%x: !torch.vtensor<[?,?,8],f32>, %i: !torch.vtensor<[?],si64>, %j: !torch.vtensor<[?],si64>) -> !torch.vtensor<[?,8],f32> {
  %l = torch.prim.ListConstruct %i, %j : (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index.Tensor %x, %l : !torch.vtensor<[?,?,8],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,8],f32>
  return %r : !torch.vtensor<[?,8],f32>
}

// The indexed dimensions are no neighbours, and come first.
// CHECK-LABEL: @apart
// CHECK: torch.aten.permute {{.*}} -> !torch.vtensor<[4,5,3],f32>
// CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[20,3],f32>
func.func @apart(%x: !torch.vtensor<[4,3,5],f32>, %i: !torch.vtensor<[?],si64>, %j: !torch.vtensor<[?],si64>) -> !torch.vtensor<[?,3],f32> {
  %none = torch.constant.none
  %l = torch.prim.ListConstruct %i, %none, %j : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index.Tensor %x, %l : !torch.vtensor<[4,3,5],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,3],f32>
  return %r : !torch.vtensor<[?,3],f32>
}

// IREE lowers one index, and several of known sizes.
// CHECK-LABEL: @lowered
// CHECK-NOT: flatten
// CHECK: return
func.func @lowered(%x: !torch.vtensor<[?,?],f32>, %i: !torch.vtensor<[?],si64>, %j: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[?,?],f32>, !torch.vtensor<[4],f32>) {
  %none = torch.constant.none
  %l = torch.prim.ListConstruct %none, %i : (!torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index.Tensor %x, %l : !torch.vtensor<[?,?],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,?],f32>
  %m = torch.prim.ListConstruct %j, %j : (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>) -> !torch.list<optional<vtensor>>
  %s = torch.aten.index.Tensor %x, %m : !torch.vtensor<[?,?],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[4],f32>
  return %r, %s : !torch.vtensor<[?,?],f32>, !torch.vtensor<[4],f32>
}

// CHECK-LABEL: @mask
// CHECK-NOT: flatten
// CHECK: return
func.func @mask(%x: !torch.vtensor<[?,?],f32>, %i: !torch.vtensor<[?],i1>, %j: !torch.vtensor<[?],si64>) -> !torch.vtensor<[?],f32> {
  %l = torch.prim.ListConstruct %i, %j : (!torch.vtensor<[?],i1>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index.Tensor %x, %l : !torch.vtensor<[?,?],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
