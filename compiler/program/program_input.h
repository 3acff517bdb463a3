// The inputs of a program: does a given tensor fit what the file says?
#pragma once

#include <string>

#include "compiler/import/importer.h"
#include "compiler/program/tensor.h"

namespace strew {

/// Fails unless `tensor` fits `input`, the file's number `number`. Where the input is memory, the tensor's dims become the type's.
Status fit_input(Tensor& tensor, const ImportedInput& input, size_t number);

std::string shape_text(const std::vector<int64_t>& dims);               ///< [3,?]
std::string shape_text(DType dtype, const std::vector<int64_t>& dims);  ///< f32[3,?]

}  // namespace strew
