// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-refine-sizes)' | FileCheck %s

// The heads have 8 elements, which the types of keys and values leave out.
// CHECK-LABEL: func.func @attention
// CHECK:         torch.aten.view {{.*}} -> !torch.vtensor<[?,4,?,8],f32>
// CHECK:         torch.aten.scaled_dot_product_attention {{.*}} !torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,4,?,8],f32>
func.func @attention(%q: !torch.vtensor<[?,4,?,8],f32>, %x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,4,?,8],f32> {
  %none = torch.constant.none
  %no = torch.constant.bool false
  %p = torch.constant.float 0.0
  %zero = torch.constant.int 0
  %two = torch.constant.int 2
  %b = torch.aten.size.int %q, %zero : !torch.vtensor<[?,4,?,8],f32>, !torch.int -> !torch.int
  %s = torch.aten.size.int %q, %two : !torch.vtensor<[?,4,?,8],f32>, !torch.int -> !torch.int
  %heads = torch.constant.int 4
  %size = torch.constant.int 8
  %l = torch.prim.ListConstruct %b, %heads, %s, %size : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %k = torch.aten.view %x, %l : !torch.vtensor<[?,?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,4,?,?],f32>
  %r = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %p, %no, %none, %no : !torch.vtensor<[?,4,?,8],f32>, !torch.vtensor<[?,4,?,?],f32>, !torch.vtensor<[?,4,?,?],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[?,4,?,8],f32>
  return %r : !torch.vtensor<[?,4,?,8],f32>
}
