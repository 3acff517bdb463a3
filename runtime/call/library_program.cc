// See library_program.h.
#include "runtime/call/library_program.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/fault_text.h"
#include "base/strides.h"

namespace strew::inline v0 {
namespace {

TensorView view_of(const strew_library& library, const LibraryShape& shape, void* data) {
  return {data, static_cast<DType>(shape.dtype), static_cast<int32_t>(shape.rank), at_offset<int64_t>(library, shape.dims),
          shape.strides == 0 ? nullptr : at_offset<int64_t>(library, shape.strides)};
}

std::string dims_of(const int64_t* dims, int32_t rank) {
  std::string text = "[";
  for (int32_t d = 0; d < rank; ++d) text += (d == 0 ? "" : ",") + std::to_string(dims[d]);
  return text + "]";
}

Status check_tensor(const strew_library& library, const LibraryTensor& expected, const TensorView& given) {
  const auto bad = [&](const std::string& what) {
    return invalid_argument(std::string(at_offset<char>(library, expected.name)) + ": " + what);
  };
  const auto dtype = static_cast<DType>(expected.shape.dtype);
  if (given.dtype != dtype) return bad("dtype is " + std::string(name(given.dtype)) + ", expected " + std::string(name(dtype)));
  const auto* const dims = at_offset<int64_t>(library, expected.shape.dims);
  const auto rank = static_cast<int32_t>(expected.shape.rank);
  if (given.rank != rank) return bad("rank is " + std::to_string(given.rank) + ", expected " + std::to_string(rank));
  if (rank > 0 && given.dims == nullptr) return bad("dims: null, expected a pointer");
  if (!std::equal(dims, dims + rank, given.dims))
    return bad("dims are " + dims_of(given.dims, rank) + ", expected " + dims_of(dims, rank));
  if (expected.bytes == 0) return {};
  if (given.data == nullptr) return bad("data: null, expected a pointer");
  if (expected.use != LibraryUse::input && given.read_only != 0)
    return bad("it is read-only, expected a tensor that may be written");
  if (given.strides == nullptr) return {};
  const std::vector<int64_t> packed = contiguous_strides({dims, dims + rank});
  for (int32_t d = 0; d < rank; ++d)
    if (dims[d] != 1 && given.strides[d] != packed[static_cast<size_t>(d)])
      return bad("stride " + std::to_string(d) + " is " + std::to_string(given.strides[d]) + ", expected " +
                 std::to_string(packed[static_cast<size_t>(d)]) + ": tensors of programs are row-major");
  return {};
}

Status run_step(const LibraryStep& step, std::span<const TensorView> operands, LibraryKernels& kernels,
                const CallOptions& options) {
  switch (step.kind) {
    case LibraryStepKind::kernel:
      return kernels.run(step.kernel, operands, options);
    case LibraryStepKind::copy:
      std::memcpy(operands[1].data, operands[0].data, static_cast<size_t>(operands[0].dims[0]));
      return {};
    case LibraryStepKind::non_negative:
      return check_non_negative(operands[0]);
  }
  return internal_error("library: a program has a step of kind " + std::to_string(static_cast<uint32_t>(step.kind)));
}

}  // namespace

Status check_program_tensors(const strew_library& library, const LibraryProgram& program, std::span<const TensorView> tensors) {
  if (tensors.size() != program.tensor_count)
    return invalid_argument("tensors: " + std::to_string(tensors.size()) + " are given, expected " +
                            std::to_string(program.tensor_count));
  const auto* const expected = at_offset<LibraryTensor>(library, program.tensors);
  for (size_t i = 0; i < tensors.size(); ++i) STREW_TRY(check_tensor(library, expected[i], tensors[i]));
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t j = 0; j < tensors.size() && expected[i].use != LibraryUse::input; ++j) {
      const auto a = reinterpret_cast<uintptr_t>(tensors[i].data), b = reinterpret_cast<uintptr_t>(tensors[j].data);
      const bool overlap = a < b + static_cast<uintptr_t>(expected[j].bytes) && b < a + static_cast<uintptr_t>(expected[i].bytes);
      if (i == j || !overlap || expected[i].bytes == 0 || expected[j].bytes == 0) continue;
      return invalid_argument(std::string(at_offset<char>(library, expected[i].name)) + ": its buffer overlaps that of " +
                              at_offset<char>(library, expected[j].name) +
                              ", expected buffers of their own, or a program that updates the input in place");
    }
  return {};
}

Status run_program_of(const strew_library& library, const LibraryProgram& program, std::span<const TensorView> tensors,
                      std::byte* arena, LibraryKernels& kernels, const CallOptions& options) {
  std::vector<TensorView> operands;
  const auto* const steps = at_offset<LibraryStep>(library, program.steps);
  for (uint32_t s = 0; s < program.step_count; ++s) {
    operands.clear();
    const auto* const list = at_offset<LibraryOperand>(library, steps[s].operands);
    for (uint32_t o = 0; o < steps[s].operand_count; ++o) {
      std::byte* base = nullptr;
      switch (list[o].place) {
        case LibraryPlace::tensor:
          base = static_cast<std::byte*>(tensors[list[o].number].data);
          break;
        case LibraryPlace::constant:
          base = const_cast<std::byte*>(at_offset<std::byte>(library, 0));
          break;
        case LibraryPlace::arena:
          base = arena;
          break;
      }
      operands.push_back(view_of(library, list[o].shape, base + list[o].first));
    }
    STREW_TRY(run_step(steps[s], operands, kernels, options));
  }
  return {};
}

}  // namespace strew::inline v0
