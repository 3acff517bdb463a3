func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.add %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%f: tensor<4xf32>, %g: tensor<4xf32>, %q: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %h: tensor<4xi32>, %p: tensor<4xi1>, %c: tensor<4xcomplex<f32>>, %m: tensor<2x3xf32>) -> tensor<4x3xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ids = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xi32>
  %wide = stablehlo.broadcast_in_dim %ids, dims = [0] : (tensor<4xi32>) -> tensor<4x2xi32>
  %numbers = stablehlo.iota dim = 1 : tensor<4x2xi32>
  %equal = stablehlo.compare EQ, %wide, %numbers, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
  %hot = stablehlo.convert %equal : (tensor<4x2xi1>) -> tensor<4x2xi32>
  %table = stablehlo.convert %m : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %y = stablehlo.dot_general %hot, %table, contracting_dims = [1] x [0] : (tensor<4x2xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>

  %result = stablehlo.dynamic_slice %y, %zero, %zero, sizes = [4, 3] : (tensor<4x3xi32>, tensor<i32>, tensor<i32>) -> tensor<4x3xi32>
  return %result : tensor<4x3xi32>
}
