// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-refine-sizes)' | FileCheck %s

// The attention knows its heads: a size that is left out elsewhere stays so.
// CHECK-LABEL: func.func @known
// CHECK:         torch.aten.view {{.*}} -> !torch.vtensor<[?,?],f32>
func.func @known(%q: !torch.vtensor<[?,4,?,8],f32>, %x: !torch.vtensor<[?,?,?],f32>, %b: !torch.int) -> (!torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,?],f32>) {
  %none = torch.constant.none
  %no = torch.constant.bool false
  %p = torch.constant.float 0.0
  %size = torch.constant.int 8
  %l = torch.prim.ListConstruct %b, %size : (!torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.view %x, %l : !torch.vtensor<[?,?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %p, %no, %none, %no : !torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,4,?,8],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[?,4,?,8],f32>
  return %r, %v : !torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,?],f32>
}
