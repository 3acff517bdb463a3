module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8x2x4xi8>, %arg1: tensor<3x8x2xf32>, %arg2: tensor<3x2x4xf32>, %arg3: tensor<3xi32>) -> (tensor<3x8x2x4xi8> {jax.result_info = "result[0]"}, tensor<3x8x2xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.abs %arg2 : tensor<3x2x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<3x2x4xf32>, tensor<f32>) -> tensor<3x2xf32>
    %cst_0 = stablehlo.constant dense<1.270000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %3 = stablehlo.divide %1, %2 : tensor<3x2xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<3x2x1xf32>) -> tensor<3x2x4xf32>
    %6 = stablehlo.divide %arg2, %5 : tensor<3x2x4xf32>
    %7 = call @round(%6) : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
    %8 = stablehlo.convert %7 : (tensor<3x2x4xf32>) -> tensor<3x2x4xi8>
    %9 = stablehlo.iota dim = 0 : tensor<3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %11 = stablehlo.compare LT, %9, %10, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %13 = stablehlo.add %9, %12 : tensor<3xi32>
    %14 = stablehlo.select %11, %13, %9 : tensor<3xi1>, tensor<3xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %16 = stablehlo.compare LT, %arg3, %15, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_3 = stablehlo.constant dense<8> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %18 = stablehlo.add %arg3, %17 : tensor<3xi32>
    %19 = stablehlo.select %16, %18, %arg3 : tensor<3xi1>, tensor<3xi32>
    %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %23 = "stablehlo.scatter"(%arg0, %22, %8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<i8>, %arg5: tensor<i8>):
      stablehlo.return %arg5 : tensor<i8>
    }) : (tensor<3x8x2x4xi8>, tensor<3x2xi32>, tensor<3x2x4xi8>) -> tensor<3x8x2x4xi8>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %25 = stablehlo.compare LT, %9, %24, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_5 = stablehlo.constant dense<3> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %27 = stablehlo.add %9, %26 : tensor<3xi32>
    %28 = stablehlo.select %25, %27, %9 : tensor<3xi1>, tensor<3xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %30 = stablehlo.compare LT, %arg3, %29, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_7 = stablehlo.constant dense<8> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %32 = stablehlo.add %arg3, %31 : tensor<3xi32>
    %33 = stablehlo.select %30, %32, %arg3 : tensor<3xi1>, tensor<3xi32>
    %34 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %35 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %36 = stablehlo.concatenate %34, %35, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %37 = "stablehlo.scatter"(%arg1, %36, %3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<3x8x2xf32>, tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<3x8x2xf32>
    return %23, %37 : tensor<3x8x2x4xi8>, tensor<3x8x2xf32>
  }
  func.func private @round(%arg0: tensor<3x2x4xf32>) -> tensor<3x2x4xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<3x2x4xf32>
    return %0 : tensor<3x2x4xf32>
  }
}
