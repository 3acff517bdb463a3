module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x3xf32>, %arg1: tensor<8xi32>) -> (tensor<3x2x3xf32> {jax.result_info = "result"}) {
    %0 = call @_one_hot(%arg1) : (tensor<8xi32>) -> tensor<8x3xi32>
    %1 = call @cumsum(%0) : (tensor<8x3xi32>) -> tensor<8x3xi32>
    %2 = stablehlo.multiply %1, %0 : tensor<8x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x3xi32>, tensor<i32>) -> tensor<8xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %5 = stablehlo.subtract %3, %4 : tensor<8xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x2x3xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %8 = stablehlo.compare LT, %arg1, %7, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %10 = stablehlo.add %arg1, %9 : tensor<8xi32>
    %11 = stablehlo.select %8, %10, %arg1 : tensor<8xi1>, tensor<8xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %13 = stablehlo.compare LT, %5, %12, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %c_4 = stablehlo.constant dense<2> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %15 = stablehlo.add %5, %14 : tensor<8xi32>
    %16 = stablehlo.select %13, %15, %5 : tensor<8xi1>, tensor<8xi32>
    %17 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %19 = stablehlo.concatenate %17, %18, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    %20 = "stablehlo.scatter"(%6, %19, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<3x2x3xf32>, tensor<8x2xi32>, tensor<8x3xf32>) -> tensor<3x2x3xf32>
    return %20 : tensor<3x2x3xf32>
  }
  func.func private @_one_hot(%arg0: tensor<8xi32>) -> tensor<8x3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x3xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x3xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x3xi32>) -> tensor<8x3xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<8x3xi32>, tensor<8x3xi32>) -> tensor<8x3xi1>
    %5 = stablehlo.convert %4 : (tensor<8x3xi1>) -> tensor<8x3xi32>
    return %5 : tensor<8x3xi32>
  }
  func.func private @cumsum(%arg0: tensor<8x3xi32>) -> tensor<8x3xi32> {
    %0 = call @cumsum_0(%arg0) : (tensor<8x3xi32>) -> tensor<8x3xi32>
    return %0 : tensor<8x3xi32>
  }
  func.func private @cumsum_0(%arg0: tensor<8x3xi32>) -> tensor<8x3xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<8x3xi32>, tensor<i32>) -> tensor<8x3xi32>
    return %1 : tensor<8x3xi32>
  }
}
