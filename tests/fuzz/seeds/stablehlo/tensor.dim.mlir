func.func @main(%f: tensor<4xf32>, %g: tensor<4xf32>, %q: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %h: tensor<4xi32>, %p: tensor<4xi1>, %n: index, %v: vector<4xf32>, %w: vector<4xi32>, %b: vector<4xi1>) -> tensor<4xf32> {
  %back = arith.constant dense<[[3], [2], [1], [0]]> : tensor<4x1xi32>
  %zero = arith.constant 0 : index
  %d = tensor.dim %f, %zero : tensor<4xf32>
  %i32 = arith.index_cast %d : index to i32
  %s = arith.sitofp %i32 : i32 to f32
  %y = tensor.splat %s : tensor<4xf32>
  %result = tensor.gather %y[%back] gather_dims([0]) : (tensor<4xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
