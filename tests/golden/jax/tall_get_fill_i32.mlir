module @jit {
  func.func public @main(%arg0: tensor<300x2xf32>, %arg1: tensor<6xi32>) -> (tensor<6x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
    %c = stablehlo.constant dense<299> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %2 = stablehlo.compare GE, %0, %1, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<6x1xi32>
    %5 = stablehlo.compare LE, %0, %4, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
    %6 = stablehlo.and %2, %5 : tensor<6x1xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %7 = stablehlo.reduce(%6 init: %c_1) applies stablehlo.and across dimensions = [1] : (tensor<6x1xi1>, tensor<i1>) -> tensor<6xi1>
    %8 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<300x2xf32>, tensor<6x1xi32>) -> tensor<6x2xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<6xi1>) -> tensor<6x2xi1>
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x2xf32>
    %11 = stablehlo.select %9, %8, %10 : tensor<6x2xi1>, tensor<6x2xf32>
    return %11 : tensor<6x2xf32>
  }
}
