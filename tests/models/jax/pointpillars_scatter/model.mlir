module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x3xf32>, %arg1: tensor<7x4xi32>) -> (tensor<1x3x5x6xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3x5x6xf32>
    %1 = stablehlo.slice %arg1 [0:7, 0:1] : (tensor<7x4xi32>) -> tensor<7x1xi32>
    %2 = stablehlo.reshape %1 : (tensor<7x1xi32>) -> tensor<7xi32>
    %3 = stablehlo.slice %arg1 [0:7, 2:3] : (tensor<7x4xi32>) -> tensor<7x1xi32>
    %4 = stablehlo.reshape %3 : (tensor<7x1xi32>) -> tensor<7xi32>
    %5 = stablehlo.slice %arg1 [0:7, 3:4] : (tensor<7x4xi32>) -> tensor<7x1xi32>
    %6 = stablehlo.reshape %5 : (tensor<7x1xi32>) -> tensor<7xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %8 = stablehlo.compare LT, %2, %7, SIGNED : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %10 = stablehlo.add %2, %9 : tensor<7xi32>
    %11 = stablehlo.select %8, %10, %2 : tensor<7xi1>, tensor<7xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %13 = stablehlo.compare LT, %4, %12, SIGNED : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %c_2 = stablehlo.constant dense<5> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %15 = stablehlo.add %4, %14 : tensor<7xi32>
    %16 = stablehlo.select %13, %15, %4 : tensor<7xi1>, tensor<7xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %18 = stablehlo.compare LT, %6, %17, SIGNED : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
    %c_4 = stablehlo.constant dense<6> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %20 = stablehlo.add %6, %19 : tensor<7xi32>
    %21 = stablehlo.select %18, %20, %6 : tensor<7xi1>, tensor<7xi32>
    %22 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %23 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %24 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %25 = stablehlo.concatenate %22, %23, %24, dim = 1 : (tensor<7x1xi32>, tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x3xi32>
    %26 = "stablehlo.scatter"(%0, %25, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 2, 3], scatter_dims_to_operand_dims = [0, 2, 3], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<1x3x5x6xf32>, tensor<7x3xi32>, tensor<7x3xf32>) -> tensor<1x3x5x6xf32>
    return %26 : tensor<1x3x5x6xf32>
  }
}
