module @module {
  util.global private @__auto.constant_64_32_3_3_torch.int8 = dense<1> : tensor<64x32x3x3xi8>
  func.func @main(%arg0: !torch.vtensor<[?,32,30,30],si8>) -> !torch.vtensor<[?,64,30,30],si8> attributes {torch.assume_strict_symbolic_shapes} {
    %none = torch.constant.none
    %none_0 = torch.constant.none
    %int1 = torch.constant.int 1
    %cpu = torch.constant.device "cpu"
    %int0 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %arg0, %none, %none_0, %int1, %cpu, %int0 : !torch.vtensor<[?,32,30,30],si8>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int6 = torch.constant.int 6
    %0 = torch.prims.convert_element_type %arg0, %int6 : !torch.vtensor<[?,32,30,30],si8>, !torch.int -> !torch.vtensor<[?,32,30,30],f32>
    %float0.000000e00 = torch.constant.float 0.000000e+00
    %int1_1 = torch.constant.int 1
    %1 = torch.aten.sub.Scalar %0, %float0.000000e00, %int1_1 : !torch.vtensor<[?,32,30,30],f32>, !torch.float, !torch.int -> !torch.vtensor<[?,32,30,30],f32>
    %float5.000000e-02 = torch.constant.float 5.000000e-02
    %2 = torch.aten.mul.Scalar %1, %float5.000000e-02 : !torch.vtensor<[?,32,30,30],f32>, !torch.float -> !torch.vtensor<[?,32,30,30],f32>
    %__auto.constant_64_32_3_3_torch.int8 = util.global.load @__auto.constant_64_32_3_3_torch.int8 : tensor<64x32x3x3xi8>
    %3 = torch_c.from_builtin_tensor %__auto.constant_64_32_3_3_torch.int8 : tensor<64x32x3x3xi8> -> !torch.vtensor<[64,32,3,3],si8>
    %none_2 = torch.constant.none
    %none_3 = torch.constant.none
    %int1_4 = torch.constant.int 1
    %cpu_5 = torch.constant.device "cpu"
    %int0_6 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %3, %none_2, %none_3, %int1_4, %cpu_5, %int0_6 : !torch.vtensor<[64,32,3,3],si8>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int6_7 = torch.constant.int 6
    %4 = torch.prims.convert_element_type %3, %int6_7 : !torch.vtensor<[64,32,3,3],si8>, !torch.int -> !torch.vtensor<[64,32,3,3],f32>
    %5 = torch.vtensor.literal(dense<0.001> : tensor<64x1x1x1xf32>) : !torch.vtensor<[64,1,1,1],f32>
    %6 = torch.aten.mul.Tensor %4, %5 : !torch.vtensor<[64,32,3,3],f32>, !torch.vtensor<[64,1,1,1],f32> -> !torch.vtensor<[64,32,3,3],f32>
    %7 = torch.vtensor.literal(dense<0.001> : tensor<64xf32>) : !torch.vtensor<[64],f32>
    %int1_8 = torch.constant.int 1
    %int1_9 = torch.constant.int 1
    %8 = torch.prim.ListConstruct %int1_8, %int1_9 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_10 = torch.constant.int 1
    %int1_11 = torch.constant.int 1
    %9 = torch.prim.ListConstruct %int1_10, %int1_11 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_12 = torch.constant.int 1
    %int1_13 = torch.constant.int 1
    %10 = torch.prim.ListConstruct %int1_12, %int1_13 : (!torch.int, !torch.int) -> !torch.list<int>
    %int1_14 = torch.constant.int 1
    %11 = torch.aten.conv2d %2, %6, %7, %8, %9, %10, %int1_14 : !torch.vtensor<[?,32,30,30],f32>, !torch.vtensor<[64,32,3,3],f32>, !torch.vtensor<[64],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[?,64,30,30],f32>
    %float5.000000e-01 = torch.constant.float 5.000000e-01
    %12 = torch.aten.div.Scalar %11, %float5.000000e-01 : !torch.vtensor<[?,64,30,30],f32>, !torch.float -> !torch.vtensor<[?,64,30,30],f32>
    %13 = torch.aten.round %12 : !torch.vtensor<[?,64,30,30],f32> -> !torch.vtensor<[?,64,30,30],f32>
    %float0.000000e00_15 = torch.constant.float 0.000000e+00
    %int1_16 = torch.constant.int 1
    %14 = torch.aten.add.Scalar %13, %float0.000000e00_15, %int1_16 : !torch.vtensor<[?,64,30,30],f32>, !torch.float, !torch.int -> !torch.vtensor<[?,64,30,30],f32>
    %int-128 = torch.constant.int -128
    %int127 = torch.constant.int 127
    %15 = torch.aten.clamp %14, %int-128, %int127 : !torch.vtensor<[?,64,30,30],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,64,30,30],f32>
    %none_17 = torch.constant.none
    %none_18 = torch.constant.none
    %int6_19 = torch.constant.int 6
    %cpu_20 = torch.constant.device "cpu"
    %int0_21 = torch.constant.int 0
    torch.aten._assert_tensor_metadata %15, %none_17, %none_18, %int6_19, %cpu_20, %int0_21 : !torch.vtensor<[?,64,30,30],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
    %int1_22 = torch.constant.int 1
    %16 = torch.prims.convert_element_type %15, %int1_22 : !torch.vtensor<[?,64,30,30],f32>, !torch.int -> !torch.vtensor<[?,64,30,30],si8>
    return %16 : !torch.vtensor<[?,64,30,30],si8>
  }
}
