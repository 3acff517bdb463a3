// See program_check.h. Inputs lie in memory that cannot be written, unless they are donated, and outputs of the caller's between guard pages and
// canaries. NaNs that were computed may have any bits; elements that were only moved keep theirs. Of the error that a bad index makes,
// the code must be the same; where a call has several errors, any may be told.
//
// Tested by tests/differential/run_planted.py.
#include "tests/differential/programs/program_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>
#include <thread>

#include "backends/reference/reference.h"
#include "compiler/import/import_bytes.h"
#include "compiler/program/run.h"
#include "compiler/program/steps/steps.h"
#include "runtime/call/executor/thread_pool.h"
#include "tests/differential/programs/partition_check.h"
#include "tests/differential/programs/program_inputs.h"
#include "tests/differential/random_limits.h"
#include "tests/support/elements.h"
#include "tests/support/options.h"
#include "tests/support/programs.h"
#include "tests/support/rule_label.h"

namespace strew::test {
namespace {

constexpr int kCalls = 3, kWays = 4;
constexpr int64_t kForgetEvery = 500;  // programs
constexpr std::byte kCanary{0xa5};

Tensor copy_of(const Tensor& tensor) {
  Tensor out = make_tensor(tensor.dtype, tensor.dims).value();
  if (tensor.data.size() > 0) std::memcpy(out.data.data(), tensor.data.data(), static_cast<size_t>(tensor.data.size()));
  return out;
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string out = "[";
  for (const int64_t d : dims) out += (out.size() > 1 ? "," : "") + std::to_string(d);
  return out + "]";
}

/// Where output `number` differs.
std::optional<std::string> difference(const RandomProgram& drawn, size_t number, const Tensor& want, const Tensor& got) {
  if (want.dtype != got.dtype || want.dims != got.dims)
    return fmt::format("out{}: dims {}, expected {}", number, dims_text(got.dims), dims_text(want.dims));
  for (int64_t e = 0; e < want.elements(); ++e) {
    const Scalar a = load_element(want.data.data(), want.dtype, e), b = load_element(got.data.data(), got.dtype, e);
    if (a == b || (!drawn.is_moved[number] && same_value(a, b))) continue;
    return fmt::format("out{} {}, element {}: expected {}, got {}", number, dims_text(want.dims), e, bits_text(a), bits_text(b));
  }
  return std::nullopt;
}

std::optional<std::string> difference(const RandomProgram& drawn, const Expected<std::vector<Tensor>>& want,
                                      const Expected<std::vector<Tensor>>& got, bool one_error) {
  if (!want.ok() || !got.ok()) {
    if (!want.ok() && !got.ok() && (!one_error || want.status().code() == got.status().code())) return std::nullopt;
    return fmt::format("expected {}, got {}", want.ok() ? "results" : want.status().message(),
                       got.ok() ? "results" : got.status().message());
  }
  for (size_t i = 0; i < want->size(); ++i)
    if (auto found = difference(drawn, i, (*want)[i], (*got)[i])) return found;
  return std::nullopt;
}

/// Are the bytes around the buffer's own as they were?
bool is_kept_around(const GuardedBuffer& buffer) {
  const std::span<std::byte> all = buffer.all();
  for (size_t i = 0; i < all.size(); ++i)
    if ((i < buffer.offset() || i >= buffer.offset() + buffer.size()) && all[i] != kCanary) return false;
  return true;
}

void count(std::map<std::string, int64_t>& into, const std::map<std::string, int>& from) {
  for (const auto& [name, number] : from) into[name] += number;
}

}  // namespace

void ProgramTally::add(const RandomProgram& drawn) {
  ++programs;
  kernels += static_cast<int64_t>(drawn.program.kernels().size());
  operations += static_cast<int64_t>(drawn.program.computes().size());
  for (const auto& [name, number] : drawn.nodes) nodes += number;
  count(kinds, drawn.nodes);
  count(refused, drawn.refused);
}

void ProgramTally::add_finished(const Program& finished) {
  for (const Compute& compute : finished.computes())
    if (compute.disposition == ComputeDisposition::folded || compute.disposition == ComputeDisposition::fused) ++folded;
  for (const ProgramKernel& kernel : finished.kernels())
    for (std::string note : kernel.notes) {
      constexpr size_t kLongest = 90;
      std::replace_if(
          note.begin(), note.end(), [](unsigned char c) { return std::isdigit(c) != 0; }, '#');
      ++notes[note.substr(0, kLongest)];
    }
}

std::string ProgramTally::write() const {
  std::string out = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", programs, nodes, kernels, operations, folded, calls,
                                runs, failures, donated, refusals, bad_indices, stepped);
  for (const auto& [name, number] : kinds) out += fmt::format("{} {}\n", name, number);
  return out;
}

