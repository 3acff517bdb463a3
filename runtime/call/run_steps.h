// run_steps(): runs the steps of a whole program one after the other. Who holds them says where their tensors lie. Tested by
// tests/unit/compiler/program/steps_test.cc, tests/library and strew_program_differential.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/fault_text.h"
#include "base/step.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// `steps` has size(), kind(s), bind(s, views), which adds the tensors of step s, run_kernel(s, views), and of a step of kind equal what(s) and where(s), texts for
/// the message. Stops at the first step that fails.
template <class Steps>
Status run_steps(Steps& steps) {
  std::vector<TensorView> views;
  for (size_t s = 0; s < steps.size(); ++s) {
    views.clear();
    steps.bind(s, views);
    switch (steps.kind(s)) {
      case StepKind::kernel:
        STREW_TRY(steps.run_kernel(s, std::span<const TensorView>(views)));
        continue;
      case StepKind::copy:
        std::memcpy(views[1].data, views[0].data, static_cast<size_t>(views[0].dims[0]));
        continue;
      case StepKind::non_negative:
        STREW_TRY(check_non_negative(views[0]));
        continue;
      case StepKind::equal:
        STREW_TRY(check_equal(views[0], views[1], steps.what(s), steps.where(s)));
        continue;
    }
    return internal_error("a program has a step of kind " + std::to_string(static_cast<uint32_t>(steps.kind(s))));
  }
  return {};
}

}  // namespace strew::inline v0
