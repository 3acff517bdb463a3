// Rows of a table by number, and the RFC's scatter-update idiom: gather rows, add to them, scatter them back.
//   strew explain examples/tensor_gather/rows.mlir
// `update_rows` becomes one scatter with combiner add, because `unique` promises that no row is named twice. `last_update_rows` makes no
// such promise (the RFC's spelling may leave it out): each row then gets its value from before plus the last update, in two kernels.
func.func @rows(%table: tensor<1000x64xf32>, %numbers: tensor<?x1xindex>) -> tensor<?x64xf32> {
  %rows = tensor.gather %table[%numbers] gather_dims([0]) : (tensor<1000x64xf32>, tensor<?x1xindex>) -> tensor<?x64xf32>
  return %rows : tensor<?x64xf32>
}

func.func @update_rows(%table: tensor<1000x64xf32>, %numbers: tensor<?x1xindex>, %delta: tensor<?x64xf32>) -> tensor<1000x64xf32> {
  %old = tensor.gather %table[%numbers] gather_dims([0]) unique : (tensor<1000x64xf32>, tensor<?x1xindex>) -> tensor<?x64xf32>
  %new = arith.addf %old, %delta : tensor<?x64xf32>
  %out = tensor.scatter %new into %table[%numbers] scatter_dims([0]) unique
    : (tensor<?x64xf32>, tensor<1000x64xf32>, tensor<?x1xindex>) -> tensor<1000x64xf32>
  return %out : tensor<1000x64xf32>
}

func.func @last_update_rows(%table: tensor<1000x64xf32>, %numbers: tensor<?x1xindex>, %delta: tensor<?x64xf32>) -> tensor<1000x64xf32> {
  %old = tensor.gather %table[%numbers] gather_along_dimension(0) : tensor<1000x64xf32>[tensor<?x1xindex>] -> tensor<?x64xf32>
  %new = arith.addf %old, %delta : tensor<?x64xf32>
  %out = tensor.scatter %new into %table[%numbers] coordinates = [0]
    : tensor<?x64xf32> into tensor<1000x64xf32>[tensor<?x1xindex>] -> tensor<1000x64xf32>
  return %out : tensor<1000x64xf32>
}