void ProgramTally::merge(const std::string& report) {
  std::istringstream in(report);
  ProgramTally t;
  in >> t.programs >> t.nodes >> t.kernels >> t.operations >> t.folded >> t.calls >> t.runs >> t.failures >> t.donated >>
      t.refusals >> t.bad_indices >> t.stepped;
  programs += t.programs, nodes += t.nodes, kernels += t.kernels, operations += t.operations, folded += t.folded;
  calls += t.calls, runs += t.runs, failures += t.failures, donated += t.donated, refusals += t.refusals,
      bad_indices += t.bad_indices, stepped += t.stepped;
  std::string name;
  for (int64_t number = 0; in >> name >> number;) kinds[name] += number;
}

std::string ProgramTally::text() const {
  std::string out = fmt::format(
      "{} programs: {} nodes, {} kernels, {} operations around them, {} of which became part of kernels; {} calls, {} of which "
      "fail, {} for one bad index; {} runs, {} of "
      "which have an output where an input is, and {} of which portable refuses; {} runs as steps of a library",
      programs, nodes, kernels, operations, folded, calls, failures, bad_indices, runs, donated, refusals, stepped);
  for (const auto& [name, number] : kinds) out += fmt::format("\n  {:22}{:8}", name, number);
  return out;
}

std::string ProgramChecker::Way::text() const {
  static constexpr const char* kNames[] = {"inputs donated", "inputs read-only", "into the caller's outputs",
                                           "an output where an input is", "two runs at once"};
  return fmt::format("backend {}, {} threads, at most {}, {}{}", backend, threads, most_threads,
                     kNames[static_cast<size_t>(buffers)], compiles ? ", operations compiled" : "");
}

ProgramChecker::ProgramChecker(std::string backend)
    : backend_(std::move(backend)),
      limits_(std::make_shared<ExecutionLimits>()),
      runtime_(std::make_unique<Runtime>(
          ExecutionSettings{std::make_shared<ThreadPool>(ThreadPoolOptions{kMostThreads, false, true}), limits_})) {}

std::string ProgramChecker::describe(int signal, const void* address) const {
  const std::string where = pool_.describe(address);
  return fmt::format("{} at {} {} in {}", signal_name(signal), address, where.empty() ? "" : "(" + where + ")", running_);
}

ProgramChecker::Way ProgramChecker::random_way(Rng& rng, size_t number) const {
  static const std::vector<int> threads{1, 2, 8};
  Way way;
  way.backend = !backend_.empty() ? backend_ : number % 3 == 2 ? "portable" : "auto";
  way.threads = rng.chance(70) ? 8 : rng.pick(threads);
  way.most_threads = rng.pick(threads);
  way.buffers = static_cast<Buffers>(rng.below(5));
  way.compiles = number % 2 == 0;
  return way;
}

ProgramChecker::Results ProgramChecker::interpreted(const Program& program, const std::vector<Tensor>& inputs) {
  KernelOptions options;
  options.backend = backend("reference");
  const auto run = [&](const ProgramKernel& kernel, std::span<const TensorView> views, BadIndex* bad) -> Status {
    STREW_ASSIGN(const Kernel reference, runtime_->get(kernel.op, options));
    return reference.run(views, bad);
  };
  std::vector<std::unique_ptr<Tensor>> given;
  for (const Tensor& input : inputs) given.push_back(std::make_unique<Tensor>(copy_of(input)));
  ProgramMemory memory;
  return run_imported(program, std::move(given), memory, {run, nullptr, 0, nullptr});
}

