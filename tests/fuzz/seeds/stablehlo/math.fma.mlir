func.func @main(%f: tensor<4xf32>, %g: tensor<4xf32>, %q: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %h: tensor<4xi32>, %p: tensor<4xi1>, %n: index, %v: vector<4xf32>, %w: vector<4xi32>, %b: vector<4xi1>) -> tensor<4xf32> {
  %back = arith.constant dense<[[3], [2], [1], [0]]> : tensor<4x1xi32>
  %y = math.fma %f, %g, %q : tensor<4xf32>
  %result = tensor.gather %y[%back] gather_dims([0]) : (tensor<4xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
