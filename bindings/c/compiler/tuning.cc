// Wisdom and tuning of the C interface: what `strew tune` does (tools/strew/tune.cc), for an op or for the kernels of a program that is open.
// Tested by tests/c_api/tuning.c.
#include <algorithm>
#include <chrono>

#include "bindings/c/compiler/handles.h"
#include "schedules/wisdom/wisdom_file.h"
#include "strew/tuned_kernel.h"
#include "tune/report/html_report.h"
#include "tune/tuner.h"
#include "tune/tuning_tasks.h"
#include "tune/tuning_text.h"

struct strew_tuning {
  strew::TuningResult result;
};

struct strew_tuned_kernel {
  strew::TunedKernel kernel;
};

namespace strew::inline v0::c_api {
namespace {

/// Asks the caller whether to go on: often enough for progress bars and for the keys that interrupt a program, seldom enough to cost nothing.
class Caller {
 public:
  explicit Caller(const strew_tuning_options& options) : callback_(options.progress), context_(options.context) {}

  void note(const TuningProgress& progress) {
    kernel_ = progress.op;
    last_ = {sizeof last_,        0,
             kernel_.c_str(),     progress.op_number,
             progress.ops,        progress.candidates,
             progress.best_ratio, progress.best_ns,
             progress.seconds,    progress.budget_seconds};
    ask(true);
  }
  bool stops() {
    ask(false);
    return stops_;
  }

 private:
  void ask(bool at_once) {
    constexpr auto kInterval = std::chrono::milliseconds(100);
    const auto now = std::chrono::steady_clock::now();
    if (callback_ == nullptr || stops_ || (!at_once && now - asked_ < kInterval)) return;
    asked_ = now;
    last_.seconds = std::max(last_.seconds, std::chrono::duration<double>(now - start_).count());
    stops_ = callback_(context_, &last_) != 0;
  }

  const strew_tuning_callback callback_;
  void* const context_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point asked_ = start_;
  std::string kernel_;
  strew_tuning_progress last_ = {sizeof(strew_tuning_progress), 0, nullptr, 0, 0, 0, 1, 0, 0, 0};
  bool stops_ = false;
};

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

Expected<KnownUsage> known_usage(const strew_tuning_options& options) {
  STREW_TRY(check_threads(options.threads));
  KnownUsage known;
  known.threads = options.threads;
  if (options.dims != nullptr) {
    STREW_ASSIGN(known.dims, parse_dims(options.dims));
  }
  known.indices = text_or_empty(options.indices);
  known.temperature = text_or_empty(options.temperature);
  if (known.indices.empty()) return known;
  STREW_ASSIGN(const Distribution indices, parse_distribution(known.indices));
  if (indices.kind == Distribution::Kind::file)
    return unsupported("indices: '" + known.indices + "' is a file, expected a distribution, such as zipf(1)");
  return known;
}

Expected<TunerSettings> settings_of(const strew_tuning_options& options) {
  TunerSettings out;
  out.seed = options.seed;
  out.budget_seconds = options.budget_seconds;
  if (!(out.budget_seconds >= 0 && out.budget_seconds < 1e9))
    return invalid_argument("budget_seconds: it is " + std::to_string(out.budget_seconds) + ", expected 0..1e9");
  if (options.mode != nullptr) {
    STREW_ASSIGN(out.mode, value_named<SearchMode>("mode", options.mode, kSearchModes));
  }
  const std::string wisdom = text_or_empty(options.wisdom_file);
  if (wisdom != "off") out.wisdom_file = wisdom.empty() ? wisdom_path() : wisdom;
  return out;
}

/// Tunes what make_tasks(known) returns.
template <class MakeTasks>
strew_status tune_tasks(const strew_tuning_options* given, strew_tuning** out, const MakeTasks& make_tasks) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    constexpr strew_tuning_options kDefaults = STREW_TUNING_OPTIONS_INIT;
    STREW_ASSIGN(const strew_tuning_options options, known_fields(given, kDefaults, "options"));
    STREW_ASSIGN(const KnownUsage known, known_usage(options));
    STREW_ASSIGN(TunerSettings settings, settings_of(options));
    STREW_ASSIGN(const std::vector<TuningTask> tasks, make_tasks(known));
    Caller caller(options);
    settings.stop = [&] { return caller.stops(); };
    settings.on_progress = [&](const TuningProgress& progress) { caller.note(progress); };
    STREW_ASSIGN(TuningResult result, tune(tasks, settings));
    const auto failed = [](const TunedOp& op) { return !op.failure.empty(); };
    if (std::all_of(result.ops.begin(), result.ops.end(), failed))
      return {caller.stops() ? Code::cancelled : Code::unsupported, result.ops[0].name + ": " + result.ops[0].failure};
    *out = new strew_tuning{std::move(result)};
    return {};
  });
}

