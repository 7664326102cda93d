// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-expand-attention-masks)' | FileCheck %s

// CHECK-LABEL: @decode
// CHECK: torch.aten.unsqueeze
// CHECK: torch.aten.unsqueeze {{.*}} -> !torch.vtensor<[1,1,1,5],i1>
// CHECK: torch.aten.scaled_dot_product_attention
func.func @decode(%q: !torch.vtensor<[2,3,1,8],f32>, %k: !torch.vtensor<[2,3,5,8],f32>, %m: !torch.vtensor<[1,5],i1>) -> !torch.vtensor<[2,3,1,8],f32> {
  %p = torch.constant.float 0.0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %m, %p, %false, %none, %false : !torch.vtensor<[2,3,1,8],f32>, !torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[1,5],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,3,1,8],f32>
  return %0 : !torch.vtensor<[2,3,1,8],f32>
}

// CHECK-LABEL: @whole_mask
// CHECK-NOT: torch.aten.unsqueeze
// CHECK: return
func.func @whole_mask(%q: !torch.vtensor<[2,3,1,8],f32>, %k: !torch.vtensor<[2,3,5,8],f32>, %m: !torch.vtensor<[1,1,1,5],i1>) -> !torch.vtensor<[2,3,1,8],f32> {
  %p = torch.constant.float 0.0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %m, %p, %false, %none, %false : !torch.vtensor<[2,3,1,8],f32>, !torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[1,1,1,5],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,3,1,8],f32>
  return %0 : !torch.vtensor<[2,3,1,8],f32>
}
