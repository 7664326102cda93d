// RUN: fissile-opt %s --pass-pipeline='builtin.module(fissile-rewrite-upsampling)' | FileCheck %s

// CHECK-LABEL: @twice
// CHECK: torch.aten.__interpolate.size_list_scale_list
// CHECK-NOT: upsample_bilinear2d
func.func @twice(%x: !torch.vtensor<[1,3,8,8],f32>) -> !torch.vtensor<[1,3,16,16],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %s = torch.constant.float 2.0
  %scales = torch.prim.ListConstruct %s, %s : (!torch.float, !torch.float) -> !torch.list<float>
  %r = torch.aten.upsample_bilinear2d.vec %x, %none, %false, %scales
      : !torch.vtensor<[1,3,8,8],f32>, !torch.none, !torch.bool, !torch.list<float> -> !torch.vtensor<[1,3,16,16],f32>
  return %r : !torch.vtensor<[1,3,16,16],f32>
}
