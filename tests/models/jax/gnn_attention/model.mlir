module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<8x1xf32>, %arg3: tensor<10xi32>, %arg4: tensor<10xi32>) -> (tensor<6x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %2 = stablehlo.compare LT, %arg3, %1, SIGNED : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %4 = stablehlo.add %arg3, %3 : tensor<10xi32>
    %5 = stablehlo.select %2, %4, %arg3 : tensor<10xi1>, tensor<10xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<10x1xi32>) -> tensor<10x4xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %9 = stablehlo.compare LT, %arg4, %8, SIGNED : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
    %c_2 = stablehlo.constant dense<6> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %11 = stablehlo.add %arg4, %10 : tensor<10xi32>
    %12 = stablehlo.select %9, %11, %arg4 : tensor<10xi1>, tensor<10xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %14 = "stablehlo.gather"(%0, %13) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<10x1xi32>) -> tensor<10x4xf32>
    %15 = stablehlo.concatenate %7, %14, dim = 1 : (tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<10x8xf32>
    %16 = stablehlo.dot_general %15, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x8xf32>, tensor<8x1xf32>) -> tensor<10x1xf32>
    %17 = stablehlo.reshape %16 : (tensor<10x1xf32>) -> tensor<10xf32>
    %18 = call @leaky_relu(%17) : (tensor<10xf32>) -> tensor<10xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %20 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %21 = "stablehlo.scatter"(%19, %20, %18) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %55 = stablehlo.maximum %arg5, %arg6 : tensor<f32>
      stablehlo.return %55 : tensor<f32>
    }) : (tensor<6xf32>, tensor<10x1xi32>, tensor<10xf32>) -> tensor<6xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %23 = stablehlo.compare LT, %arg4, %22, SIGNED : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
    %c_4 = stablehlo.constant dense<6> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %25 = stablehlo.add %arg4, %24 : tensor<10xi32>
    %26 = stablehlo.select %23, %25, %arg4 : tensor<10xi1>, tensor<10xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %28 = "stablehlo.gather"(%21, %27) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<10x1xi32>) -> tensor<10xf32>
    %29 = stablehlo.subtract %18, %28 : tensor<10xf32>
    %30 = stablehlo.exponential %29 : tensor<10xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %32 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %33 = "stablehlo.scatter"(%31, %32, %30) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %55 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %55 : tensor<f32>
    }) : (tensor<6xf32>, tensor<10x1xi32>, tensor<10xf32>) -> tensor<6xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %35 = stablehlo.compare LT, %arg4, %34, SIGNED : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
    %c_7 = stablehlo.constant dense<6> : tensor<i32>
    %36 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %37 = stablehlo.add %arg4, %36 : tensor<10xi32>
    %38 = stablehlo.select %35, %37, %arg4 : tensor<10xi1>, tensor<10xi32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %40 = "stablehlo.gather"(%33, %39) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<10x1xi32>) -> tensor<10xf32>
    %41 = stablehlo.divide %30, %40 : tensor<10xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %44 = stablehlo.compare LT, %arg3, %43, SIGNED : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
    %c_9 = stablehlo.constant dense<6> : tensor<i32>
    %45 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<10xi32>
    %46 = stablehlo.add %arg3, %45 : tensor<10xi32>
    %47 = stablehlo.select %44, %46, %arg3 : tensor<10xi1>, tensor<10xi32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %49 = "stablehlo.gather"(%0, %48) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<10x1xi32>) -> tensor<10x4xf32>
    %50 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x4xf32>
    %51 = stablehlo.multiply %50, %49 : tensor<10x4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %53 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<10xi32>) -> tensor<10x1xi32>
    %54 = "stablehlo.scatter"(%52, %53, %51) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %55 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %55 : tensor<f32>
    }) : (tensor<6x4xf32>, tensor<10x1xi32>, tensor<10x4xf32>) -> tensor<6x4xf32>
    return %54 : tensor<6x4xf32>
  }
  func.func private @leaky_relu(%arg0: tensor<10xf32>) -> tensor<10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %1 = stablehlo.compare GE, %arg0, %0, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<10xf32>
    %4 = call @_where(%1, %arg0, %3) : (tensor<10xi1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    return %4 : tensor<10xf32>
  }
  func.func private @_where(%arg0: tensor<10xi1>, %arg1: tensor<10xf32>, %arg2: tensor<10xf32>) -> tensor<10xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<10xi1>, tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}
