// Request: one that asks for a kernel which the table of kernels does not have, on its way from tier to tier (runtime/runtime.cc). It begins on the
// thread that asks. If that thread may have to wait, a BuildJob takes the request over, and a compile thread goes on with it where the first
// thread stopped: what was found out so far, the plan above all, stays in it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "backends/pipeline.h"
#include "runtime/shape_families.h"
#include "strew/compile_mode.h"
#include "strew/pending_kernel.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {

struct Request {
  Request(PreparedOp asked, CompileMode how = CompileMode::blocking, Deadline until = kNoDeadline)
      : op(std::move(asked)), mode(how), deadline(until) {}

  PreparedOp op;
  CompileMode mode;
  Deadline deadline;                ///< of the thread that asks
  size_t tier = 0;                  ///< the next one to ask; those before it have no answer
  std::optional<Compiled> plan;     ///< once it is made; the kernel takes it away
  bool has_looked_on_disk = false;  ///< into the disk cache, and the kernel is not there
  /// The op with open extents whose kernel serves this request, or null; absent: ShapeFamilies was not asked yet.
  std::optional<std::shared_ptr<ShapeFamilies::General>> family;
  BuildJob* job = nullptr;  ///< that has taken it over; null: it is on the thread that asks
};

}  // namespace strew::inline v0
