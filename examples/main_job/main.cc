// The main job (`./dev run`): two files as a model exporter writes them, from file to machine code, told in plain words.
//
// For each file: what it says (the op), what strew makes of it (the plan), which backend builds it and why, the time to compile, the
// result against the reference backend bit for bit, and the time per call next to a memcpy of the same bytes in the same run. Inputs
// are generated here from a fixed seed. At the end the program starts itself three times, to show how long a service waits for its first
// kernel: without a cache of kernels, with one, and with portable kernels that answer at once. Run by ctest as main_job with --quick, which only shortens the timing.
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "strew/strew.hpp"

namespace {

using strew::Role;

struct Job {
  std::string file, story;
  /// Writes index set `turn` of an endless sequence.
  std::function<void(strew::Tensor& indices, int turn)> indices;
};

/// What a failed call prints; main() turns it into exit status 1.
struct Failure {
  std::string message;
};

template <class T>
T value_or_fail(strew::Expected<T> value) {
  if (!value.ok()) throw Failure{value.status().message()};
  return std::move(value).value();
}
void ok_or_fail(const strew::Status& status) {
  if (!status.ok()) throw Failure{status.message()};
}

/// Numbers in (-1, 1) whose sums round, so that a changed order of additions would show in the bits.
void fill_floats(strew::Tensor& tensor, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const float value = uniform(random);
    if (tensor.dtype == strew::DType::f32) {
      std::memcpy(tensor.data.data() + 4 * i, &value, 4);
    } else {  // bf16 is the upper half of an f32
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      const uint16_t upper = static_cast<uint16_t>(bits >> 16);
      std::memcpy(tensor.data.data() + 2 * i, &upper, 2);
    }
  }
}

/// One tensor per slot of the op, and the views a kernel takes.
struct Bound {
  std::vector<strew::Tensor> tensors;
  std::vector<strew::TensorView> views;
  size_t result = 0, indices = 0, updates = 0;

  explicit Bound(const strew::Op& op) {
    for (const strew::TensorSlot& slot : strew::tensor_slots(op)) {
      if (slot.role == Role::result) result = tensors.size();
      if (slot.role == Role::indices) indices = tensors.size();
      if (slot.role == Role::updates) updates = tensors.size();
      tensors.push_back(value_or_fail(strew::make_tensor(slot.type->dtype, slot.type->dims)));
      if (slot.role != Role::indices) fill_floats(tensors.back(), static_cast<uint32_t>(tensors.size()));
    }
    for (const strew::Tensor& tensor : tensors) views.push_back(tensor.view());
  }
};

void explain(const strew::Kernel& kernel) {
  std::printf("\nThe file as strew's one op:\n  %s\n", kernel.op_text().c_str());
  std::printf("\nThe plan (what the op does to addresses):\n");
  const std::string plan = kernel.plan_text();
  for (size_t at = 0; at < plan.size();) {
    const size_t end = std::min(plan.find('\n', at), plan.size());
    std::printf("  %.*s\n", static_cast<int>(end - at), plan.c_str() + at);
    at = end + 1;
  }
  std::printf("\nWho can build it, best first:\n");
  using strew::BackendChoice;
  for (const BackendChoice backend :
       {BackendChoice::llvm, BackendChoice::halide, BackendChoice::portable, BackendChoice::reference}) {
    const strew::Expected<strew::Kernel> built = strew::Runtime::process().get(kernel.op(), {.backend = backend});
    std::printf("  %-10s %s%s\n", std::string(name(backend)).c_str(),
                built.ok() ? "yes" : ("no: " + built.status().message()).c_str(),
                name(backend) == kernel.backend() ? "   <- chosen: the first that can" : "");
  }
  std::printf("  schedule %s, target %s\n", strew::print(kernel.schedule()).c_str(), strew::print(kernel.target()).c_str());
}