/// The portable backend has no loops for some graphs, which `auto` gives to others. Runs that it refuses are counted.
bool ProgramChecker::is_refusal(const Way& way, const Status& status) {
  const bool refuses = way.backend == "portable" && status.code() == Code::unsupported;
  tally_.refusals += refuses ? 1 : 0;
  return refuses;
}

bool ProgramChecker::is_refusal(const Way& way, const Results& got) { return !got.ok() && is_refusal(way, got.status()); }

/// The inputs in guarded memory that cannot be written.
std::vector<std::unique_ptr<Tensor>> ProgramChecker::lent(const std::vector<Tensor>& inputs) {
  std::vector<std::unique_ptr<Tensor>> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    const auto bytes = static_cast<size_t>(input.data.size());
    GuardedBuffer& buffer = pool_.take(bytes, Flush::end, fmt::format("input {}", i));
    if (bytes > 0) std::memcpy(buffer.writable(), input.data.data(), bytes);
    out.push_back(
        std::make_unique<Tensor>(Tensor{input.dtype, input.dims, Buffer::share({buffer.read_only(), bytes}, nullptr), {}}));
  }
  return out;
}

std::optional<std::string> ProgramChecker::run_into(const RandomProgram& drawn, const Program& finished,
                                                    const std::vector<Tensor>& inputs, const Results& want, const Way& way,
                                                    Rng& rng) {
  std::vector<std::unique_ptr<Tensor>> given = lent(inputs);
  std::vector<GuardedBuffer*> buffers;
  for (size_t i = 0; i < want->size(); ++i) {
    const Tensor& output = (*want)[i];
    const auto bytes = static_cast<size_t>(output.data.size());
    buffers.push_back(&pool_.take(bytes, Flush::end, fmt::format("output {}", i)));
    std::fill(buffers.back()->all().begin(), buffers.back()->all().end(), kCanary);
  }
  if (way.buffers == Buffers::in_place) {
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t o = 0; o < want->size(); ++o)
        if (inputs[i].dtype == (*want)[o].dtype && inputs[i].dims == (*want)[o].dims && inputs[i].data.size() > 0)
          pairs.emplace_back(i, o);
    if (!pairs.empty()) {
      const auto [i, o] = rng.pick(pairs);
      const auto bytes = static_cast<size_t>(inputs[i].data.size());
      std::memcpy(buffers[o]->writable(), inputs[i].data.data(), bytes);
      given[i]->data = Buffer::borrow({buffers[o]->writable(), bytes});
      ++tally_.donated;
    }
  }
  std::vector<TensorView> views;
  for (size_t i = 0; i < want->size(); ++i)
    views.emplace_back(TensorView{buffers[i]->writable(), (*want)[i].dtype, static_cast<int32_t>((*want)[i].dims.size()),
                                  (*want)[i].dims.data(), nullptr});
  ProgramOptions options;
  options.kernel.backend = test::backend(way.backend);
  options.kernel.threads = way.threads;
  if (way.compiles) options.interpreted_elements = 0;
  const Status status = way.compiles ? runnable_->run_into(*runtime_, std::move(given), views, options)
                                     : run_program_into(*runtime_, finished, std::move(given), views, options);
  if (is_refusal(way, status)) return std::nullopt;
  if (!status.ok()) return status.message();
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!is_kept_around(*buffers[i])) return fmt::format("out{}: bytes outside of the caller's buffer were written", i);
    const Tensor got{(*want)[i].dtype, (*want)[i].dims, Buffer::borrow({buffers[i]->writable(), buffers[i]->size()}), {}};
    if (auto found = difference(drawn, i, (*want)[i], got)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> ProgramChecker::run_and_compare(const RandomProgram& drawn, const Program& finished,
                                                           const std::vector<Tensor>& inputs, const Results& want, bool one_error,
                                                           const Way& way, Rng& rng) {
  ++tally_.runs;
  if (want.ok() && (way.buffers == Buffers::into || way.buffers == Buffers::in_place))
    return run_into(drawn, finished, inputs, want, way, rng);
  std::vector<std::unique_ptr<Tensor>> given;
  if (way.buffers == Buffers::owned)
    for (const Tensor& input : inputs) given.push_back(std::make_unique<Tensor>(copy_of(input)));
  else
    given = lent(inputs);
  ProgramOptions options;
  options.kernel.backend = test::backend(way.backend);
  options.kernel.threads = way.threads;
  if (way.compiles) options.interpreted_elements = 0;
  const auto run = [&](std::vector<std::unique_ptr<Tensor>> tensors) {
    return way.compiles ? runnable_->run(*runtime_, std::move(tensors), options)
                        : run_program(*runtime_, finished, std::move(tensors), options);
  };
  std::optional<Results> other;
  std::vector<std::unique_ptr<Tensor>> given_other;
  std::thread thread;
  if (way.buffers == Buffers::together) {
    given_other = lent(inputs);
    thread = std::thread([&] { other.emplace(run(std::move(given_other))); });
  }
  const Results got = run(std::move(given));
  if (thread.joinable()) thread.join();
  if (other && !is_refusal(way, *other))
    if (auto found = difference(drawn, want, *other, one_error)) return "in the other thread: " + *found;
  if (is_refusal(way, got)) return std::nullopt;
  return difference(drawn, want, got, one_error);
}

std::optional<std::string> ProgramChecker::compare_call(const RandomProgram& drawn, const Program& finished,
                                                        const std::vector<Tensor>& inputs, bool one_error, Rng& rng) {
  ++tally_.calls;
  *limits_ = ExecutionLimits();
  running_ = "interpreter";
  const Results want = interpreted(drawn.program, inputs);
  if (!want.ok()) ++tally_.failures;
  // A gather from a table without elements is refused under clamp and wrap; a look-up of it, which it may have become, combines nothing
  // (docs/semantics.md section 8).
  if (!want.ok() && rule_label(want.status().message()) == "gather_empty") return std::nullopt;
  if (one_error && !want.ok()) ++tally_.bad_indices;
  for (size_t n = 0; n < kWays; ++n) {
    const Way way = random_way(rng, n);
    running_ = way.text();
    *limits_ = rng.chance(75) ? small_limits(rng, way.most_threads, 64) : ExecutionLimits();
    limits_->most_threads = way.most_threads;
    const auto found = run_and_compare(drawn, finished, inputs, want, one_error, way, rng);
    pool_.release_all();
    if (found) return found;
  }
  running_ = "steps of a kernel library";
  auto found = run_as_steps(drawn, finished, inputs, want, one_error, rng);
  pool_.release_all();
  return found;
}

/// Some programs are refused, because an extent depends on an element or because an operation is only interpreted.
std::optional<std::string> ProgramChecker::run_as_steps(const RandomProgram& drawn, const Program& finished,
                                                        const std::vector<Tensor>& inputs, const Results& want, bool one_error,
                                                        Rng& rng) {
  StepOptions how;
  how.run_known = run_reference;
  how.extents = extents_of(finished, inputs);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; want.ok() && i < inputs.size(); ++i)
    for (size_t o = 0; o < want->size(); ++o)
      if (inputs[i].dtype == (*want)[o].dtype && inputs[i].dims == (*want)[o].dims) pairs.emplace_back(i, o);
  const bool updates = !pairs.empty() && rng.chance(50);
  const auto [updated, becomes] = updates ? rng.pick(pairs) : std::pair<size_t, size_t>();
  if (updates) how.in_place.emplace_back(finished.inputs()[updated].name, finished.outputs()[becomes].name);
  const Expected<ProgramSteps> steps = steps_of(finished, how);
  if (!steps.ok()) return steps.status().code() == Code::internal ? std::optional(steps.status().message()) : std::nullopt;
  ++tally_.stepped;
  std::vector<GuardedBuffer*> buffers;
  std::vector<TensorView> views;
  for (size_t t = 0; t < steps->tensors.size(); ++t) {
    const CallerTensor& tensor = steps->tensors[t];
    int64_t elements = 1;
    for (const int64_t extent : tensor.type.dims) elements *= extent;
    const auto bytes = static_cast<size_t>(storage_bytes(tensor.type.dtype, elements));
    GuardedBuffer& buffer = pool_.take(bytes, Flush::end, tensor.name);
    std::fill(buffer.all().begin(), buffer.all().end(), kCanary);
    if (t < inputs.size() && bytes > 0) std::memcpy(buffer.writable(), inputs[t].data.data(), bytes);
    void* const data = tensor.use == TensorUse::input ? const_cast<std::byte*>(buffer.read_only()) : buffer.writable();
    views.push_back({data, tensor.type.dtype, tensor.type.rank(), tensor.type.dims.data(), nullptr});
    buffers.push_back(&buffer);
  }
  KernelOptions options;
  options.threads = rng.chance(50) ? 1 : 8;
  const Status status = run_steps(*runtime_, *steps, views, options, {});
  if (!status.ok() || !want.ok())
    return difference(drawn, want, status.ok() ? Results(std::vector<Tensor>()) : Results(status), one_error);
  for (size_t o = 0, next = inputs.size(); o < want->size(); ++o) {
    const size_t t = updates && o == becomes ? updated : next++;
    if (!is_kept_around(*buffers[t])) return fmt::format("out{}: bytes outside of the caller's buffer were written", o);
    const Tensor got{
        (*want)[o].dtype, steps->tensors[t].type.dims, Buffer::borrow({buffers[t]->writable(), buffers[t]->size()}), {}};
    if (auto found = difference(drawn, o, (*want)[o], got)) return found;
  }
  return std::nullopt;
}

