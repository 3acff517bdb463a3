// Ops from texts, kernels of ops, and the runtime of the process. Tested by tests/python/kernel_test.py.
#include "bindings/python/native/runtime.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings/python/native/calls.h"
#include "bindings/python/native/check.h"
#include "bindings/python/native/kernel.h"
#include "bindings/python/native/objects.h"
#include "strew/strew.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

using OwnedOp = std::unique_ptr<strew_op, void (*)(strew_op*)>;

OwnedOp parse(const std::string& text) {
  strew_op* op = nullptr;
  check(strew_op_parse(text.c_str(), &op));
  return {op, strew_op_free};
}

int64_t nanoseconds_of(std::optional<double> seconds) {
  constexpr double kMostSeconds = 1e9;
  return seconds && *seconds < kMostSeconds ? static_cast<int64_t>(*seconds * 1e9) : STREW_NO_TIMEOUT;
}

/// strew_request from the arguments of strew.kernel().
class Request {
 public:
  explicit Request(const nb::dict& how)
      : backend_(text_in(how, "backend")),
        schedule_(text_in(how, "schedule")),
        target_(text_in(how, "target")),
        compile_(text_in(how, "compile")) {
    if (const std::optional<std::string> path = text_in(how, "wisdom")) {
      strew_wisdom* wisdom = nullptr;
      check(strew_wisdom_load(path->c_str(), &wisdom));
      wisdom_.reset(wisdom);
    }
    request.backend = or_null(backend_);
    request.schedule = or_null(schedule_);
    request.target = or_null(target_);
    request.compile = compile_mode(or_null(compile_));
    request.wisdom = wisdom_.get();
    if (how.contains("threads")) request.threads = nb::cast<int32_t>(how["threads"]);
  }
  strew_request request = STREW_REQUEST_INIT;

 private:
  std::optional<std::string> backend_, schedule_, target_, compile_;
  std::unique_ptr<strew_wisdom, void (*)(strew_wisdom*)> wisdom_{nullptr, strew_wisdom_free};
};

std::string explain(const std::string& text, const nb::dict& how) {
  const OwnedOp op = parse(text);
  const Request request(how);
  strew_text* out = nullptr;
  check(strew_explain(op.get(), &request.request, &out));
  return take_text(out);
}

/// The kernel of an op: waits for it without the interpreter.
nb::object make_kernel(const std::string& text, const nb::dict& how, std::optional<double> timeout) {
  OwnedOp op = parse(text);
  const Request request(how);
  strew_kernel_ref* kernel = nullptr;
  strew_status status = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    strew_prepared* prepared = nullptr;
    status = strew_prepare(op.get(), &request.request, &prepared);
    const std::unique_ptr<strew_prepared, void (*)(strew_prepared*)> owned(prepared, strew_prepared_free);
    const int64_t nanoseconds = nanoseconds_of(timeout);
    if (status == nullptr) status = strew_get(strew_runtime_process(), prepared, nanoseconds, &kernel);
  }
  check(status);
  PyObject* const made = new_kernel(kernel, op.release(), how.ptr());
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

/// The tensors of an op: (name, dtype, dims), an open extent as None.
nb::list slots_of(const std::string& text) {
  const OwnedOp op = parse(text);
  nb::list list;
  for (size_t i = 0; i < strew_op_slot_count(op.get()); ++i) {
    strew_slot slot = STREW_SLOT_INIT;
    check(strew_op_slot(op.get(), i, &slot));
    list.append(nb::make_tuple(slot.name, strew_dtype_name(static_cast<strew_dtype>(slot.dtype)), dims_of(slot.dims, slot.rank)));
  }
  return list;
}

nb::dict stats() {
  strew_stats now{};
  now.size = sizeof now;
  check(strew_runtime_stats(strew_runtime_process(), &now));
  nb::dict out;
  out["hits"] = now.hits;
  out["misses"] = now.misses;
  out["built"] = now.built;
  out["failed"] = now.failed;
  out["cancelled"] = now.cancelled;
  out["evicted"] = now.evicted;
  out["build_seconds"] = static_cast<double>(now.build_nanoseconds) * 1e-9;
  out["kernels"] = now.kernels;
  out["bytes"] = now.bytes;
  out["stand_ins"] = now.stand_ins;
  out["generalised"] = now.generalised;
  out["disk_hits"] = now.disk_hits;
  out["disk_misses"] = now.disk_misses;
  out["disk_rejected"] = now.disk_rejected;
  out["disk_published"] = now.disk_published;
  out["disk_errors"] = now.disk_errors;
  out["learn_trials"] = now.learn_trials;
  out["learn_changes"] = now.learn_changes;
  out["learn_seconds"] = static_cast<double>(now.learn_nanoseconds) * 1e-9;
  out["learn_regret_seconds"] = static_cast<double>(now.learn_regret_nanoseconds) * 1e-9;
  return out;
}

nb::dict options() {
  const strew_options now = strew_options_from_environment();
  nb::dict out;
  out["threads"] = now.threads;
  out["compile_threads"] = now.compile_threads;
  out["cache_bytes"] = now.cache_bytes;
  out["target"] = now.target;
  const char* const compile = compile_mode(nullptr);
  out["compile"] = compile != nullptr ? compile : now.compile;
  out["exact_shapes"] = now.exact_shapes;
  out["cache_dir"] = now.cache_dir;
  out["cache_mode"] = now.cache_mode;
  out["cache_limit_bytes"] = now.cache_limit_bytes;
  out["compile_nice"] = now.compile_nice;
  out["learn"] = now.learn != 0;
  out["learned_wisdom_file"] = now.learned_wisdom_file;
  return out;
}

}  // namespace

void add_runtime(nb::module_& module) {
  module.def("slots", slots_of);
  module.def("make_kernel", make_kernel, nb::arg("text"), nb::arg("how"), nb::arg("timeout").none());
  module.def("explain", explain);
  module.def("wisdom_path", [] {
    strew_text* out = nullptr;
    check(strew_wisdom_path(&out));
    return take_text(out);
  });
  module.def(
      "drain",
      [](std::optional<double> timeout) {
        strew_status status = nullptr;
        {
          const nb::gil_scoped_release unlocked;
          status = strew_runtime_drain(strew_runtime_process(), nanoseconds_of(timeout));
        }
        check(status);
      },
      nb::arg("timeout").none());
  module.def("stats", stats);
  module.def("options", options);
  module.def("clear", [] { strew_runtime_clear(strew_runtime_process()); });
}

}  // namespace strew::python
