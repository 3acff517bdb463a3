// See outputs.h. Tested by tests/unit/compiler/program/program_test.cc and tests/c_api.
#include "compiler/program/outputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/strides.h"
#include "compiler/op/message.h"
#include "compiler/program/buffers.h"

namespace strew::inline v0 {

Expected<Tensor> output_tensor(const ProgramOutput& output, const TensorType& type, const TensorView& given) {
  const auto bad = [&](const std::string& what) { return invalid_argument("output '" + output.name + "': " + what); };
  if (type.dtype == DType::string) return unsupported("output '" + output.name + "': its dtype is string, which has no buffer");
  if (given.dtype != type.dtype)
    return bad("dtype is " + std::string(name(given.dtype)) + ", expected " + std::string(name(type.dtype)));
  if (given.read_only != 0) return bad("it is read-only, expected a tensor that may be written");
  if (given.rank != type.rank() || (given.rank > 0 && given.dims == nullptr))
    return bad("rank is " + std::to_string(given.rank) + ", expected " + std::to_string(type.rank()));
  Tensor tensor{type.dtype, {given.dims, given.dims + given.rank}, {}, {}};
  const Expected<int64_t> elements = element_count(tensor.dims);
  if (!elements.ok()) return bad(elements.status().message());
  for (int32_t d = 0; d < given.rank; ++d)
    if (const int64_t expected = type.dims[static_cast<size_t>(d)]; expected != kDynamic && given.dims[d] != expected)
      return bad("dim " + std::to_string(d) + " is " + std::to_string(given.dims[d]) + ", expected " + std::to_string(expected));
  if (*elements == 0) return tensor;
  if (given.data == nullptr) return bad("data: null, expected a pointer");
  const std::vector<int64_t> packed = contiguous_strides(tensor.dims);
  for (int32_t d = 0; d < given.rank && given.strides != nullptr; ++d)
    if (given.dims[d] != 1 && given.strides[d] != packed[static_cast<size_t>(d)])
      return bad("stride " + std::to_string(d) + " is " + std::to_string(given.strides[d]) + ", expected " +
                 std::to_string(packed[static_cast<size_t>(d)]) + ": outputs of programs are row-major");
  tensor.data = Buffer::borrow({static_cast<std::byte*>(given.data), static_cast<size_t>(storage_bytes(type.dtype, *elements))});
  return tensor;
}

Expected<ProgramOutputs> ProgramOutputs::of(const Program& program, std::span<const TensorView> given) {
  if (given.size() != program.outputs().size())
    return invalid_argument("outputs: " + std::to_string(given.size()) + " are given, expected " +
                            std::to_string(program.outputs().size()) + ", as many as the program has");
  ProgramOutputs out;
  for (size_t i = 0; i < given.size(); ++i) {
    const ProgramOutput& output = program.outputs()[i];
    STREW_ASSIGN(Tensor tensor, output_tensor(output, program.value(output.value).type, given[i]));
    for (size_t j = 0; j < i; ++j)
      if (overlap(tensor.data, out.tensors_[j]->data))
        return invalid_argument("output '" + output.name + "': its buffer overlaps that of output '" + program.outputs()[j].name +
                                "', expected buffers of their own");
    out.tensors_.emplace_back(std::move(tensor));
  }
  return out;
}

Expected<const Tensor*> ProgramOutputs::at(const Program& program, size_t output, DType dtype, const std::vector<int64_t>& dims) {
  std::optional<Tensor>& found = tensors_[output];
  const ProgramOutput& named = program.outputs()[output];
  if (!found) {
    STREW_TRY(failed_);
    const Expected<void*> data = maker_(output, dtype, dims);
    failed_ = data.status();
    STREW_TRY(failed_);
    const TensorView view{*data, dtype, static_cast<int32_t>(dims.size()), dims.data(), nullptr};
    Expected<Tensor> tensor = output_tensor(named, program.value(named.value).type, view);
    failed_ = tensor.status();
    STREW_TRY(failed_);
    found = *std::move(tensor);
  }
  if (found->dims == dims) return &*found;
  return invalid_argument("output '{}': dims are {}, expected {}", named.name, found->dims, dims);
}

bool ProgramOutputs::overlaps(const Buffer& buffer) const {
  return std::any_of(tensors_.begin(), tensors_.end(),
                     [&](const std::optional<Tensor>& tensor) { return tensor && overlap(tensor->data, buffer); });
}

}  // namespace strew::inline v0
