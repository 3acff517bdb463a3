// The same as a framework exports it: a row scatter on the flattened table, table.view(-1)[index * 64 + c] = rows.
func.func @flat(%table: tensor<1024x64xf32>, %index: tensor<256xi32>, %rows: tensor<256x64xf32>) -> tensor<1024x64xf32> {
  %d = stablehlo.constant dense<64> : tensor<256xi32>
  %start = stablehlo.multiply %index, %d : tensor<256xi32>
  %starts = stablehlo.broadcast_in_dim %start, dims = [0] : (tensor<256xi32>) -> tensor<256x64xi32>
  %c = stablehlo.iota dim = 1 : tensor<256x64xi32>
  %flat = stablehlo.add %starts, %c : tensor<256x64xi32>
  %places = stablehlo.reshape %flat : (tensor<256x64xi32>) -> tensor<16384x1xi32>
  %values = stablehlo.reshape %rows : (tensor<256x64xf32>) -> tensor<16384xf32>
  %line = stablehlo.reshape %table : (tensor<1024x64xf32>) -> tensor<65536xf32>
  %out = "stablehlo.scatter"(%line, %places, %values) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<65536xf32>, tensor<16384x1xi32>, tensor<16384xf32>) -> tensor<65536xf32>
  %result = stablehlo.reshape %out : (tensor<65536xf32>) -> tensor<1024x64xf32>
  return %result : tensor<1024x64xf32>
}
