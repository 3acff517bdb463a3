module @jit {
  func.func public @main(%arg0: tensor<5x4xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<ui16>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg2 : (tensor<5x4xf32>, tensor<2x3xf32>, tensor<ui16>, tensor<ui16>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}
