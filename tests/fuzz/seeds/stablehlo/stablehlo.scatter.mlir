func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.add %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%f: tensor<4xf32>, %g: tensor<4xf32>, %q: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %h: tensor<4xi32>, %p: tensor<4xi1>, %c: tensor<4xcomplex<f32>>, %m: tensor<2x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %u = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %n = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi32>
  %y = "stablehlo.scatter"(%f, %n, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>

  %result = stablehlo.dynamic_slice %y, %zero, sizes = [4] : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
