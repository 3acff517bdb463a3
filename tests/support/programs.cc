// See programs.h. Used by tests/golden/fusion_test.cc, tests/unit/compiler/import/fusion/fusion_test.cc and tests/replay.
#include "tests/support/programs.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "base/number.h"
#include "library/registry.h"
#include "runtime/call/library_program.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew::test {

std::string summary(const Program& imported) {
  std::string out;
  for (const ProgramKernel& kernel : imported.kernels()) {
    out += "kernel " + kernel.name + " " + print(kernel.op) + "\n";
    for (const std::string& note : kernel.notes) out += "  " + note + "\n";
  }
  static constexpr const char* kDispositions[] = {"interpreted", "folded", "fused", "unused"};
  for (const Compute& compute : imported.computes()) {
    const bool joined = compute.disposition == ComputeDisposition::folded || compute.disposition == ComputeDisposition::fused;
    const std::string place = compute.location.substr(compute.location.find(':') + 1);  // "LINE: stablehlo.add", without the file
    out += std::string(kDispositions[static_cast<size_t>(compute.disposition)]) +
           (joined ? " into " + imported.kernel(compute.kernel).name : "") + ", line " + place + "\n";
  }
  return out;
}

Tensor random_tensor(const TensorType& type, Rng& rng) {
  Tensor out = make_tensor(type.dtype, type.dims).value();
  const int width = bits(type.dtype);
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  for (int64_t i = 0; i < out.elements(); ++i) {
    uint64_t code = encode_i64(type.dtype, rng.between(-8, 9));
    if (is_integer(type.dtype) && rng.below(4) == 0) {
      const uint64_t most = is_signed_integer(type.dtype) ? mask >> 1 : mask, least = (most + 1) & mask;
      const auto near = static_cast<uint64_t>(rng.below(6));
      code = (rng.below(2) == 0 ? most - near : least + near) & mask;
    } else if (is_float(type.dtype)) {
      code = encode(type.dtype, 0.25 * static_cast<double>(rng.between(-20, 20)));
    }
    store_element(type.dtype, out.data.data(), i, Scalar{type.dtype, {code, 0}});
  }
  return out;
}

std::vector<Tensor> random_inputs(const Program& imported, Rng& rng) {
  std::vector<Tensor> out;
  for (const ProgramInput& input : imported.inputs()) out.push_back(random_tensor(input.type, rng));
  return out;
}

Expected<std::vector<Tensor>> run_copy(const Program& imported, const std::vector<Tensor>& inputs, const std::string& backend) {
  std::vector<std::unique_ptr<Tensor>> copies;
  for (const Tensor& input : inputs) {
    copies.push_back(std::make_unique<Tensor>(make_tensor(input.dtype, input.dims).value()));
    if (input.data.size() > 0) std::memcpy(copies.back()->data.data(), input.data.data(), static_cast<size_t>(input.data.size()));
  }
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = test::backend(backend);
  return run_program(runtime, imported, std::move(copies), options);
}

std::string difference(const Expected<std::vector<Tensor>>& got, const Expected<std::vector<Tensor>>& want) {
  if (!got.ok()) return got.status().message();
  if (!want.ok()) return want.status().message();
  if (got->size() != want->size()) return "another number of outputs";
  for (size_t r = 0; r < got->size(); ++r) {
    const Tensor &a = (*got)[r], &b = (*want)[r];
    if (a.dtype != b.dtype || a.dims != b.dims) return "output " + std::to_string(r) + " has another type";
    for (int64_t i = 0; i < a.elements(); ++i)
      if (!same_value(load_element(a.dtype, a.data.data(), i), load_element(b.dtype, b.data.data(), i)))
        return "output " + std::to_string(r) + ", element " + std::to_string(i);
  }
  return "";
}

bool is_same_bytes(const Expected<std::vector<Tensor>>& a, const Expected<std::vector<Tensor>>& b) {
  if (!a.ok() || !b.ok()) return !a.ok() && !b.ok() && a.status().message() == b.status().message();
  if (a->size() != b->size()) return false;
  for (size_t r = 0; r < a->size(); ++r) {
    const Tensor &x = (*a)[r], &y = (*b)[r];
    if (x.dims != y.dims ||
        (x.data.size() > 0 && std::memcmp(x.data.data(), y.data.data(), static_cast<size_t>(x.data.size())) != 0))
      return false;
  }
  return true;
}

std::map<std::string, int64_t> extents_of(const Program& imported, const std::vector<Tensor>& inputs) {
  std::map<std::string, int64_t> out;
  for (const Value& value : imported.values()) {
    for (size_t d = 0; value.kind == ValueKind::input && d < value.type.dims.size(); ++d)
      if (imported.input(value.index).type.dims[d] == kDynamic)
        out[extent_name(imported, value, d)] = inputs[static_cast<size_t>(value.index)].dims[d];
  }
  return out;
}

Status run_steps(Runtime& runtime, const ProgramSteps& steps, std::span<const TensorView> tensors, const KernelOptions& kernel,
                 const CallOptions& call) {
  struct Kernels final : LibraryKernels {
    Kernels(Runtime& from, const ProgramSteps& of, const KernelOptions& how) : runtime(from), steps(of), options(how) {}
    Status run(uint32_t number, std::span<const TensorView> operands, const CallOptions& how) override {
      STREW_ASSIGN(const Kernel found, runtime.get(*steps.steps[number].op, options));
      return found.run(operands, how);
    }
    Runtime& runtime;
    const ProgramSteps& steps;
    const KernelOptions& options;
  };
  std::vector<uint32_t> numbers(steps.steps.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  STREW_ASSIGN(const DescriptorImage image, make_registry("drawn", {}, {{"program", &steps, std::move(numbers)}}));
  std::vector<std::max_align_t> words(image.bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(words.data(), image.bytes.data(), image.bytes.size());
  const auto& library = *reinterpret_cast<const strew_library*>(words.data());
  const LibraryProgram& program = program_of(library, 0);
  STREW_TRY(check_program_tensors(library, program, tensors));
  STREW_ASSIGN(const Buffer arena, Buffer::allocate(std::max<int64_t>(program.arena_bytes, 1)));
  std::memset(arena.data(), 0xa5, static_cast<size_t>(arena.size()));
  Kernels kernels(runtime, steps, kernel);
  return run_program_of(library, program, tensors, arena.data(), kernels, call);
}

}  // namespace strew::test