/// Gives the text that make(result) returns.
strew_status give_text_of(const strew_tuning* tuning, strew_text** out, std::string (*make)(const TuningResult&)) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(tuning, "tuning"));
    STREW_TRY(check_not_null(out, "out"));
    return give_text(make(tuning->result), out);
  });
}

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_wisdom_load(const char* path, strew_wisdom** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(path, "path"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(std::shared_ptr<const Wisdom> wisdom, Wisdom::load(path));
    *out = new strew_wisdom{std::move(wisdom)};
    return {};
  });
}
strew_status strew_wisdom_none(strew_wisdom** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    *out = new strew_wisdom{Wisdom::none()};
    return {};
  });
}
strew_status strew_wisdom_path(strew_text** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    return give_text(wisdom_path(), out);
  });
}
void strew_wisdom_free(strew_wisdom* wisdom) { delete wisdom; }

strew_status strew_tune_op(const strew_op* op, const strew_tuning_options* options, strew_tuning** out) {
  return tune_tasks(options, out, [&](const KnownUsage& known) -> Expected<std::vector<TuningTask>> {
    STREW_TRY(check_not_null(op, "op"));
    STREW_ASSIGN(InventedUsage usage, invent_usage(op->op, known));
    return std::vector<TuningTask>{{"op", op->op, std::move(usage.usage), std::move(usage.notes)}};
  });
}
strew_status strew_tune_program(const strew_program* program, const char* kernel, const strew_tuning_options* options,
                                strew_tuning** out) {
  return tune_tasks(options, out, [&](const KnownUsage& known) -> Expected<std::vector<TuningTask>> {
    STREW_TRY(check_not_null(program, "program"));
    return tuning_tasks(program->imported(), text_or_empty(kernel), known);
  });
}

strew_status strew_tuning_text(const strew_tuning* tuning, strew_text** out) { return give_text_of(tuning, out, tuning_text); }
strew_status strew_tuning_json(const strew_tuning* tuning, strew_text** out) { return give_text_of(tuning, out, tuning_json); }
strew_status strew_tuning_html(const strew_tuning* tuning, strew_text** out) { return give_text_of(tuning, out, html_report); }
void strew_tuning_free(strew_tuning* tuning) { delete tuning; }

strew_status strew_tuned_kernel_create(strew_runtime* runtime, const strew_op* op, const strew_request* request,
                                       const strew_online_tuning* options, strew_tuned_kernel** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(runtime, "runtime"));
    STREW_TRY(check_not_null(op, "op"));
    STREW_TRY(check_not_null(out, "out"));
    constexpr strew_online_tuning kDefaults = STREW_ONLINE_TUNING_INIT;
    STREW_ASSIGN(const strew_online_tuning known, known_fields(options, kDefaults, "options"));
    STREW_ASSIGN(const KernelOptions wanted, kernel_options(request));
    STREW_ASSIGN(TunedKernel kernel, TunedKernel::make(*runtime->runtime, *op->op, wanted,
                                                       {known.regret, known.candidates, text_or_empty(known.wisdom_file)}));
    *out = new strew_tuned_kernel{std::move(kernel)};
    return {};
  });
}
strew_status strew_tuned_kernel_run(const strew_tuned_kernel* kernel, const strew_tensor* tensors, size_t tensor_count,
                                    const strew_call_options* options) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_tensors(tensors, tensor_count));
    return with_call_options(options, [&](const CallOptions& how) {
      if (how.threads != 0 || how.executor != nullptr)
        return invalid_argument(
            "options: threads or executor is set, expected the kernel's own: calls are timed beside each other");
      return kernel->kernel.run(as_views(tensors, tensor_count), how.bad_index);
    });
  });
}
strew_status strew_tuned_kernel_in_use(const strew_tuned_kernel* kernel, strew_kernel_ref** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    STREW_TRY(check_not_null(out, "out"));
    *out = make_ref(*kernel->kernel.stats().in_use);
    return {};
  });
}
strew_status strew_tuned_kernel_stats(const strew_tuned_kernel* kernel, strew_tuned_stats* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(kernel, "kernel"));
    const TunedKernel::Stats now = kernel->kernel.stats();
    const strew_tuned_stats filled{sizeof filled, now.is_settled ? 1 : 0, now.trials, now.total_ns, now.regret_ns, now.ratio};
    return give_struct(out, filled, "out");
  });
}
void strew_tuned_kernel_free(strew_tuned_kernel* kernel) { delete kernel; }
