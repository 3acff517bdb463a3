module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x8xf32>, %arg1: tensor<6x2xf32>, %arg2: tensor<6x2xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x16xf32>, %arg12: tensor<16x8xf32>, %arg13: tensor<2x6x2x4xf32>, %arg14: tensor<2x6x2x4xf32>, %arg15: tensor<2xi32>, %arg16: tensor<2xi32>) -> (tensor<2x10xf32> {jax.result_info = "result[0]"}, tensor<2x6x2x4xf32> {jax.result_info = "result[1]"}, tensor<2x6x2x4xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg15, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg15, %2 : tensor<2xi32>
    %4 = stablehlo.select %1, %3, %arg15 : tensor<2xi1>, tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %12 = stablehlo.subtract %6, %11 : tensor<2x8xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %14 = stablehlo.subtract %6, %13 : tensor<2x8xf32>
    %15 = stablehlo.multiply %14, %14 : tensor<2x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %19 = stablehlo.divide %17, %18 : tensor<2x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %21 = stablehlo.add %19, %20 : tensor<2x1xf32>
    %22 = stablehlo.rsqrt %21 : tensor<2x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %24 = stablehlo.multiply %12, %23 : tensor<2x8xf32>
    %25 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %27 = stablehlo.multiply %24, %26 : tensor<2x8xf32>
    %28 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %30 = stablehlo.add %27, %29 : tensor<2x8xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %32 = stablehlo.compare LT, %arg16, %31, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_6 = stablehlo.constant dense<6> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %34 = stablehlo.add %arg16, %33 : tensor<2xi32>
    %35 = stablehlo.select %32, %34, %arg16 : tensor<2xi1>, tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %37 = "stablehlo.gather"(%arg1, %36) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %40 = stablehlo.compare LT, %arg16, %39, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_8 = stablehlo.constant dense<6> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %42 = stablehlo.add %arg16, %41 : tensor<2xi32>
    %43 = stablehlo.select %40, %42, %arg16 : tensor<2xi1>, tensor<2xi32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %45 = "stablehlo.gather"(%arg2, %44) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
    %47 = stablehlo.dot_general %30, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %48 = stablehlo.reshape %47 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %49 = stablehlo.slice %48 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %50 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<2x2x2xf32>
    %52 = stablehlo.slice %48 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %53 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %54 = stablehlo.multiply %52, %53 : tensor<2x2x2xf32>
    %55 = stablehlo.subtract %51, %54 : tensor<2x2x2xf32>
    %56 = stablehlo.slice %48 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %57 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %58 = stablehlo.multiply %56, %57 : tensor<2x2x2xf32>
    %59 = stablehlo.slice %48 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %60 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<2x2x2xf32>
    %62 = stablehlo.add %58, %61 : tensor<2x2x2xf32>
    %63 = stablehlo.concatenate %55, %62, dim = 2 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x4xf32>
    %64 = stablehlo.dot_general %30, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %65 = stablehlo.reshape %64 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %66 = stablehlo.slice %65 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %67 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %68 = stablehlo.multiply %66, %67 : tensor<2x2x2xf32>
    %69 = stablehlo.slice %65 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %70 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %71 = stablehlo.multiply %69, %70 : tensor<2x2x2xf32>
    %72 = stablehlo.subtract %68, %71 : tensor<2x2x2xf32>
    %73 = stablehlo.slice %65 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %74 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %75 = stablehlo.multiply %73, %74 : tensor<2x2x2xf32>
    %76 = stablehlo.slice %65 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %77 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %78 = stablehlo.multiply %76, %77 : tensor<2x2x2xf32>
    %79 = stablehlo.add %75, %78 : tensor<2x2x2xf32>
    %80 = stablehlo.concatenate %72, %79, dim = 2 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x4xf32>
    %81 = stablehlo.dot_general %30, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %82 = stablehlo.reshape %81 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %83 = stablehlo.iota dim = 0 : tensor<2xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %84 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %85 = stablehlo.compare LT, %83, %84, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_10 = stablehlo.constant dense<2> : tensor<i32>
    %86 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %87 = stablehlo.add %83, %86 : tensor<2xi32>
    %88 = stablehlo.select %85, %87, %83 : tensor<2xi1>, tensor<2xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %89 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %90 = stablehlo.compare LT, %arg16, %89, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_12 = stablehlo.constant dense<6> : tensor<i32>
    %91 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %92 = stablehlo.add %arg16, %91 : tensor<2xi32>
    %93 = stablehlo.select %90, %92, %arg16 : tensor<2xi1>, tensor<2xi32>
    %94 = stablehlo.broadcast_in_dim %88, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %95 = stablehlo.broadcast_in_dim %93, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %96 = stablehlo.concatenate %94, %95, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %97 = "stablehlo.scatter"(%arg13, %96, %80) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      stablehlo.return %arg18 : tensor<f32>
    }) : (tensor<2x6x2x4xf32>, tensor<2x2xi32>, tensor<2x2x4xf32>) -> tensor<2x6x2x4xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %98 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %99 = stablehlo.compare LT, %83, %98, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_14 = stablehlo.constant dense<2> : tensor<i32>
    %100 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %101 = stablehlo.add %83, %100 : tensor<2xi32>
    %102 = stablehlo.select %99, %101, %83 : tensor<2xi1>, tensor<2xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %103 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %104 = stablehlo.compare LT, %arg16, %103, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_16 = stablehlo.constant dense<6> : tensor<i32>
    %105 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %106 = stablehlo.add %arg16, %105 : tensor<2xi32>
    %107 = stablehlo.select %104, %106, %arg16 : tensor<2xi1>, tensor<2xi32>
    %108 = stablehlo.broadcast_in_dim %102, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %109 = stablehlo.broadcast_in_dim %107, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %110 = stablehlo.concatenate %108, %109, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %111 = "stablehlo.scatter"(%arg14, %110, %82) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      stablehlo.return %arg18 : tensor<f32>
    }) : (tensor<2x6x2x4xf32>, tensor<2x2xi32>, tensor<2x2x4xf32>) -> tensor<2x6x2x4xf32>
    %112 = stablehlo.dot_general %63, %97, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6xf32>
    %cst_17 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x2x6xf32>
    %114 = stablehlo.divide %112, %113 : tensor<2x2x6xf32>
    %115 = stablehlo.iota dim = 0 : tensor<6xi32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [2] : (tensor<6xi32>) -> tensor<1x1x6xi32>
    %117 = stablehlo.broadcast_in_dim %arg16, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %118 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2] : (tensor<1x1x6xi32>) -> tensor<2x1x6xi32>
    %119 = stablehlo.broadcast_in_dim %117, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x1x6xi32>
    %120 = stablehlo.compare LE, %118, %119, SIGNED : (tensor<2x1x6xi32>, tensor<2x1x6xi32>) -> tensor<2x1x6xi1>
    %cst_18 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %121 = call @_where(%120, %114, %cst_18) : (tensor<2x1x6xi1>, tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %cst_19 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %122 = stablehlo.reduce(%121 init: %cst_19) applies stablehlo.maximum across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %cst_20 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %124 = stablehlo.maximum %123, %122 : tensor<2x2xf32>
    %125 = stablehlo.broadcast_in_dim %124, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %126 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
    %127 = stablehlo.subtract %121, %126 : tensor<2x2x6xf32>
    %128 = stablehlo.exponential %127 : tensor<2x2x6xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%128 init: %cst_21) applies stablehlo.add across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
    %132 = stablehlo.divide %128, %131 : tensor<2x2x6xf32>
    %133 = stablehlo.dot_general %132, %111, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x4xf32>
    %134 = stablehlo.reshape %133 : (tensor<2x2x4xf32>) -> tensor<2x8xf32>
    %135 = stablehlo.dot_general %134, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %136 = stablehlo.add %6, %135 : tensor<2x8xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.reduce(%136 init: %cst_22) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_23 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %140 = stablehlo.divide %138, %139 : tensor<2x1xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %142 = stablehlo.subtract %136, %141 : tensor<2x8xf32>
    %143 = stablehlo.broadcast_in_dim %140, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %144 = stablehlo.subtract %136, %143 : tensor<2x8xf32>
    %145 = stablehlo.multiply %144, %144 : tensor<2x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.reduce(%145 init: %cst_24) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %147 = stablehlo.broadcast_in_dim %146, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_25 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %149 = stablehlo.divide %147, %148 : tensor<2x1xf32>
    %cst_26 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %151 = stablehlo.add %149, %150 : tensor<2x1xf32>
    %152 = stablehlo.rsqrt %151 : tensor<2x1xf32>
    %153 = stablehlo.broadcast_in_dim %152, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %154 = stablehlo.multiply %142, %153 : tensor<2x8xf32>
    %155 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %156 = stablehlo.broadcast_in_dim %155, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %157 = stablehlo.multiply %154, %156 : tensor<2x8xf32>
    %158 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %160 = stablehlo.add %157, %159 : tensor<2x8xf32>
    %161 = stablehlo.dot_general %160, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
    %162 = stablehlo.multiply %161, %161 : tensor<2x16xf32>
    %163 = stablehlo.multiply %162, %161 : tensor<2x16xf32>
    %cst_27 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %165 = stablehlo.multiply %164, %163 : tensor<2x16xf32>
    %166 = stablehlo.add %161, %165 : tensor<2x16xf32>
    %cst_28 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %168 = stablehlo.multiply %167, %166 : tensor<2x16xf32>
    %169 = stablehlo.tanh %168 : tensor<2x16xf32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %171 = stablehlo.add %170, %169 : tensor<2x16xf32>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %173 = stablehlo.multiply %172, %171 : tensor<2x16xf32>
    %174 = stablehlo.multiply %161, %173 : tensor<2x16xf32>
    %175 = stablehlo.dot_general %174, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<16x8xf32>) -> tensor<2x8xf32>
    %176 = stablehlo.add %136, %175 : tensor<2x8xf32>
    %177 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<10x8xf32>) -> tensor<8x10xf32>
    %178 = stablehlo.dot_general %176, %177, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x10xf32>) -> tensor<2x10xf32>
    return %178, %97, %111 : tensor<2x10xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<2x1x6xi1>, %arg1: tensor<2x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<2x1x6xi1>) -> tensor<2x2x6xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x6xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x2x6xi1>, tensor<2x2x6xf32>
    return %2 : tensor<2x2x6xf32>
  }
}
