module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x2xf32>, %arg1: tensor<6xi32>, %arg2: tensor<i32>) -> (tensor<5x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg2, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<i32>, tensor<6xi32>, tensor<i32>, tensor<5x2xf32>
    cond {
      %1 = stablehlo.convert %iterArg_1 : tensor<i32>
      %2 = stablehlo.compare LT, %1, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %iterArg_1, %c_3 : tensor<i32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.convert %iterArg_1 : tensor<i32>
      %c_5 = stablehlo.constant dense<6> : tensor<i32>
      %4 = stablehlo.add %3, %c_5 : tensor<i32>
      %5 = stablehlo.select %2, %4, %iterArg_1 : tensor<i1>, tensor<i32>
      %6 = stablehlo.dynamic_slice %iterArg_0, %5, sizes = [1] : (tensor<6xi32>, tensor<i32>) -> tensor<1xi32>
      %7 = stablehlo.reshape %6 : (tensor<1xi32>) -> tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.compare LT, %7, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_7 = stablehlo.constant dense<5> : tensor<i32>
      %9 = stablehlo.add %7, %c_7 : tensor<i32>
      %10 = stablehlo.select %8, %9, %7 : tensor<i1>, tensor<i32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %13 = "stablehlo.scatter"(%iterArg_2, %11, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
        %14 = stablehlo.add %arg3, %arg4 : tensor<f32>
        stablehlo.return %14 : tensor<f32>
      }) : (tensor<5x2xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<5x2xf32>
      stablehlo.return %iterArg, %iterArg_0, %1, %13 : tensor<i32>, tensor<6xi32>, tensor<i32>, tensor<5x2xf32>
    }
    return %0#3 : tensor<5x2xf32>
  }
}
