// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-attend-backwards)' | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK:          torch.aten.matmul
// CHECK:          torch.aten.exp
// CHECK:          torch.aten.log
// CHECK-NOT:      flash_attention
func.func @forward(%q: !torch.vtensor<[?,2,?,8],f32>, %k: !torch.vtensor<[?,2,?,8],f32>, %v: !torch.vtensor<[?,2,?,8],f32>) -> (!torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?],f32>) {
  %p = torch.constant.float 0.0
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r:2 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu"(%q, %k, %v, %p, %no, %none, %none) : (!torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?,8],f32>, !torch.float, !torch.bool, !torch.none, !torch.none) -> (!torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?],f32>)
  return %r#0, %r#1 : !torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?],f32>
}

// With a dropout, which is random.
// CHECK-LABEL: func.func @silent
// CHECK:          flash_attention
func.func @silent(%q: !torch.vtensor<[?,2,?,8],f32>, %k: !torch.vtensor<[?,2,?,8],f32>, %v: !torch.vtensor<[?,2,?,8],f32>) -> (!torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?],f32>) {
  %p = torch.constant.float 0.1
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r:2 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu"(%q, %k, %v, %p, %no, %none, %none) : (!torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?,8],f32>, !torch.float, !torch.bool, !torch.none, !torch.none) -> (!torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?],f32>)
  return %r#0, %r#1 : !torch.vtensor<[?,2,?,8],f32>, !torch.vtensor<[?,2,?],f32>
}
