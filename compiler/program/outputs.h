// ProgramOutputs: the caller's buffers for the outputs of a run, which it gives before the run, or when the dims of an output are known. Tested by
// tests/unit/compiler/program/program_test.cc and tests/c_api.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strew/program.h"
#include "strew/run_program.h"
#include "strew/tensor.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// The caller's buffer for an output, as a tensor. What the file says of it is checked; extents that it leaves open are checked when they are known.
Expected<Tensor> output_tensor(const ProgramOutput& output, const TensorType& type, const TensorView& given);

class ProgramOutputs {
 public:
  /// Fails if a buffer does not suit its output, or overlaps another one.
  static Expected<ProgramOutputs> of(const Program& program, std::span<const TensorView> given);
  /// Each buffer is asked for once, with the dims of the output.
  ProgramOutputs(const Program& program, OutputMaker maker) : maker_(std::move(maker)), tensors_(program.outputs().size()) {}

  /// The buffer of an output with these dims. Fails if it has others.
  Expected<const Tensor*> at(const Program& program, size_t output, DType dtype, const std::vector<int64_t>& dims);
  /// Does a buffer that is given already overlap this one?
  bool overlaps(const Buffer& buffer) const;

 private:
  ProgramOutputs() = default;

  OutputMaker maker_;
  Status failed_;  ///< what the caller gave that does not suit, or why it gave nothing: it is not asked again
  std::vector<std::optional<Tensor>> tensors_;
};

}  // namespace strew::inline v0
