// One indexed op feeding another, with constants, a private function and both kinds of slice; values in chain.json.
module @chain {
  func.func public @main(%table: tensor<4x3xf32>, %position: tensor<i32>) -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) {
    %rows = stablehlo.constant dense<[[1], [3], [1], [-1], [4]]> : tensor<5x1xi32>
    %ones = stablehlo.constant dense<1.000000e+00> : tensor<5x3xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.scatter"(%table, %rows, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %two = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %twice = stablehlo.multiply %a, %two : tensor<f32>
      %sum = stablehlo.add %twice, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
    %1 = call @put(%0, %position, %zero) : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
    %picks = stablehlo.constant dense<[3, 9]> : tensor<2xi64>
    %2 = "stablehlo.gather"(%1, %picks) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = dense<[1, 3]> : tensor<2xi64>} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    %3 = stablehlo.dynamic_slice %1, %position, %position, sizes = [1, 3] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    return %1, %2, %3 : tensor<4x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>
  }
  func.func private @put(%into: tensor<4x3xf32>, %row: tensor<i32>, %column: tensor<i32>) -> tensor<4x3xf32> {
    %nines = stablehlo.constant dense<9.000000e+00> : tensor<1x2xf32>
    %0 = stablehlo.dynamic_update_slice %into, %nines, %row, %column : (tensor<4x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
