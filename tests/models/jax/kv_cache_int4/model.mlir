module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x4xi8>, %arg1: tensor<1x4xi8>, %arg2: tensor<i32>) -> (tensor<6x4xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6x4xi8>) -> tensor<6x4xi4>
    %1 = stablehlo.convert %arg1 : (tensor<1x4xi8>) -> tensor<1x4xi4>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %3 = stablehlo.add %arg2, %c_0 : tensor<i32>
    %4 = stablehlo.select %2, %3, %arg2 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %0, %1, %4, %c_1 : (tensor<6x4xi4>, tensor<1x4xi4>, tensor<i32>, tensor<i32>) -> tensor<6x4xi4>
    %6 = stablehlo.convert %5 : (tensor<6x4xi4>) -> tensor<6x4xi8>
    return %6 : tensor<6x4xi8>
  }
}
