func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.add %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%f: tensor<4xf32>, %g: tensor<4xf32>, %q: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %h: tensor<4xi32>, %p: tensor<4xi1>, %c: tensor<4xcomplex<f32>>, %m: tensor<2x3xf32>) -> tensor<4xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %y = "stablehlo.shift_right_logical"(%i, %h) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

  %result = stablehlo.dynamic_slice %y, %zero, sizes = [4] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %result : tensor<4xi32>
}
