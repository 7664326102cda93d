// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-contract-indices)' 2>/dev/null | FileCheck %s

// The index j of the left operand and k of the right one are summed first.
// CHECK-LABEL: @alone
// CHECK:         %[[LEFT:.*]] = torch.aten.sum.dim_IntList %arg0, {{.*}} -> !torch.vtensor<[?],f32>
// CHECK:         %[[RIGHT:.*]] = torch.aten.sum.dim_IntList %arg1, {{.*}} -> !torch.vtensor<[4],f32>
// CHECK:         torch.prim.ListConstruct %[[LEFT]], %[[RIGHT]]
// CHECK:         torch.constant.str "i,l->il"
// CHECK:         torch.aten.einsum
func.func @alone(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[5,4],f32>) -> !torch.vtensor<[?,4],f32> {
  %equation = torch.constant.str "ij, kl -> il"
  %none = torch.constant.none
  %xy = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[5,4],f32>) -> !torch.list<vtensor>
  %r = torch.aten.einsum %equation, %xy, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[?,4],f32>
  return %r : !torch.vtensor<[?,4],f32>
}

// c is needed for the third operand.
// CHECK-LABEL: @three
// CHECK:         torch.constant.str "nc,ck->nck"
// CHECK:         torch.constant.str "nck,ckd->nd"
func.func @three(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3,4],f32>, %z: !torch.vtensor<[3,4,5],f32>) -> !torch.vtensor<[2,5],f32> {
  %equation = torch.constant.str "nc,ck,ckd->nd"
  %none = torch.constant.none
  %xyz = torch.prim.ListConstruct %x, %y, %z : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4,5],f32>) -> !torch.list<vtensor>
  %r = torch.aten.einsum %equation, %xyz, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,5],f32>
  return %r : !torch.vtensor<[2,5],f32>
}

// The trace, and a batch of size 1 that is broadcast, in letters that stand for the ellipsis.
// CHECK-LABEL: @others
// CHECK:         torch.constant.str "ii->i"
// CHECK:         torch.aten.sum.dim_IntList
// CHECK:         torch.aten.squeeze.dim %arg1
// CHECK:         torch.constant.str "ajk,ij->aik"
func.func @others(%x: !torch.vtensor<[3,3],f32>, %y: !torch.vtensor<[1,2,3],f32>, %z: !torch.vtensor<[4,3,2],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[4,2,2],f32>) {
  %none = torch.constant.none
  %trace = torch.constant.str "ii->"
  %x1 = torch.prim.ListConstruct %x : (!torch.vtensor<[3,3],f32>) -> !torch.list<vtensor>
  %r = torch.aten.einsum %trace, %x1, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[],f32>
  %batches = torch.constant.str "...jk,...ij->...ik"
  %zy = torch.prim.ListConstruct %z, %y : (!torch.vtensor<[4,3,2],f32>, !torch.vtensor<[1,2,3],f32>) -> !torch.list<vtensor>
  %s = torch.aten.einsum %batches, %zy, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4,2,2],f32>
  return %r, %s : !torch.vtensor<[],f32>, !torch.vtensor<[4,2,2],f32>
}

// What IREE takes itself, and an equation that is not one.
// CHECK-LABEL: @silent
// CHECK:         torch.constant.str "bij,bjk->bik"
// CHECK:         torch.constant.str "bi,bjk->bj"
// CHECK-NOT:     torch.aten.sum
func.func @silent(%x: !torch.vtensor<[?,3,4],f32>, %y: !torch.vtensor<[?,4,5],f32>) -> (!torch.vtensor<[?,3,5],f32>, !torch.vtensor<[?,3],f32>) {
  %none = torch.constant.none
  %equation = torch.constant.str "bij,bjk->bik"
  %wrong = torch.constant.str "bi,bjk->bj"
  %xy = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[?,3,4],f32>, !torch.vtensor<[?,4,5],f32>) -> !torch.list<vtensor>
  %r = torch.aten.einsum %equation, %xy, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[?,3,5],f32>
  %s = torch.aten.einsum %wrong, %xy, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[?,3],f32>
  return %r, %s : !torch.vtensor<[?,3,5],f32>, !torch.vtensor<[?,3],f32>
}

// Without an arrow the result has the indices that occur once, in order.
// CHECK-LABEL: @implied
// CHECK:         torch.constant.str "cb,ba->ac"
func.func @implied(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[4,2],f32> {
  %none = torch.constant.none
  %equation = torch.constant.str "cb,ba"
  %xy = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32>) -> !torch.list<vtensor>
  %r = torch.aten.einsum %equation, %xy, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4,2],f32>
  return %r : !torch.vtensor<[4,2],f32>
}
