module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xui8>, %arg1: tensor<12xi8>, %arg2: tensor<12xui8>) -> (tensor<9xui8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<12xi8>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<12xi8>, tensor<12xi8>) -> tensor<12xi1>
    %c_0 = stablehlo.constant dense<9> : tensor<i8>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i8>) -> tensor<12xi8>
    %3 = stablehlo.add %arg1, %2 : tensor<12xi8>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<12xi1>, tensor<12xi8>
    %5 = stablehlo.convert %4 : (tensor<12xi8>) -> tensor<12xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %7 = "stablehlo.scatter"(%arg0, %6, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui8>, %arg4: tensor<ui8>):
      %8 = stablehlo.add %arg3, %arg4 : tensor<ui8>
      stablehlo.return %8 : tensor<ui8>
    }) : (tensor<9xui8>, tensor<12x1xi32>, tensor<12xui8>) -> tensor<9xui8>
    return %7 : tensor<9xui8>
  }
}
