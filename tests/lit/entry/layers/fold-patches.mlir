// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-fold-patches)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @image
// CHECK-NOT: col2im
// CHECK: torch.aten.index_select
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[?,3,3,6,8],f32>
// CHECK: torch.aten.index_select
// CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[?,3,8,8],f32>
func.func @image(%x: !torch.vtensor<[?,27,36],f32>) -> !torch.vtensor<[?,3,8,8],f32> {
  %o0 = torch.constant.int 8
  %o1 = torch.constant.int 8
  %o = torch.prim.ListConstruct %o0, %o1 : (!torch.int, !torch.int) -> !torch.list<int>
  %k0 = torch.constant.int 3
  %k1 = torch.constant.int 3
  %k = torch.prim.ListConstruct %k0, %k1 : (!torch.int, !torch.int) -> !torch.list<int>
  %d0 = torch.constant.int 1
  %d1 = torch.constant.int 1
  %d = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %p0 = torch.constant.int 0
  %p1 = torch.constant.int 0
  %p = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %s0 = torch.constant.int 1
  %s1 = torch.constant.int 1
  %s = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.col2im %x, %o, %k, %d, %p, %s : !torch.vtensor<[?,27,36],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,3,8,8],f32>
  return %r : !torch.vtensor<[?,3,8,8],f32>
}

// Patches that do not overlap are not added up.
// CHECK-LABEL: @apart
// CHECK-NOT: col2im
// CHECK-NOT: sum.dim_IntList
// CHECK: return
func.func @apart(%x: !torch.vtensor<[?,12,16],f32>) -> !torch.vtensor<[?,3,8,8],f32> {
  %o0 = torch.constant.int 8
  %o1 = torch.constant.int 8
  %o = torch.prim.ListConstruct %o0, %o1 : (!torch.int, !torch.int) -> !torch.list<int>
  %k0 = torch.constant.int 2
  %k1 = torch.constant.int 2
  %k = torch.prim.ListConstruct %k0, %k1 : (!torch.int, !torch.int) -> !torch.list<int>
  %d0 = torch.constant.int 1
  %d1 = torch.constant.int 1
  %d = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %p0 = torch.constant.int 0
  %p1 = torch.constant.int 0
  %p = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %s0 = torch.constant.int 2
  %s1 = torch.constant.int 2
  %s = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.col2im %x, %o, %k, %d, %p, %s : !torch.vtensor<[?,12,16],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,3,8,8],f32>
  return %r : !torch.vtensor<[?,3,8,8],f32>
}

// Other patches than this image has, which torch refuses.
// CHECK-LABEL: @other_count
// CHECK: torch.aten.col2im
func.func @other_count(%x: !torch.vtensor<[?,27,35],f32>) -> !torch.vtensor<[?,3,8,8],f32> {
  %o0 = torch.constant.int 8
  %o1 = torch.constant.int 8
  %o = torch.prim.ListConstruct %o0, %o1 : (!torch.int, !torch.int) -> !torch.list<int>
  %k0 = torch.constant.int 3
  %k1 = torch.constant.int 3
  %k = torch.prim.ListConstruct %k0, %k1 : (!torch.int, !torch.int) -> !torch.list<int>
  %d0 = torch.constant.int 1
  %d1 = torch.constant.int 1
  %d = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %p0 = torch.constant.int 0
  %p1 = torch.constant.int 0
  %p = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %s0 = torch.constant.int 1
  %s1 = torch.constant.int 1
  %s = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.col2im %x, %o, %k, %d, %p, %s : !torch.vtensor<[?,27,35],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,3,8,8],f32>
  return %r : !torch.vtensor<[?,3,8,8],f32>
}
