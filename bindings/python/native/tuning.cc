// Tuning and kernel libraries: long runs, which tell Python how far they are, and which Ctrl-C or an exception of the callback ends. What was measured is
// kept. Tested by tests/python/tuning_test.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/python/native/check.h"
#include "bindings/python/native/runtime.h"
#include "strew/strew.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

/// Calls the callback of a run from whatever thread it is on. The exception that ends a run is raised when the run has ended.
class Progress {
 public:
  explicit Progress(nb::object callback) : callback_(std::move(callback)) {}

  /// 0: go on.
  template <class... Arguments>
  int32_t tell(const Arguments&... arguments) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) return keep_exception();
    try {
      if (!callback_.is_none()) callback_(arguments...);
    } catch (nb::python_error& error) {
      error.restore();
      return keep_exception();
    }
    return 0;
  }
  /// Raises what ended the run, if something did.
  void raise_if_ended() {
    if (type_ == nullptr) return;
    PyErr_Restore(type_, value_, trace_);
    type_ = value_ = trace_ = nullptr;
    throw nb::python_error();
  }

 private:
  int32_t keep_exception() {
    if (type_ == nullptr) PyErr_Fetch(&type_, &value_, &trace_);
    PyErr_Clear();
    return 1;
  }
  nb::object callback_;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

int32_t tell_tuning(void* context, const strew_tuning_progress* progress) {
  const std::string kernel = progress->kernel != nullptr ? progress->kernel : "";
  return static_cast<Progress*>(context)->tell(kernel, progress->number, progress->count, progress->candidates,
                                               progress->best_ratio, progress->seconds, progress->budget_seconds);
}
int32_t tell_library(void* context, size_t done, size_t all) { return static_cast<Progress*>(context)->tell(done, all); }

/// Ends with the exception that ended the run, else with the run's own failure.
void finish(strew_status status, Progress& progress) {
  try {
    progress.raise_if_ended();
  } catch (...) {
    strew_status_free(status);
    throw;
  }
  check(status);
}

/// What a run found: (text, json, html).
nb::tuple texts_of(strew_tuning* tuning) {
  const std::unique_ptr<strew_tuning, void (*)(strew_tuning*)> owned(tuning, strew_tuning_free);
  const auto text = [&](strew_status (*make)(const strew_tuning*, strew_text**)) {
    strew_text* out = nullptr;
    check(make(tuning, &out));
    return take_text(out);
  };
  return nb::make_tuple(text(strew_tuning_text), text(strew_tuning_json), text(strew_tuning_html));
}

/// strew_tuning_options from the arguments of strew.tune().
class Options {
 public:
  Options(const nb::dict& how, Progress& progress)
      : mode_(text_in(how, "mode")),
        dims_(text_in(how, "dims")),
        indices_(text_in(how, "indices")),
        temperature_(text_in(how, "temperature")),
        wisdom_file_(text_in(how, "wisdom_file")) {
    options.mode = or_null(mode_);
    options.dims = or_null(dims_);
    options.indices = or_null(indices_);
    options.temperature = or_null(temperature_);
    options.wisdom_file = or_null(wisdom_file_);
    options.threads = nb::cast<int32_t>(how["threads"]);
    options.seed = nb::cast<uint64_t>(how["seed"]);
    if (const nb::object seconds = how["seconds"]; !seconds.is_none()) options.budget_seconds = nb::cast<double>(seconds);
    options.progress = tell_tuning;
    options.context = &progress;
  }
  strew_tuning_options options = STREW_TUNING_OPTIONS_INIT;

 private:
  std::optional<std::string> mode_, dims_, indices_, temperature_, wisdom_file_;
};

nb::tuple tune_op(const std::string& text, const nb::dict& how, nb::object callback) {
  Progress progress(std::move(callback));
  const Options options(how, progress);
  strew_tuning* tuning = nullptr;
  strew_status status = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    strew_op* op = nullptr;
    status = strew_op_parse(text.c_str(), &op);
    if (status == nullptr) status = strew_tune_op(op, &options.options, &tuning);
    strew_op_free(op);
  }
  finish(status, progress);
  return texts_of(tuning);
}

nb::tuple tune_file(const std::string& path, const std::optional<std::string>& kernel, const nb::dict& how, nb::object callback) {
  Progress progress(std::move(callback));
  const Options options(how, progress);
  strew_tuning* tuning = nullptr;
  strew_status status = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    strew_program* program = nullptr;
    status = strew_program_open(path.c_str(), nullptr, &program);
    if (status == nullptr) status = strew_tune_program(program, kernel ? kernel->c_str() : nullptr, &options.options, &tuning);
    strew_program_free(program);
  }
  finish(status, progress);
  return texts_of(tuning);
}

std::string build_library(const std::string& manifest, const std::string& folder, int32_t jobs, bool freestanding,
                          const std::optional<std::string>& arch, const std::vector<std::string>& targets, nb::object callback) {
  Progress progress(std::move(callback));
  std::vector<const char*> names;
  for (const std::string& each : targets) names.push_back(each.c_str());
  strew_library_options options = STREW_LIBRARY_OPTIONS_INIT;
  options.jobs = jobs;
  options.freestanding = freestanding ? 1 : 0;
  options.arch = or_null(arch);
  options.targets = names.empty() ? nullptr : names.data();
  options.target_count = names.size();
  options.progress = tell_library;
  options.context = &progress;
  strew_text* report = nullptr;
  strew_status status = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    status = strew_library_build(manifest.c_str(), folder.c_str(), &options, &report);
  }
  finish(status, progress);
  return take_text(report);
}

}  // namespace

void add_tuning(nb::module_& module) {
  module.def("tune_op", tune_op, nb::arg("text"), nb::arg("how"), nb::arg("callback").none());
  module.def("tune_file", tune_file, nb::arg("path"), nb::arg("kernel").none(), nb::arg("how"), nb::arg("callback").none());
  module.def("build_library", build_library, nb::arg("manifest"), nb::arg("folder"), nb::arg("jobs"), nb::arg("freestanding"),
             nb::arg("arch").none(), nb::arg("targets"), nb::arg("callback").none());
}

}  // namespace strew::python
