module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x8xf32>, %arg1: tensor<2x8x8xf32>, %arg2: tensor<2x8x8xf32>, %arg3: tensor<2x8x8xf32>, %arg4: tensor<2x8x8xf32>, %arg5: tensor<2x2x6x2x4xf32>, %arg6: tensor<2x2x6x2x4xf32>, %arg7: tensor<2xi32>, %arg8: tensor<i32>) -> (tensor<2x10xf32> {jax.result_info = "result[0]"}, tensor<2x2x6x2x4xf32> {jax.result_info = "result[1]"}, tensor<2x2x6x2x4xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg7, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg7, %2 : tensor<2xi32>
    %4 = stablehlo.select %1, %3, %arg7 : tensor<2xi1>, tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x6x2x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x6x2x4xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %9:11 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %arg2, %iterArg_4 = %arg3, %iterArg_5 = %arg4, %iterArg_6 = %arg5, %iterArg_7 = %arg6, %iterArg_8 = %arg8, %iterArg_9 = %c_2, %iterArg_10 = %6, %iterArg_11 = %7, %iterArg_12 = %8) : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x2x6x2x4xf32>, tensor<2x2x6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<2x8xf32>, tensor<2x2x6x2x4xf32>, tensor<2x2x6x2x4xf32>
    cond {
      %c_13 = stablehlo.constant dense<2> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_9, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_9) : (tensor<2x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %13 = func.call @dynamic_index_in_dim(%iterArg_3, %iterArg_9) : (tensor<2x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %14 = func.call @dynamic_index_in_dim(%iterArg_4, %iterArg_9) : (tensor<2x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %15 = func.call @dynamic_index_in_dim(%iterArg_5, %iterArg_9) : (tensor<2x8x8xf32>, tensor<i32>) -> tensor<8x8xf32>
      %16 = func.call @dynamic_index_in_dim_0(%iterArg_6, %iterArg_9) : (tensor<2x2x6x2x4xf32>, tensor<i32>) -> tensor<2x6x2x4xf32>
      %17 = func.call @dynamic_index_in_dim_0(%iterArg_7, %iterArg_9) : (tensor<2x2x6x2x4xf32>, tensor<i32>) -> tensor<2x6x2x4xf32>
      %18:3 = func.call @closed_call(%iterArg_8, %iterArg_10, %12, %13, %14, %15, %16, %17) : (tensor<i32>, tensor<2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> (tensor<2x8xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>)
      %19 = func.call @dynamic_update_index_in_dim(%iterArg_11, %18#1, %iterArg_9) : (tensor<2x2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<i32>) -> tensor<2x2x6x2x4xf32>
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_12, %18#2, %iterArg_9) : (tensor<2x2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<i32>) -> tensor<2x2x6x2x4xf32>
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_9, %c_13 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %21, %18#0, %19, %20 : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x2x6x2x4xf32>, tensor<2x2x6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<2x8xf32>, tensor<2x2x6x2x4xf32>, tensor<2x2x6x2x4xf32>
    }
    %10 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<10x8xf32>) -> tensor<8x10xf32>
    %11 = stablehlo.dot_general %9#8, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x10xf32>) -> tensor<2x10xf32>
    return %11, %9#9, %9#10 : tensor<2x10xf32>, tensor<2x2x6x2x4xf32>, tensor<2x2x6x2x4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x8x8xf32>, %arg1: tensor<i32>) -> tensor<8x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 8, 8] : (tensor<2x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<2x2x6x2x4xf32>, %arg1: tensor<i32>) -> tensor<2x6x2x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, %c_1, %c_2, sizes = [1, 2, 6, 2, 4] : (tensor<2x2x6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x6x2x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x6x2x4xf32>) -> tensor<2x6x2x4xf32>
    return %1 : tensor<2x6x2x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<2x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<2x6x2x4xf32>, %arg7: tensor<2x6x2x4xf32>) -> (tensor<2x8xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x8xf32>) -> tensor<2x1x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %3 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %4 = stablehlo.select %2, %3, %arg0 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %arg6, %1, %c_1, %4, %c_2, %c_3 : (tensor<2x6x2x4xf32>, tensor<2x1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x6x2x4xf32>
    %6 = stablehlo.dot_general %arg1, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x8xf32>) -> tensor<2x1x2x4xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg0, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<6> : tensor<i32>
    %9 = stablehlo.add %arg0, %c_5 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg0 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.dynamic_update_slice %arg7, %7, %c_6, %10, %c_7, %c_8 : (tensor<2x6x2x4xf32>, tensor<2x1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x6x2x4xf32>
    %12 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %14 = stablehlo.dot_general %13, %5, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6xf32>
    %15 = stablehlo.iota dim = 0 : tensor<6xi32>
    %16 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %17 = stablehlo.compare LE, %15, %16, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %18 = call @_where(%17, %14, %cst) : (tensor<6xi1>, tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %21 = stablehlo.maximum %20, %19 : tensor<2x2xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
    %24 = stablehlo.subtract %18, %23 : tensor<2x2x6xf32>
    %25 = stablehlo.exponential %24 : tensor<2x2x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
    %29 = stablehlo.divide %25, %28 : tensor<2x2x6xf32>
    %30 = stablehlo.dot_general %29, %11, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x4xf32>
    %31 = stablehlo.reshape %30 : (tensor<2x2x4xf32>) -> tensor<2x8xf32>
    %32 = stablehlo.dot_general %31, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %33 = stablehlo.add %arg1, %32 : tensor<2x8xf32>
    return %33, %5, %11 : tensor<2x8xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<2x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<6xi1>) -> tensor<2x2x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x6xi1>, tensor<2x2x6xf32>
    return %3 : tensor<2x2x6xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<2x2x6x2x4xf32>, %arg1: tensor<2x6x2x4xf32>, %arg2: tensor<i32>) -> tensor<2x2x6x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2, 3, 4] : (tensor<2x6x2x4xf32>) -> tensor<1x2x6x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0, %c_1, %c_2 : (tensor<2x2x6x2x4xf32>, tensor<1x2x6x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x2x6x2x4xf32>
    return %1 : tensor<2x2x6x2x4xf32>
  }
}
