// What the handles of strew/strew.h are. Tested by tests/c_api.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/c/runtime/handles.h"
#include "runtime/bound_program.h"
#include "strew/import.h"
#include "strew/kernel.h"
#include "strew/prepared_op.h"
#include "strew/run_program.h"
#include "strew/runtime.h"
#include "strew/site.h"
#include "strew/strew.h"
#include "strew/verified.h"
#include "strew/wisdom.h"

struct strew_op {
  explicit strew_op(strew::VerifiedOp given) : op(std::move(given)), text(strew::print(*op)), slots(strew::tensor_slots(op)) {}
  strew_op(const strew_op&) = delete;
  strew_op& operator=(const strew_op&) = delete;

  const strew::VerifiedOp op;
  const std::string text;
  const std::vector<strew::TensorSlot> slots;  ///< they refer to `op`
};

struct strew_program {
  strew::RunnableProgram runnable;
  const strew::Program& imported() const { return runnable.program(); }
};

struct strew_bound_program {
  strew::BoundProgram bound;
};

struct strew_wisdom {
  std::shared_ptr<const strew::Wisdom> wisdom;
};

/// A kernel that strew_find() lends.
struct strew_lent_kernel {
  uint64_t runtime = 0;  ///< its serial number: another runtime may have the address of one that is gone
  strew_kernel_ref* kernel = nullptr;
  const strew_lent_kernel* next = nullptr;
};

struct strew_prepared {
  explicit strew_prepared(strew::PreparedOp given) : op(std::move(given)) {}
  strew_prepared(const strew_prepared&) = delete;
  strew_prepared& operator=(const strew_prepared&) = delete;
  ~strew_prepared();

  const strew::PreparedOp op;
  mutable std::atomic<const strew_lent_kernel*> lent{nullptr};  ///< a list that only grows, of one for each runtime
};

struct strew_runtime {
  strew_runtime(strew::Runtime* used, std::unique_ptr<strew::Runtime> own) : runtime(used), owned(std::move(own)) {}
  strew::Runtime* const runtime;
  const std::unique_ptr<strew::Runtime> owned;  ///< null: the process's
  const uint64_t serial = ++last_serial;
  static inline std::atomic<uint64_t> last_serial{0};
};

struct strew_site {
  explicit strew_site(strew::Runtime& runtime) : site(runtime) {}
  strew::Site site;
};

namespace strew::inline v0::c_api {

strew_kernel_ref* make_ref(Kernel kernel);
/// KernelOptions from the caller's struct, which may be null.
Expected<KernelOptions> kernel_options(const strew_request* request);

/// The value of an enum that has this name in `names`.
template <class Enum>
Expected<Enum> value_named(const char* field, std::string_view text, std::span<const std::string_view> names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
    list.append(i == 0 ? "" : ", ").append(names[i]);
  }
  return invalid_argument(std::string(field) + ": '" + std::string(text) + "', expected one of " + list);
}

}  // namespace strew::inline v0::c_api