/// Runs kernel and reference on equal inputs and compares every byte of the result.
void compare(const Job& job, const strew::Op& op, const strew::Kernel& kernel) {
  const strew::Kernel reference = value_or_fail(strew::Runtime::process().get(op, {.backend = strew::BackendChoice::reference}));
  Bound ours(op), theirs(op);
  for (Bound* bound : {&ours, &theirs}) job.indices(bound->tensors[bound->indices], 0);
  ok_or_fail(kernel.run(ours.views));
  ok_or_fail(reference.run(theirs.views));
  const strew::Buffer &a = ours.tensors[ours.result].data, &b = theirs.tensors[theirs.result].data;
  if (std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size())) != 0) throw Failure{"the result differs from the reference"};
  std::printf("  compared     all %lld bytes of the result equal the reference backend's\n", static_cast<long long>(a.size()));
}

double nanoseconds_per_call(const std::function<void(int)>& call, int first, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call(first + i);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls;
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

std::string duration(double nanoseconds) {
  char text[32];
  if (nanoseconds < 1e4)
    std::snprintf(text, sizeof text, "%.0f ns", nanoseconds);
  else
    std::snprintf(text, sizeof text, "%.1f us", nanoseconds / 1e3);
  return text;
}

/// Times calls and, in turn with them, a memcpy that moves as many bytes: updates are read, destinations written, and read too unless
/// they are only overwritten. The copies go to ever new places of a buffer as large as the result, so both find their memory equally cold.
void time(const Job& job, const strew::Op& op, const strew::Kernel& kernel, bool quick) {
  Bound bound(op);
  const int64_t payload = bound.tensors[bound.updates].data.size(), room = bound.tensors[bound.result].data.size();
  const bool assigns = std::get<strew::Scatter>(op).combiner == strew::CombinerKind::assign;
  const int64_t moved = payload * (assigns ? 2 : 3), copied = moved / 2;
  std::vector<std::byte> source(static_cast<size_t>(copied)), destination(static_cast<size_t>(room));
  const auto call = [&](int turn) {
    job.indices(bound.tensors[bound.indices], turn);
    ok_or_fail(kernel.run(bound.views));
  };
  const auto copy = [&](int turn) {
    const int64_t at = turn * (copied + 4096) % (room - copied) / 64 * 64;
    std::memcpy(destination.data() + at, source.data(), source.size());
    asm volatile("" : : "r"(destination.data()) : "memory");
  };
  const int batch = 32, rounds = quick ? 5 : 101;
  std::vector<double> calls, copies;
  for (int round = -2; round < rounds; ++round) {  // two to warm up
    const int first = (round + 2) * batch;
    const double call_time = nanoseconds_per_call(call, first, batch), copy_time = nanoseconds_per_call(copy, first, batch);
    if (round < 0) continue;
    calls.push_back(call_time);
    copies.push_back(copy_time);
  }
  const double ours = median(calls), memcpy_time = median(copies);
  std::printf("  per call     %s in place, through the C++ API (median of %d calls)\n", duration(ours).c_str(), rounds * batch);
  std::printf("  memcpy       %s for the same %lld KiB: the call reaches %.2f of memcpy's speed\n", duration(memcpy_time).c_str(),
              static_cast<long long>(moved >> 10), memcpy_time / ours);
}

void run(const Job& job, bool quick) {
  std::printf("\n==== examples/%s\n%s\n", job.file.c_str(), job.story.c_str());
  const strew::Program imported = value_or_fail(strew::import_file(std::string(STREW_EXAMPLES "/") + job.file, {}));
  strew::Op op = imported.kernels().front().op;
  // An op is a plain value. The file describes a new tensor; a caller who lends the old one's memory asks for in_place.
  std::get<strew::Scatter>(op).init = strew::InitKind::in_place;

  const strew::Kernel kernel = value_or_fail(strew::Runtime::process().get(op));
  explain(kernel);
  std::printf("\nThe kernel:\n  compiled     in %.1f ms by %s, as %s\n", static_cast<double>(kernel.compile_nanoseconds()) / 1e6,
              std::string(kernel.backend()).c_str(), kernel.symbol().c_str());
  compare(job, op, kernel);
  time(job, op, kernel, quick);
}

std::vector<Job> jobs() {
  Job decode;
  decode.file = "kv_cache/decode.onnx";
  decode.story =
      "A language model writes one token: 8 samples, each with its own position in a static KV cache of 2048 tokens (bf16,\n"
      "8 heads x 128). An ONNX TensorScatter node: 64 rows of 256 bytes go to 8 places that only the call knows.";
  decode.indices = [](strew::Tensor& positions, int turn) {
    for (int64_t sample = 0; sample < positions.elements(); ++sample) {
      const int64_t position = (251 * sample + turn) % 2048;
      std::memcpy(positions.data.data() + 8 * sample, &position, 8);
    }
  };
  Job gradient;
  gradient.file = "batched_scatter_add/scatter_add.mlir";
  gradient.story =
      "The gradient of 8 embedding tables (4096 x 64, f32), as jax.vmap writes it in StableHLO: each table gets the gradient\n"
      "rows of its own 512 tokens added. Tokens repeat; strew adds in the file's order, so the bits never change.";
  gradient.indices = [](strew::Tensor& tokens, int turn) {
    uint32_t state = 12345;
    state += static_cast<uint32_t>(turn % 4);
    for (int64_t i = 0; i < tokens.elements(); ++i) {
      state = state * 1664525u + 1013904223u;
      const int32_t token = static_cast<int32_t>((state >> 16) % 4096 / (i % 3 + 1));
      std::memcpy(tokens.data.data() + 4 * i, &token, 4);
    }
  };
  return {decode, gradient};
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// What a process does that has just been started: asks for its first kernel, and calls it.
void start(const char* folder, bool waits) {
  const strew::Program imported = value_or_fail(strew::import_file(STREW_EXAMPLES "/kv_cache/decode.onnx", {}));
  strew::Op op = imported.kernels().front().op;
  std::get<strew::Scatter>(op).init = strew::InitKind::in_place;
  Bound bound(op);
  strew::Options options;
  options.cache_dir = folder;
  options.compile = waits ? strew::CompileMode::blocking : strew::CompileMode::background;
  strew::Runtime runtime(options);

  const auto asked = std::chrono::steady_clock::now();
  const strew::Kernel kernel = value_or_fail(runtime.get(op));
  ok_or_fail(kernel.run(bound.views));
  const double answered = milliseconds_since(asked);
  const bool was_stand_in = kernel.is_stand_in();
  while (kernel.is_stand_in()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  const strew::Runtime::Stats stats = runtime.stats();
  const char* const how = was_stand_in           ? "by a portable kernel"
                          : stats.disk_hits != 0 ? "by the kernel from the folder"
                                                 : "by a kernel that was compiled first";
  std::printf("%.2f ms after the request, %s", answered, how);
  if (was_stand_in) std::printf(", until the compiled one took its place after %.1f ms", milliseconds_since(asked));
  std::printf("\n");
}

/// Starts this program anew, with a folder that keeps compiled kernels.
void restart(const char* program, const char* what, const std::string& folder, const char* mode) {
  std::printf("  %-22s first call done ", what);
  std::fflush(stdout);
  const std::string command = "'" + std::string(program) + "' " + mode + " '" + folder + "'";
  if (std::system(command.c_str()) != 0) throw Failure{"'" + command + "' failed"};
}

void show_starts(const char* program) {
  std::printf(
      "\n==== A service starts\nIts first request is for the KV cache's kernel. Compiled kernels are kept in a folder for the "
      "next start.\n");
  std::string folder = (std::filesystem::temp_directory_path() / "strew_main_job_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw Failure{folder + ": cannot make a folder"};
  try {
    restart(program, "first start", folder, "--start");
    restart(program, "second start", folder, "--start");
    restart(program, "no folder, no waiting", "off", "--start-at-once");
  } catch (...) {
    std::filesystem::remove_all(folder);
    throw;
  }
  std::filesystem::remove_all(folder);
}

/// The exit status of `work`, whose failure is printed.
template <class Work>
int status_of(const std::string& what, const Work& work) {
  try {
    work();
    return 0;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "error: %s: %s\n", what.c_str(), failure.message.c_str());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 3 && first.starts_with("--start")) return status_of("start", [&] { start(argv[2], first == "--start"); });
  const bool quick = first == "--quick";
  std::printf("strew compiles indexed writes (scatter) and reads (gather) into machine code made for their shapes.\n");
  for (const Job& job : jobs())
    if (const int status = status_of(job.file, [&] { run(job, quick); }); status != 0) return status;
  return status_of("start", [&] { show_starts(argv[0]); });
}
