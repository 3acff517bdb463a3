module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x2xf32>, %arg1: tensor<3xi32>) -> (tensor<3x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:7:2, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.slice %arg0 [1:8:2, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x2xf32>
    %3 = stablehlo.slice %2 [0:3:2, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %4 = stablehlo.slice %2 [1:4:2, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x2xf32>
    %6 = stablehlo.slice %5 [0:1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %7 = stablehlo.slice %5 [1:2:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %8 = stablehlo.add %6, %7 : tensor<1x2xf32>
    %9 = stablehlo.slice %8 [0:0, 0:2] : (tensor<1x2xf32>) -> tensor<0x2xf32>
    %10 = stablehlo.slice %5 [2:2:2, 0:2] : (tensor<2x2xf32>) -> tensor<0x2xf32>
    %11 = stablehlo.add %9, %10 : tensor<0x2xf32>
    %12 = stablehlo.slice %5 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %13 = stablehlo.concatenate %12, %11, dim = 0 : (tensor<1x2xf32>, tensor<0x2xf32>) -> tensor<1x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.pad %13, %cst, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %8, %cst_0, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %16 = stablehlo.add %14, %15 : tensor<2x2xf32>
    %17 = stablehlo.slice %16 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %18 = stablehlo.slice %2 [2:4:2, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
    %19 = stablehlo.add %17, %18 : tensor<1x2xf32>
    %20 = stablehlo.slice %2 [0:1, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
    %21 = stablehlo.concatenate %20, %19, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.pad %21, %cst_1, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.pad %16, %cst_2, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %24 = stablehlo.add %22, %23 : tensor<4x2xf32>
    %25 = stablehlo.slice %24 [0:3, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
    %26 = stablehlo.slice %arg0 [2:8:2, 0:2] : (tensor<8x2xf32>) -> tensor<3x2xf32>
    %27 = stablehlo.add %25, %26 : tensor<3x2xf32>
    %28 = stablehlo.slice %arg0 [0:1, 0:2] : (tensor<8x2xf32>) -> tensor<1x2xf32>
    %29 = stablehlo.concatenate %28, %27, dim = 0 : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.pad %29, %cst_3, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.pad %24, %cst_4, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %32 = stablehlo.add %30, %31 : tensor<8x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %34 = stablehlo.compare LT, %arg1, %33, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %36 = stablehlo.add %arg1, %35 : tensor<3xi32>
    %37 = stablehlo.select %34, %36, %arg1 : tensor<3xi1>, tensor<3xi32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %39 = "stablehlo.gather"(%32, %38) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
    return %39 : tensor<3x2xf32>
  }
}
