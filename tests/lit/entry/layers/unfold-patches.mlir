// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-unfold-patches)' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @patches
// CHECK-NOT: im2col
// CHECK: torch.aten.constant_pad_nd {{.*}} -> !torch.vtensor<[?,3,10,10],f32>
// CHECK-COUNT-3: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[?,3,4,10],f32>
// CHECK-COUNT-3: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[?,3,3,4,4],f32>
// CHECK: torch.aten.flatten.using_ints {{.*}} -> !torch.vtensor<[?,27,16],f32>
func.func @patches(%x: !torch.vtensor<[?,3,8,8],f32>) -> !torch.vtensor<[?,27,16],f32> {
  %k0 = torch.constant.int 3
  %k1 = torch.constant.int 3
  %k = torch.prim.ListConstruct %k0, %k1 : (!torch.int, !torch.int) -> !torch.list<int>
  %d0 = torch.constant.int 1
  %d1 = torch.constant.int 1
  %d = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %p0 = torch.constant.int 1
  %p1 = torch.constant.int 1
  %p = torch.prim.ListConstruct %p0, %p1 : (!torch.int, !torch.int) -> !torch.list<int>
  %s0 = torch.constant.int 2
  %s1 = torch.constant.int 2
  %s = torch.prim.ListConstruct %s0, %s1 : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.im2col %x, %k, %d, %p, %s : !torch.vtensor<[?,3,8,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,27,16],f32>
  return %r : !torch.vtensor<[?,27,16],f32>
}

// CHECK-LABEL: @dynamic
// CHECK-NOT: im2col
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[3,?,?],f16>
func.func @dynamic(%x: !torch.vtensor<[3,?,?],f16>) -> !torch.vtensor<[12,?],f16> {
  %k0 = torch.constant.int 2
  %k1 = torch.constant.int 2
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
  %r = torch.aten.im2col %x, %k, %d, %p, %s : !torch.vtensor<[3,?,?],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[12,?],f16>
  return %r : !torch.vtensor<[12,?],f16>
}

// CHECK-LABEL: @unknown_channels
// CHECK-NOT: im2col
// CHECK: torch.aten.slice.Tensor {{.*}} -> !torch.vtensor<[?,?,?],f16>
func.func @unknown_channels(%x: !torch.vtensor<[?,?,?],f16>) -> !torch.vtensor<[?,?],f16> {
  %k0 = torch.constant.int 2
  %k1 = torch.constant.int 2
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
  %r = torch.aten.im2col %x, %k, %d, %p, %s : !torch.vtensor<[?,?,?],f16>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,?],f16>
  return %r : !torch.vtensor<[?,?],f16>
}

// No patch fits, which torch refuses.
// CHECK-LABEL: @too_small
// CHECK: torch.aten.im2col
func.func @too_small(%x: !torch.vtensor<[?,3,2,2],f32>) -> !torch.vtensor<[?,27,0],f32> {
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
  %r = torch.aten.im2col %x, %k, %d, %p, %s : !torch.vtensor<[?,3,2,2],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[?,27,0],f32>
  return %r : !torch.vtensor<[?,27,0],f32>
}
