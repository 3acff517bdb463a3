func.func @main(%t: tensor<4x6xf32>, %s: tensor<2x3xf32>, %n: index, %f: f32, %p: i1, %i: tensor<3x2xindex>, %i2: tensor<3x1xindex>, %m: memref<4x6xf32>, %b: memref<2048xi8>, %v: vector<4xf32>, %w: vector<2x4xf32>, %vi: vector<4xi32>, %vm: vector<4xi1>, %sh: tensor<1xindex>, %pk: tensor<2x2x2x3xf32>, %q41: vector<2x4xi1>) -> tensor<3x6xf32> {
  %g = tensor.gather %t[%i2] gather_dims([0]) : (tensor<4x6xf32>, tensor<3x1xindex>) -> tensor<3x6xf32>
  %q76 = tensor.concat dim(-1) %t, %t : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %g : tensor<3x6xf32>
}
