module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x2x4xf32>, %arg1: tensor<8x2xf32>, %arg2: tensor<8x2xf32>, %arg3: tensor<2x3xi32>) -> (tensor<2x3x2x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %1 = stablehlo.compare LT, %arg3, %0, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %3 = stablehlo.add %arg3, %2 : tensor<2x3xi32>
    %4 = stablehlo.select %1, %3, %arg3 : tensor<2x3xi1>, tensor<2x3xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %6 = "stablehlo.gather"(%arg1, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<2x3x1xi32>) -> tensor<2x3x2xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 3] : (tensor<2x3x2xf32>) -> tensor<2x3x1x2xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %9 = stablehlo.compare LT, %arg3, %8, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
    %11 = stablehlo.add %arg3, %10 : tensor<2x3xi32>
    %12 = stablehlo.select %9, %11, %arg3 : tensor<2x3xi1>, tensor<2x3xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
    %14 = "stablehlo.gather"(%arg2, %13) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<2x3x1xi32>) -> tensor<2x3x2xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 3] : (tensor<2x3x2xf32>) -> tensor<2x3x1x2xf32>
    %16 = stablehlo.slice %arg0 [0:2, 0:3, 0:2, 0:2] : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
    %17 = stablehlo.slice %arg0 [0:2, 0:3, 0:2, 2:4] : (tensor<2x3x2x4xf32>) -> tensor<2x3x2x2xf32>
    %18 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x3x1x2xf32>) -> tensor<2x3x2x2xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<2x3x2x2xf32>
    %20 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x3x1x2xf32>) -> tensor<2x3x2x2xf32>
    %21 = stablehlo.multiply %17, %20 : tensor<2x3x2x2xf32>
    %22 = stablehlo.subtract %19, %21 : tensor<2x3x2x2xf32>
    %23 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x3x1x2xf32>) -> tensor<2x3x2x2xf32>
    %24 = stablehlo.multiply %17, %23 : tensor<2x3x2x2xf32>
    %25 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<2x3x1x2xf32>) -> tensor<2x3x2x2xf32>
    %26 = stablehlo.multiply %16, %25 : tensor<2x3x2x2xf32>
    %27 = stablehlo.add %24, %26 : tensor<2x3x2x2xf32>
    %28 = stablehlo.concatenate %22, %27, dim = 3 : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x2x4xf32>
    return %28 : tensor<2x3x2x4xf32>
  }
}
