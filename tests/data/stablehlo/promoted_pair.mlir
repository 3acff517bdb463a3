// Two operands in one scatter, both promoted, and open extents; values in promoted_pair.json.
func.func @main(%a: tensor<?xf16>, %b: tensor<?xi8>, %i: tensor<?xui8>, %u: tensor<?xf16>, %v: tensor<?xi8>) -> (tensor<?xf32>, tensor<?xi32>) {
  %r:2 = "stablehlo.scatter"(%a, %b, %i, %u, %v) ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<i32>):
    %0 = "stablehlo.add"(%p, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.multiply"(%q, %t) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%0, %1) : (tensor<f32>, tensor<i32>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<?xf16>, tensor<?xi8>, tensor<?xui8>, tensor<?xf16>, tensor<?xi8>) -> (tensor<?xf32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
}
