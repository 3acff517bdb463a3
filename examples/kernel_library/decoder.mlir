module @jit_decoder attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<49152x576xbf16>, %arg1: tensor<4xi32>, %arg2: tensor<4x3x1024x64xbf16>, %arg3: tensor<4x3x1024x64xbf16>, %arg4: tensor<4x3x1x64xbf16>, %arg5: tensor<4x3x1x64xbf16>, %arg6: tensor<4xi32>, %arg7: tensor<3x128x64xbf16>, %arg8: tensor<i32>, %arg9: tensor<4x64xf32>, %arg10: tensor<4x64xi32>) -> (tensor<4x576xbf16> {jax.result_info = "result[0]"}, tensor<4x3x1024x64xbf16> {jax.result_info = "result[1]"}, tensor<4x3x1024x64xbf16> {jax.result_info = "result[2]"}, tensor<4x3x1024x64xbf16> {jax.result_info = "result[3]"}, tensor<4x49152xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<49152> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 576>}> : (tensor<49152x576xbf16>, tensor<4x1xi32>) -> tensor<4x576xbf16>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %8 = stablehlo.compare LT, %arg6, %7, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_2 = stablehlo.constant dense<1024> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %10 = stablehlo.add %arg6, %9 : tensor<4xi32>
    %11 = stablehlo.select %8, %10, %arg6 : tensor<4xi1>, tensor<4xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %15 = stablehlo.concatenate %12, %13, %14, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %c_5 = stablehlo.constant dense<[0, 1023, 0]> : tensor<3xi32>
    %c_6 = stablehlo.constant dense<2147483647> : tensor<i32>
    %16 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %17 = stablehlo.minimum %c_5, %16 : tensor<3xi32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<3xi32>) -> tensor<4x3xi32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %20 = stablehlo.clamp %19, %15, %18 : tensor<4x3xi32>
    %21 = "stablehlo.scatter"(%arg2, %20, %arg4) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2, 3], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg11: tensor<bf16>, %arg12: tensor<bf16>):
      stablehlo.return %arg12 : tensor<bf16>
    }) : (tensor<4x3x1024x64xbf16>, tensor<4x3xi32>, tensor<4x3x1x64xbf16>) -> tensor<4x3x1024x64xbf16>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %23 = stablehlo.compare LT, %arg6, %22, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_9 = stablehlo.constant dense<1024> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %25 = stablehlo.add %arg6, %24 : tensor<4xi32>
    %26 = stablehlo.select %23, %25, %arg6 : tensor<4xi1>, tensor<4xi32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %28 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %30 = stablehlo.concatenate %27, %28, %29, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
    %c_12 = stablehlo.constant dense<[0, 1023, 0]> : tensor<3xi32>
    %c_13 = stablehlo.constant dense<2147483647> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %32 = stablehlo.minimum %c_12, %31 : tensor<3xi32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [1] : (tensor<3xi32>) -> tensor<4x3xi32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %35 = stablehlo.clamp %34, %30, %33 : tensor<4x3xi32>
    %36 = "stablehlo.scatter"(%arg3, %35, %arg5) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2, 3], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg11: tensor<bf16>, %arg12: tensor<bf16>):
      stablehlo.return %arg12 : tensor<bf16>
    }) : (tensor<4x3x1024x64xbf16>, tensor<4x3xi32>, tensor<4x3x1x64xbf16>) -> tensor<4x3x1024x64xbf16>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %37 = stablehlo.compare LT, %arg8, %c_15, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_16 = stablehlo.constant dense<4> : tensor<i32>
    %38 = stablehlo.add %arg8, %c_16 : tensor<i32>
    %39 = stablehlo.select %37, %38, %arg8 : tensor<i1>, tensor<i32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.concatenate %40, %41, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %43 = "stablehlo.scatter"(%arg2, %42, %arg7) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 2]>, unique_indices = true}> ({
    ^bb0(%arg11: tensor<bf16>, %arg12: tensor<bf16>):
      stablehlo.return %arg12 : tensor<bf16>
    }) : (tensor<4x3x1024x64xbf16>, tensor<2xi32>, tensor<3x128x64xbf16>) -> tensor<4x3x1024x64xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x49152xf32>
    %45 = stablehlo.iota dim = 0 : tensor<4xi32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %48 = stablehlo.compare LT, %46, %47, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %c_19 = stablehlo.constant dense<4> : tensor<i32>
    %49 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %50 = stablehlo.add %46, %49 : tensor<4x1xi32>
    %51 = stablehlo.select %48, %50, %46 : tensor<4x1xi1>, tensor<4x1xi32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %52 = stablehlo.broadcast_in_dim %c_20, dims = [] : (tensor<i32>) -> tensor<4x64xi32>
    %53 = stablehlo.compare LT, %arg10, %52, SIGNED : (tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi1>
    %c_21 = stablehlo.constant dense<49152> : tensor<i32>
    %54 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<4x64xi32>
    %55 = stablehlo.add %arg10, %54 : tensor<4x64xi32>
    %56 = stablehlo.select %53, %55, %arg10 : tensor<4x64xi1>, tensor<4x64xi32>
    %57 = stablehlo.broadcast_in_dim %51, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x64xi32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<4x64xi32>) -> tensor<4x64x1xi32>
    %59 = stablehlo.broadcast_in_dim %56, dims = [0, 1] : (tensor<4x64xi32>) -> tensor<4x64x1xi32>
    %60 = stablehlo.concatenate %58, %59, dim = 2 : (tensor<4x64x1xi32>, tensor<4x64x1xi32>) -> tensor<4x64x2xi32>
    %61 = "stablehlo.scatter"(%44, %60, %arg9) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %62 = stablehlo.add %arg11, %arg12 : tensor<f32>
      stablehlo.return %62 : tensor<f32>
    }) : (tensor<4x49152xf32>, tensor<4x64x2xi32>, tensor<4x64xf32>) -> tensor<4x49152xf32>
    return %6, %21, %36, %43, %61 : tensor<4x576xbf16>, tensor<4x3x1024x64xbf16>, tensor<4x3x1024x64xbf16>, tensor<4x3x1024x64xbf16>, tensor<4x49152xf32>
  }
}

