// A layer as linalg-on-tensors compilers hold it: rows of a table, a matrix product, and a loop that updates the table.
//   strew check examples/tensor_gather/layer.mlir
// strew runs the gathers and scatters, with what is elementwise around them; `linalg.matmul`, `linalg.generic`, `tensor.empty` and `scf.for` are
// boundaries: what they compute is an input of the kernels that read it. In the loop, gather, sum and scatter become one kernel.
#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func @layer(%table: tensor<?x64xf32>, %numbers: tensor<8x1xindex>, %weights: tensor<64x64xf32>, %steps: index)
    -> (tensor<8x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.gather %table[%numbers] gather_dims([0]) unique : (tensor<?x64xf32>, tensor<8x1xindex>) -> tensor<8x64xf32>
  %empty = tensor.empty() : tensor<8x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x64xf32>) -> tensor<8x64xf32>
  %product = linalg.matmul ins(%rows, %weights : tensor<8x64xf32>, tensor<64x64xf32>) outs(%zeros : tensor<8x64xf32>) -> tensor<8x64xf32>
  %relu = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<8x64xf32>) outs(%empty : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %max = arith.maximumf %in, %zero : f32
    linalg.yield %max : f32
  } -> tensor<8x64xf32>
  %trained = scf.for %step = %c0 to %steps step %c1 iter_args(%current = %table) -> (tensor<?x64xf32>) {
    %old = tensor.gather %current[%numbers] gather_dims([0]) unique : (tensor<?x64xf32>, tensor<8x1xindex>) -> tensor<8x64xf32>
    %new = arith.addf %old, %relu : tensor<8x64xf32>
    %next = tensor.scatter %new into %current[%numbers] scatter_dims([0]) unique
      : (tensor<8x64xf32>, tensor<?x64xf32>, tensor<8x1xindex>) -> tensor<?x64xf32>
    scf.yield %next : tensor<?x64xf32>
  }
  return %relu, %trained : tensor<8x64xf32>, tensor<?x64xf32>
}
