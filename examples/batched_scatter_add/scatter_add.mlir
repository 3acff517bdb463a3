// The gradient of a batched embedding look-up, as jax.vmap lowers it: each of 8 tables [4096, 64] gets the 512 gradient rows of its own
// tokens added; a token that occurs twice is added twice, in order. Dim 0 is a batching dim of all three tensors.
module @embedding_gradient {
  func.func public @main(%table: tensor<8x4096x64xf32>, %tokens: tensor<8x512x1xi32>, %gradients: tensor<8x512x64xf32>)
      -> tensor<8x4096x64xf32> {
    %0 = "stablehlo.scatter"(%table, %tokens, %gradients) <{
      indices_are_sorted = false,
      scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [2],
        inserted_window_dims = [1],
        input_batching_dims = [0],
        scatter_indices_batching_dims = [0],
        scatter_dims_to_operand_dims = [1],
        index_vector_dim = 2>,
      unique_indices = false
    }> ({
    ^bb0(%current: tensor<f32>, %update: tensor<f32>):
      %sum = stablehlo.add %current, %update : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<8x4096x64xf32>, tensor<8x512x1xi32>, tensor<8x512x64xf32>) -> tensor<8x4096x64xf32>
    return %0 : tensor<8x4096x64xf32>
  }
}