std::optional<ProgramFailure> ProgramChecker::check(const RandomProgram& drawn, uint64_t seed) {
  tally_.add(drawn);
  if (tally_.programs % kForgetEvery == 0) runtime_->clear();
  if (const Status status = drawn.program.verify(); !status.ok())
    return ProgramFailure{status.message(), "the program that was drawn", ""};
  running_ = "import";
  std::optional<ProgramFailure> failure;
  const auto body = [&] {
    const Expected<Program> finished = finish_import(drawn.program, "drawn", {});
    if (!finished.ok()) {
      failure = ProgramFailure{finished.status().message(), running_, ""};
      return;
    }
    runnable_.emplace(*finished);
    tally_.add_finished(*finished);
    for (int call = 0; call < kCalls && !failure; ++call) {
      Rng rng = Rng::stream(seed, static_cast<uint64_t>(call));
      const std::vector<int64_t> variables = random_variables(drawn, call == 0, rng);
      std::vector<Tensor> inputs = random_inputs(drawn, variables, rng);
      running_ = "interpreter";
      // Where a call would fail anyway, it may fail for another reason than with a bad index, of which there are two then.
      const bool spoils = rng.chance(15) && interpreted(drawn.program, inputs).ok() && spoil_index(drawn, variables, inputs, rng);
      const auto found = compare_call(drawn, *finished, inputs, spoils, rng);
      if (found)
        failure = ProgramFailure{fmt::format("call {} with variables {}: {}", call, dims_text(variables), *found), running_,
                                 listing(*finished)};
      if (call > 0 || failure) continue;
      running_ = "parts";
      Rng of_parts = Rng::stream(seed, kCalls);
      PartitionTally parts;
      const auto run = [&](const Program& program, const std::vector<Tensor>& given) { return interpreted(program, given); };
      const auto wrong = check_partitions(*finished, inputs, run, of_parts, parts);
      if (wrong) failure = ProgramFailure{*wrong, running_, listing(*finished)};
    }
  };
  const Caught caught = catch_fault(body);
  if (caught.faulted) return ProgramFailure{describe(caught.signal, caught.address), running_, "", true};
  return failure;
}

}  // namespace strew::test
