// The shape of the ones comes from an operation that strew does not run. Fused, the ones are a number, and the shape is not needed.
func.func @main(%table: tensor<?x4xf32>, %indices: tensor<?x1xi32>, %updates: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %shape = other.shape %updates : (tensor<?x4xf32>) -> tensor<2xi32>
  %ones = stablehlo.dynamic_broadcast_in_dim %one, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %scaled = stablehlo.multiply %ones, %updates : tensor<?x4xf32>
  %result = "stablehlo.scatter"(%table, %indices, %scaled) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%current: tensor<f32>, %update: tensor<f32>):
    %sum = stablehlo.add %current, %update : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<?x1xi32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
