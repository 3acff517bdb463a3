module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x4xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<3x4x4xf32>) -> (tensor<6x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x3xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<6x3xf32>
    %7 = stablehlo.exponential %6 : tensor<6x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x3xf32>
    %11 = stablehlo.divide %7, %10 : tensor<6x3xf32>
    %values, %indices = chlo.top_k(%11, k = 2) : tensor<6x3xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
    %12 = stablehlo.reshape %indices : (tensor<6x2xi32>) -> tensor<12xi32>
    %13 = call @argsort(%12) : (tensor<12xi32>) -> tensor<12xi32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %14 = call @floor_divide(%13, %c) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %16 = stablehlo.compare LT, %14, %15, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_3 = stablehlo.constant dense<6> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %18 = stablehlo.add %14, %17 : tensor<12xi32>
    %19 = stablehlo.select %16, %18, %14 : tensor<12xi1>, tensor<12xi32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %21 = "stablehlo.gather"(%arg0, %20) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<12x1xi32>) -> tensor<12x4xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %23 = stablehlo.compare LT, %13, %22, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_5 = stablehlo.constant dense<12> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %25 = stablehlo.add %13, %24 : tensor<12xi32>
    %26 = stablehlo.select %23, %25, %13 : tensor<12xi1>, tensor<12xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %28 = "stablehlo.gather"(%12, %27) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<12xi32>, tensor<12x1xi32>) -> tensor<12xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %30 = stablehlo.compare LT, %28, %29, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_7 = stablehlo.constant dense<3> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %32 = stablehlo.add %28, %31 : tensor<12xi32>
    %33 = stablehlo.select %30, %32, %28 : tensor<12xi1>, tensor<12xi32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %35 = "stablehlo.gather"(%arg2, %34) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4, 4>}> : (tensor<3x4x4xf32>, tensor<12x1xi32>) -> tensor<12x4x4xf32>
    %36 = stablehlo.dot_general %21, %35, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x4xf32>, tensor<12x4x4xf32>) -> tensor<12x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %38 = stablehlo.reshape %values : (tensor<6x2xf32>) -> tensor<12xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %40 = stablehlo.compare LT, %13, %39, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_10 = stablehlo.constant dense<12> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %42 = stablehlo.add %13, %41 : tensor<12xi32>
    %43 = stablehlo.select %40, %42, %13 : tensor<12xi1>, tensor<12xi32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %45 = "stablehlo.gather"(%38, %44) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<12x1xi32>) -> tensor<12xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<12xf32>) -> tensor<12x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1] : (tensor<12x1xf32>) -> tensor<12x4xf32>
    %48 = stablehlo.multiply %36, %47 : tensor<12x4xf32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %49 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %50 = stablehlo.compare LT, %14, %49, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %c_12 = stablehlo.constant dense<6> : tensor<i32>
    %51 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %52 = stablehlo.add %14, %51 : tensor<12xi32>
    %53 = stablehlo.select %50, %52, %14 : tensor<12xi1>, tensor<12xi32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0] : (tensor<12xi32>) -> tensor<12x1xi32>
    %55 = "stablehlo.scatter"(%37, %54, %48) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %56 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %56 : tensor<f32>
    }) : (tensor<6x4xf32>, tensor<12x1xi32>, tensor<12x4xf32>) -> tensor<6x4xf32>
    return %55 : tensor<6x4xf32>
  }
  func.func private @argsort(%arg0: tensor<12xi32>) -> tensor<12xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<12xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %2 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
    return %1#1 : tensor<12xi32>
  }
  func.func private @floor_divide(%arg0: tensor<12xi32>, %arg1: tensor<i32>) -> tensor<12xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<12xi32>
    %3 = stablehlo.sign %arg0 : tensor<12xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %11 = stablehlo.and %6, %10 : tensor<12xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<12xi32>
    %14 = call @_where(%11, %13, %2) : (tensor<12xi1>, tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    return %14 : tensor<12xi32>
  }
  func.func private @_where(%arg0: tensor<12xi1>, %arg1: tensor<12xi32>, %arg2: tensor<12xi32>) -> tensor<12xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12xi1>, tensor<12xi32>
    return %0 : tensor<12xi32>
  }
}
