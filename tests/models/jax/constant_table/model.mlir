module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xi32>) -> (tensor<4x5xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[0.655809819, -0.456407696, 1.53958571, -0.594816208, -0.484240443], [0.260655582, -0.196386486, 0.897711396, 0.691909134, 0.790065824], [-0.681560993, 1.32731915, 2.21795845, 1.63016295, 0.96235007], [-0.788057982, -0.595507562, -0.515361071, 2.41731477, 0.65673846], [0.0601143315, 0.697341263, 1.09858716, -0.957365334, -0.118248247], [0.853332817, 0.396691799, -0.422722816, 0.996104061, -0.299934715], [0.825796961, 0.838642359, -0.321528226, 0.945676863, -0.0161965284], [-0.537733197, 1.66351521, 0.0166641641, -0.947976112, -0.874889492], [-0.821293473, -0.320769787, -0.321864873, 0.291540176, 1.08175743], [2.51195645, -0.132126912, 1.00931275, -0.212521419, 0.309185892], [0.864765226, 1.22786844, -1.96508706, -0.518681943, 0.024576664], [-0.882851719, 0.91528362, -0.031234432, -0.653203308, -0.101941913]]> : tensor<12x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg0, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %6 = "stablehlo.gather"(%cst, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<12x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
    return %6 : tensor<4x5xf32>
  }
}
