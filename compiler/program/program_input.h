// Checks that the tensors given for a program's inputs fit what the file declares.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strew/import.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// Fails unless `tensor` fits `input`, which is input `number` of the file; `symbols` are the names of its open extents
/// (Value::symbols). If the input is memory (a pointer), the tensor gets the type's dims.
Status fit_input(Tensor& tensor, const ProgramInput& input, size_t number, std::span<const std::string> symbols);

/// Fails if extents of inputs that have one name in the file differ. An input that is null is left out.
Status check_symbols(const Program& imported, std::span<const std::unique_ptr<Tensor>> inputs);

}  // namespace strew::inline v0
