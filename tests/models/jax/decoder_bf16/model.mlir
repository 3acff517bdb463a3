module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x8xbf16>, %arg1: tensor<6x2xbf16>, %arg2: tensor<6x2xbf16>, %arg3: tensor<8xbf16>, %arg4: tensor<8xbf16>, %arg5: tensor<8xbf16>, %arg6: tensor<8xbf16>, %arg7: tensor<8x8xbf16>, %arg8: tensor<8x8xbf16>, %arg9: tensor<8x8xbf16>, %arg10: tensor<8x8xbf16>, %arg11: tensor<8x16xbf16>, %arg12: tensor<16x8xbf16>, %arg13: tensor<2x6x2x4xbf16>, %arg14: tensor<2x6x2x4xbf16>, %arg15: tensor<2xi32>, %arg16: tensor<2xi32>) -> (tensor<2x10xbf16> {jax.result_info = "result[0]"}, tensor<2x6x2x4xbf16> {jax.result_info = "result[1]"}, tensor<2x6x2x4xbf16> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare LT, %arg15, %0, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg15, %2 : tensor<2xi32>
    %4 = stablehlo.select %1, %3, %arg15 : tensor<2xi1>, tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xbf16>, tensor<2x1xi32>) -> tensor<2x8xbf16>
    %7 = stablehlo.convert %6 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %11 = stablehlo.divide %9, %10 : tensor<2x1xf32>
    %12 = stablehlo.convert %11 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x8xbf16>
    %14 = stablehlo.subtract %6, %13 : tensor<2x8xbf16>
    %15 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x8xbf16>
    %16 = stablehlo.subtract %6, %15 : tensor<2x8xbf16>
    %17 = stablehlo.multiply %16, %16 : tensor<2x8xbf16>
    %18 = stablehlo.convert %17 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %22 = stablehlo.divide %20, %21 : tensor<2x1xf32>
    %23 = stablehlo.convert %22 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %cst_4 = stablehlo.constant dense<1.001360e-05> : tensor<bf16>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<2x1xbf16>
    %25 = stablehlo.add %23, %24 : tensor<2x1xbf16>
    %26 = stablehlo.rsqrt %25 : tensor<2x1xbf16>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x8xbf16>
    %28 = stablehlo.multiply %14, %27 : tensor<2x8xbf16>
    %29 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<8xbf16>) -> tensor<1x8xbf16>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1] : (tensor<1x8xbf16>) -> tensor<2x8xbf16>
    %31 = stablehlo.multiply %28, %30 : tensor<2x8xbf16>
    %32 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<8xbf16>) -> tensor<1x8xbf16>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<1x8xbf16>) -> tensor<2x8xbf16>
    %34 = stablehlo.add %31, %33 : tensor<2x8xbf16>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %36 = stablehlo.compare LT, %arg16, %35, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_6 = stablehlo.constant dense<6> : tensor<i32>
    %37 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %38 = stablehlo.add %arg16, %37 : tensor<2xi32>
    %39 = stablehlo.select %36, %38, %arg16 : tensor<2xi1>, tensor<2xi32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %41 = "stablehlo.gather"(%arg1, %40) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xbf16>, tensor<2x1xi32>) -> tensor<2x2xbf16>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 2] : (tensor<2x2xbf16>) -> tensor<2x1x2xbf16>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %44 = stablehlo.compare LT, %arg16, %43, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_8 = stablehlo.constant dense<6> : tensor<i32>
    %45 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %46 = stablehlo.add %arg16, %45 : tensor<2xi32>
    %47 = stablehlo.select %44, %46, %arg16 : tensor<2xi1>, tensor<2xi32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %49 = "stablehlo.gather"(%arg2, %48) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xbf16>, tensor<2x1xi32>) -> tensor<2x2xbf16>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 2] : (tensor<2x2xbf16>) -> tensor<2x1x2xbf16>
    %51 = stablehlo.dot_general %34, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
    %52 = stablehlo.reshape %51 : (tensor<2x8xbf16>) -> tensor<2x2x4xbf16>
    %53 = stablehlo.slice %52 [0:2, 0:2, 0:2] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %54 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %55 = stablehlo.multiply %53, %54 : tensor<2x2x2xbf16>
    %56 = stablehlo.slice %52 [0:2, 0:2, 2:4] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %57 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %58 = stablehlo.multiply %56, %57 : tensor<2x2x2xbf16>
    %59 = stablehlo.subtract %55, %58 : tensor<2x2x2xbf16>
    %60 = stablehlo.slice %52 [0:2, 0:2, 2:4] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %61 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %62 = stablehlo.multiply %60, %61 : tensor<2x2x2xbf16>
    %63 = stablehlo.slice %52 [0:2, 0:2, 0:2] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %64 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %65 = stablehlo.multiply %63, %64 : tensor<2x2x2xbf16>
    %66 = stablehlo.add %62, %65 : tensor<2x2x2xbf16>
    %67 = stablehlo.concatenate %59, %66, dim = 2 : (tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) -> tensor<2x2x4xbf16>
    %68 = stablehlo.dot_general %34, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
    %69 = stablehlo.reshape %68 : (tensor<2x8xbf16>) -> tensor<2x2x4xbf16>
    %70 = stablehlo.slice %69 [0:2, 0:2, 0:2] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %71 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %72 = stablehlo.multiply %70, %71 : tensor<2x2x2xbf16>
    %73 = stablehlo.slice %69 [0:2, 0:2, 2:4] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %74 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %75 = stablehlo.multiply %73, %74 : tensor<2x2x2xbf16>
    %76 = stablehlo.subtract %72, %75 : tensor<2x2x2xbf16>
    %77 = stablehlo.slice %69 [0:2, 0:2, 2:4] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %78 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %79 = stablehlo.multiply %77, %78 : tensor<2x2x2xbf16>
    %80 = stablehlo.slice %69 [0:2, 0:2, 0:2] : (tensor<2x2x4xbf16>) -> tensor<2x2x2xbf16>
    %81 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<2x1x2xbf16>) -> tensor<2x2x2xbf16>
    %82 = stablehlo.multiply %80, %81 : tensor<2x2x2xbf16>
    %83 = stablehlo.add %79, %82 : tensor<2x2x2xbf16>
    %84 = stablehlo.concatenate %76, %83, dim = 2 : (tensor<2x2x2xbf16>, tensor<2x2x2xbf16>) -> tensor<2x2x4xbf16>
    %85 = stablehlo.dot_general %34, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
    %86 = stablehlo.reshape %85 : (tensor<2x8xbf16>) -> tensor<2x2x4xbf16>
    %87 = stablehlo.iota dim = 0 : tensor<2xi32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %88 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %89 = stablehlo.compare LT, %87, %88, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_10 = stablehlo.constant dense<2> : tensor<i32>
    %90 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %91 = stablehlo.add %87, %90 : tensor<2xi32>
    %92 = stablehlo.select %89, %91, %87 : tensor<2xi1>, tensor<2xi32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %93 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %94 = stablehlo.compare LT, %arg16, %93, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_12 = stablehlo.constant dense<6> : tensor<i32>
    %95 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %96 = stablehlo.add %arg16, %95 : tensor<2xi32>
    %97 = stablehlo.select %94, %96, %arg16 : tensor<2xi1>, tensor<2xi32>
    %98 = stablehlo.broadcast_in_dim %92, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %99 = stablehlo.broadcast_in_dim %97, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %100 = stablehlo.concatenate %98, %99, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %101 = "stablehlo.scatter"(%arg13, %100, %84) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg17: tensor<bf16>, %arg18: tensor<bf16>):
      stablehlo.return %arg18 : tensor<bf16>
    }) : (tensor<2x6x2x4xbf16>, tensor<2x2xi32>, tensor<2x2x4xbf16>) -> tensor<2x6x2x4xbf16>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %102 = stablehlo.broadcast_in_dim %c_13, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %103 = stablehlo.compare LT, %87, %102, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_14 = stablehlo.constant dense<2> : tensor<i32>
    %104 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %105 = stablehlo.add %87, %104 : tensor<2xi32>
    %106 = stablehlo.select %103, %105, %87 : tensor<2xi1>, tensor<2xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %107 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %108 = stablehlo.compare LT, %arg16, %107, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_16 = stablehlo.constant dense<6> : tensor<i32>
    %109 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %110 = stablehlo.add %arg16, %109 : tensor<2xi32>
    %111 = stablehlo.select %108, %110, %arg16 : tensor<2xi1>, tensor<2xi32>
    %112 = stablehlo.broadcast_in_dim %106, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %113 = stablehlo.broadcast_in_dim %111, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %114 = stablehlo.concatenate %112, %113, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %115 = "stablehlo.scatter"(%arg14, %114, %86) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg17: tensor<bf16>, %arg18: tensor<bf16>):
      stablehlo.return %arg18 : tensor<bf16>
    }) : (tensor<2x6x2x4xbf16>, tensor<2x2xi32>, tensor<2x2x4xbf16>) -> tensor<2x6x2x4xbf16>
    %116 = stablehlo.dot_general %67, %101, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4xbf16>, tensor<2x6x2x4xbf16>) -> tensor<2x2x6xbf16>
    %cst_17 = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %117 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<bf16>) -> tensor<2x2x6xbf16>
    %118 = stablehlo.divide %116, %117 : tensor<2x2x6xbf16>
    %119 = stablehlo.iota dim = 0 : tensor<6xi32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [2] : (tensor<6xi32>) -> tensor<1x1x6xi32>
    %121 = stablehlo.broadcast_in_dim %arg16, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %122 = stablehlo.broadcast_in_dim %120, dims = [0, 1, 2] : (tensor<1x1x6xi32>) -> tensor<2x1x6xi32>
    %123 = stablehlo.broadcast_in_dim %121, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x1x6xi32>
    %124 = stablehlo.compare LE, %122, %123, SIGNED : (tensor<2x1x6xi32>, tensor<2x1x6xi32>) -> tensor<2x1x6xi1>
    %cst_18 = stablehlo.constant dense<-9.982440e+08> : tensor<bf16>
    %125 = call @_where(%124, %118, %cst_18) : (tensor<2x1x6xi1>, tensor<2x2x6xbf16>, tensor<bf16>) -> tensor<2x2x6xbf16>
    %cst_19 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %126 = stablehlo.reduce(%125 init: %cst_19) applies stablehlo.maximum across dimensions = [2] : (tensor<2x2x6xbf16>, tensor<bf16>) -> tensor<2x2xbf16>
    %cst_20 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %127 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<bf16>) -> tensor<2x2xbf16>
    %128 = stablehlo.maximum %127, %126 : tensor<2x2xbf16>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0, 1] : (tensor<2x2xbf16>) -> tensor<2x2x1xbf16>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<2x2x1xbf16>) -> tensor<2x2x6xbf16>
    %131 = stablehlo.subtract %125, %130 : tensor<2x2x6xbf16>
    %132 = stablehlo.exponential %131 : tensor<2x2x6xbf16>
    %133 = stablehlo.convert %132 : (tensor<2x2x6xbf16>) -> tensor<2x2x6xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.reduce(%133 init: %cst_21) applies stablehlo.add across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %136 = stablehlo.convert %135 : (tensor<2x2x1xf32>) -> tensor<2x2x1xbf16>
    %137 = stablehlo.broadcast_in_dim %136, dims = [0, 1, 2] : (tensor<2x2x1xbf16>) -> tensor<2x2x6xbf16>
    %138 = stablehlo.divide %132, %137 : tensor<2x2x6xbf16>
    %139 = stablehlo.dot_general %138, %115, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x6xbf16>, tensor<2x6x2x4xbf16>) -> tensor<2x2x4xbf16>
    %140 = stablehlo.reshape %139 : (tensor<2x2x4xbf16>) -> tensor<2x8xbf16>
    %141 = stablehlo.dot_general %140, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x8xbf16>) -> tensor<2x8xbf16>
    %142 = stablehlo.add %6, %141 : tensor<2x8xbf16>
    %143 = stablehlo.convert %142 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.reduce(%143 init: %cst_22) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %145 = stablehlo.broadcast_in_dim %144, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_23 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %147 = stablehlo.divide %145, %146 : tensor<2x1xf32>
    %148 = stablehlo.convert %147 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %149 = stablehlo.broadcast_in_dim %148, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x8xbf16>
    %150 = stablehlo.subtract %142, %149 : tensor<2x8xbf16>
    %151 = stablehlo.broadcast_in_dim %148, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x8xbf16>
    %152 = stablehlo.subtract %142, %151 : tensor<2x8xbf16>
    %153 = stablehlo.multiply %152, %152 : tensor<2x8xbf16>
    %154 = stablehlo.convert %153 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %155 = stablehlo.reduce(%154 init: %cst_24) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %156 = stablehlo.broadcast_in_dim %155, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_25 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %158 = stablehlo.divide %156, %157 : tensor<2x1xf32>
    %159 = stablehlo.convert %158 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %cst_26 = stablehlo.constant dense<1.001360e-05> : tensor<bf16>
    %160 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<bf16>) -> tensor<2x1xbf16>
    %161 = stablehlo.add %159, %160 : tensor<2x1xbf16>
    %162 = stablehlo.rsqrt %161 : tensor<2x1xbf16>
    %163 = stablehlo.broadcast_in_dim %162, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x8xbf16>
    %164 = stablehlo.multiply %150, %163 : tensor<2x8xbf16>
    %165 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<8xbf16>) -> tensor<1x8xbf16>
    %166 = stablehlo.broadcast_in_dim %165, dims = [0, 1] : (tensor<1x8xbf16>) -> tensor<2x8xbf16>
    %167 = stablehlo.multiply %164, %166 : tensor<2x8xbf16>
    %168 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<8xbf16>) -> tensor<1x8xbf16>
    %169 = stablehlo.broadcast_in_dim %168, dims = [0, 1] : (tensor<1x8xbf16>) -> tensor<2x8xbf16>
    %170 = stablehlo.add %167, %169 : tensor<2x8xbf16>
    %171 = stablehlo.dot_general %170, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
    %172 = stablehlo.multiply %171, %171 : tensor<2x16xbf16>
    %173 = stablehlo.multiply %172, %171 : tensor<2x16xbf16>
    %cst_27 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %174 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<bf16>) -> tensor<2x16xbf16>
    %175 = stablehlo.multiply %174, %173 : tensor<2x16xbf16>
    %176 = stablehlo.add %171, %175 : tensor<2x16xbf16>
    %cst_28 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %177 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<bf16>) -> tensor<2x16xbf16>
    %178 = stablehlo.multiply %177, %176 : tensor<2x16xbf16>
    %179 = stablehlo.tanh %178 : tensor<2x16xbf16>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %180 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<bf16>) -> tensor<2x16xbf16>
    %181 = stablehlo.add %180, %179 : tensor<2x16xbf16>
    %cst_30 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %182 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<bf16>) -> tensor<2x16xbf16>
    %183 = stablehlo.multiply %182, %181 : tensor<2x16xbf16>
    %184 = stablehlo.multiply %171, %183 : tensor<2x16xbf16>
    %185 = stablehlo.dot_general %184, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xbf16>, tensor<16x8xbf16>) -> tensor<2x8xbf16>
    %186 = stablehlo.add %142, %185 : tensor<2x8xbf16>
    %187 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<10x8xbf16>) -> tensor<8x10xbf16>
    %188 = stablehlo.dot_general %186, %187, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x10xbf16>) -> tensor<2x10xbf16>
    return %188, %101, %115 : tensor<2x10xbf16>, tensor<2x6x2x4xbf16>, tensor<2x6x2x4xbf16>
  }
  func.func private @_where(%arg0: tensor<2x1x6xi1>, %arg1: tensor<2x2x6xbf16>, %arg2: tensor<bf16>) -> tensor<2x2x6xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<2x1x6xi1>) -> tensor<2x2x6xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<bf16>) -> tensor<2x2x6xbf16>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x2x6xi1>, tensor<2x2x6xbf16>
    return %2 : tensor<2x2x6xbf16>
  }
}
