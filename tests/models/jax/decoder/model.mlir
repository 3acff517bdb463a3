module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x8xf32>, %arg1: tensor<6x2xf32>, %arg2: tensor<6x2xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x8xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<8x8xf32>, %arg11: tensor<8x16xf32>, %arg12: tensor<16x8xf32>, %arg13: tensor<2x6x2x4xf32>, %arg14: tensor<2x6x2x4xf32>, %arg15: tensor<2xi32>, %arg16: tensor<i32>) -> (tensor<2x10xf32> {jax.result_info = "result[0]"}, tensor<2x6x2x4xf32> {jax.result_info = "result[1]"}, tensor<2x6x2x4xf32> {jax.result_info = "result[2]"}) {
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
    %31 = stablehlo.broadcast_in_dim %arg16, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %33 = stablehlo.compare LT, %31, %32, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_6 = stablehlo.constant dense<6> : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %35 = stablehlo.add %31, %34 : tensor<2xi32>
    %36 = stablehlo.select %33, %35, %31 : tensor<2xi1>, tensor<2xi32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %38 = "stablehlo.gather"(%arg1, %37) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %40 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %41 = stablehlo.compare LT, %31, %40, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_8 = stablehlo.constant dense<6> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %43 = stablehlo.add %31, %42 : tensor<2xi32>
    %44 = stablehlo.select %41, %43, %31 : tensor<2xi1>, tensor<2xi32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %46 = "stablehlo.gather"(%arg2, %45) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 2] : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
    %48 = stablehlo.dot_general %30, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %49 = stablehlo.reshape %48 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %50 = stablehlo.slice %49 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %51 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %52 = stablehlo.multiply %50, %51 : tensor<2x2x2xf32>
    %53 = stablehlo.slice %49 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %54 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %55 = stablehlo.multiply %53, %54 : tensor<2x2x2xf32>
    %56 = stablehlo.subtract %52, %55 : tensor<2x2x2xf32>
    %57 = stablehlo.slice %49 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %58 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %59 = stablehlo.multiply %57, %58 : tensor<2x2x2xf32>
    %60 = stablehlo.slice %49 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %61 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %62 = stablehlo.multiply %60, %61 : tensor<2x2x2xf32>
    %63 = stablehlo.add %59, %62 : tensor<2x2x2xf32>
    %64 = stablehlo.concatenate %56, %63, dim = 2 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x4xf32>
    %65 = stablehlo.dot_general %30, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %66 = stablehlo.reshape %65 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %67 = stablehlo.slice %66 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %68 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %69 = stablehlo.multiply %67, %68 : tensor<2x2x2xf32>
    %70 = stablehlo.slice %66 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %71 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %72 = stablehlo.multiply %70, %71 : tensor<2x2x2xf32>
    %73 = stablehlo.subtract %69, %72 : tensor<2x2x2xf32>
    %74 = stablehlo.slice %66 [0:2, 0:2, 2:4] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %75 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %76 = stablehlo.multiply %74, %75 : tensor<2x2x2xf32>
    %77 = stablehlo.slice %66 [0:2, 0:2, 0:2] : (tensor<2x2x4xf32>) -> tensor<2x2x2xf32>
    %78 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<2x1x2xf32>) -> tensor<2x2x2xf32>
    %79 = stablehlo.multiply %77, %78 : tensor<2x2x2xf32>
    %80 = stablehlo.add %76, %79 : tensor<2x2x2xf32>
    %81 = stablehlo.concatenate %73, %80, dim = 2 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x4xf32>
    %82 = stablehlo.dot_general %30, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %83 = stablehlo.reshape %82 : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
    %84 = stablehlo.broadcast_in_dim %81, dims = [0, 2, 3] : (tensor<2x2x4xf32>) -> tensor<2x1x2x4xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %85 = stablehlo.compare LT, %arg16, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<6> : tensor<i32>
    %86 = stablehlo.add %arg16, %c_10 : tensor<i32>
    %87 = stablehlo.select %85, %86, %arg16 : tensor<i1>, tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %88 = stablehlo.dynamic_update_slice %arg13, %84, %c_11, %87, %c_12, %c_13 : (tensor<2x6x2x4xf32>, tensor<2x1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x6x2x4xf32>
    %89 = stablehlo.broadcast_in_dim %83, dims = [0, 2, 3] : (tensor<2x2x4xf32>) -> tensor<2x1x2x4xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %90 = stablehlo.compare LT, %arg16, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_15 = stablehlo.constant dense<6> : tensor<i32>
    %91 = stablehlo.add %arg16, %c_15 : tensor<i32>
    %92 = stablehlo.select %90, %91, %arg16 : tensor<i1>, tensor<i32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %93 = stablehlo.dynamic_update_slice %arg14, %89, %c_16, %92, %c_17, %c_18 : (tensor<2x6x2x4xf32>, tensor<2x1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x6x2x4xf32>
    %94 = stablehlo.dot_general %64, %88, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6xf32>
    %cst_19 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x2x6xf32>
    %96 = stablehlo.divide %94, %95 : tensor<2x2x6xf32>
    %97 = stablehlo.iota dim = 0 : tensor<6xi32>
    %98 = stablehlo.broadcast_in_dim %97, dims = [2] : (tensor<6xi32>) -> tensor<1x1x6xi32>
    %99 = stablehlo.broadcast_in_dim %31, dims = [0] : (tensor<2xi32>) -> tensor<2x1x1xi32>
    %100 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2] : (tensor<1x1x6xi32>) -> tensor<2x1x6xi32>
    %101 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<2x1x1xi32>) -> tensor<2x1x6xi32>
    %102 = stablehlo.compare LE, %100, %101, SIGNED : (tensor<2x1x6xi32>, tensor<2x1x6xi32>) -> tensor<2x1x6xi1>
    %cst_20 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %103 = call @_where(%102, %96, %cst_20) : (tensor<2x1x6xi1>, tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %cst_21 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %104 = stablehlo.reduce(%103 init: %cst_21) applies stablehlo.maximum across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %cst_22 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %106 = stablehlo.maximum %105, %104 : tensor<2x2xf32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
    %109 = stablehlo.subtract %103, %108 : tensor<2x2x6xf32>
    %110 = stablehlo.exponential %109 : tensor<2x2x6xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_23) applies stablehlo.add across dimensions = [2] : (tensor<2x2x6xf32>, tensor<f32>) -> tensor<2x2xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %113 = stablehlo.broadcast_in_dim %112, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
    %114 = stablehlo.divide %110, %113 : tensor<2x2x6xf32>
    %115 = stablehlo.dot_general %114, %93, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x4xf32>
    %116 = stablehlo.reshape %115 : (tensor<2x2x4xf32>) -> tensor<2x8xf32>
    %117 = stablehlo.dot_general %116, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %118 = stablehlo.add %6, %117 : tensor<2x8xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%118 init: %cst_24) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_25 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %122 = stablehlo.divide %120, %121 : tensor<2x1xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %124 = stablehlo.subtract %118, %123 : tensor<2x8xf32>
    %125 = stablehlo.broadcast_in_dim %122, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %126 = stablehlo.subtract %118, %125 : tensor<2x8xf32>
    %127 = stablehlo.multiply %126, %126 : tensor<2x8xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %128 = stablehlo.reduce(%127 init: %cst_26) applies stablehlo.add across dimensions = [1] : (tensor<2x8xf32>, tensor<f32>) -> tensor<2xf32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_27 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %131 = stablehlo.divide %129, %130 : tensor<2x1xf32>
    %cst_28 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %133 = stablehlo.add %131, %132 : tensor<2x1xf32>
    %134 = stablehlo.rsqrt %133 : tensor<2x1xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x8xf32>
    %136 = stablehlo.multiply %124, %135 : tensor<2x8xf32>
    %137 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %139 = stablehlo.multiply %136, %138 : tensor<2x8xf32>
    %140 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<2x8xf32>
    %142 = stablehlo.add %139, %141 : tensor<2x8xf32>
    %143 = stablehlo.dot_general %142, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
    %144 = stablehlo.multiply %143, %143 : tensor<2x16xf32>
    %145 = stablehlo.multiply %144, %143 : tensor<2x16xf32>
    %cst_29 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %147 = stablehlo.multiply %146, %145 : tensor<2x16xf32>
    %148 = stablehlo.add %143, %147 : tensor<2x16xf32>
    %cst_30 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %150 = stablehlo.multiply %149, %148 : tensor<2x16xf32>
    %151 = stablehlo.tanh %150 : tensor<2x16xf32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %153 = stablehlo.add %152, %151 : tensor<2x16xf32>
    %cst_32 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
    %155 = stablehlo.multiply %154, %153 : tensor<2x16xf32>
    %156 = stablehlo.multiply %143, %155 : tensor<2x16xf32>
    %157 = stablehlo.dot_general %156, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<16x8xf32>) -> tensor<2x8xf32>
    %158 = stablehlo.add %118, %157 : tensor<2x8xf32>
    %159 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<10x8xf32>) -> tensor<8x10xf32>
    %160 = stablehlo.dot_general %158, %159, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x10xf32>) -> tensor<2x10xf32>
    return %160, %88, %93 : tensor<2x10xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<2x1x6xi1>, %arg1: tensor<2x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<2x1x6xi1>) -> tensor<2x2x6xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x6xf32>
    %2 = stablehlo.select %0, %arg1, %1 : tensor<2x2x6xi1>, tensor<2x2x6xf32>
    return %2 : tensor<2x2x6xf32>
  }
}
