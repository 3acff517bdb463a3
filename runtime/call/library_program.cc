// See library_program.h.
#include "runtime/call/library_program.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strides.h"
#include "runtime/call/run_steps.h"

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
  if (expected.use != TensorUse::input && given.read_only != 0)
    return bad("it is read-only, expected a tensor that may be written");
  if (given.strides == nullptr) return {};
  const std::vector<int64_t> packed = contiguous_strides({dims, dims + rank});
  for (int32_t d = 0; d < rank; ++d)
    if (dims[d] != 1 && given.strides[d] != packed[static_cast<size_t>(d)])
      return bad("stride " + std::to_string(d) + " is " + std::to_string(given.strides[d]) + ", expected " +
                 std::to_string(packed[static_cast<size_t>(d)]) + ": tensors of programs are row-major");
  return {};
}

/// The steps of a program, for run_steps().
class ProgramOfLibrary {
 public:
  ProgramOfLibrary(const strew_library& library, const LibraryProgram& program, std::span<const TensorView> tensors,
                   std::byte* arena, LibraryKernels& kernels, const CallOptions& options)
      : library_(library),
        steps_(at_offset<LibraryStep>(library, program.steps), program.step_count),
        tensors_(tensors),
        arena_(arena),
        kernels_(kernels),
        options_(options) {}

  size_t size() const { return steps_.size(); }
  StepKind kind(size_t s) const { return steps_[s].kind; }
  const char* what(size_t s) const { return at_offset<char>(library_, steps_[s].what); }
  const char* where(size_t s) const { return at_offset<char>(library_, steps_[s].where); }
  void bind(size_t s, std::vector<TensorView>& views) const {
    const auto* const list = at_offset<LibraryOperand>(library_, steps_[s].operands);
    for (uint32_t o = 0; o < steps_[s].operand_count; ++o)
      views.push_back(view_of(library_, list[o].shape, place_of(list[o]) + list[o].first));
  }
  Status run_kernel(size_t s, std::span<const TensorView> views) { return kernels_.run(steps_[s].kernel, views, options_); }

 private:
  std::byte* place_of(const LibraryOperand& operand) const {
    switch (operand.place) {
      case StepPlace::tensor:
        return static_cast<std::byte*>(tensors_[operand.number].data);
      case StepPlace::constant:
        return const_cast<std::byte*>(at_offset<std::byte>(library_, 0));
      case StepPlace::arena:
        break;
    }
    return arena_;
  }

  const strew_library& library_;
  const std::span<const LibraryStep> steps_;
  const std::span<const TensorView> tensors_;
  std::byte* const arena_;
  LibraryKernels& kernels_;
  const CallOptions& options_;
};

}  // namespace

Status check_program_tensors(const strew_library& library, const LibraryProgram& program, std::span<const TensorView> tensors) {
  if (tensors.size() != program.tensor_count)
    return invalid_argument("tensors: " + std::to_string(tensors.size()) + " are given, expected " +
                            std::to_string(program.tensor_count));
  const auto* const expected = at_offset<LibraryTensor>(library, program.tensors);
  for (size_t i = 0; i < tensors.size(); ++i) STREW_TRY(check_tensor(library, expected[i], tensors[i]));
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t j = 0; j < tensors.size() && expected[i].use != TensorUse::input; ++j) {
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
  ProgramOfLibrary steps(library, program, tensors, arena, kernels, options);
  return run_steps(steps);
}

}  // namespace strew::inline v0
