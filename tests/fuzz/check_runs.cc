// Runs of imported programs on generated data. See check.h.
//
// Sizes come from the file, so a few bytes may ask for any amount of memory and time: a program runs only if its tensors together, and the
// steps its kernels and computes take by their static sizes, stay below kMostWork. Dims that the file leaves open all get one small
// extent. Kernels with policy `undefined` are left alone: they may read and write anywhere if an index is bad.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/number.h"
#include "strew/run_program.h"
#include "tests/fuzz/check.h"
#include "tests/support/options.h"
#include "tests/support/rng.h"

namespace strew::fuzz {
namespace {

constexpr double kMostWork = 50'000;

double elements_of(const TensorType& type, int64_t open) {
  double out = 1;
  for (const int64_t dim : type.dims) out *= static_cast<double>(dim == kDynamic ? open : dim);
  return out;
}

/// The elements of memory that a tensor of this type reaches over.
double span_of(const TensorType& type, int64_t open) {
  double out = 1;
  for (size_t d = 0; d < type.strides.size(); ++d) {
    const double extent = static_cast<double>(type.dims[d] == kDynamic ? open : type.dims[d]);
    if (type.strides[d] != kDynamic) out += extent * std::abs(static_cast<double>(type.strides[d]));
  }
  return std::max(out, elements_of(type, open));
}

double work_of(const ProgramKernel& kernel, int64_t open) {
  double out = 0, most = 0;
  for (const TensorSlot& slot : tensor_slots(kernel.op)) {
    out += span_of(*slot.type, open);
    most = std::max(most, elements_of(*slot.type, open));
  }
  const Scatter* scatter = std::get_if<Scatter>(&*kernel.op);
  const Expr& expr = scatter != nullptr ? scatter->expr : std::get<Gather>(*kernel.op).expr;
  return out + most * static_cast<double>(4 + expr.nodes.size());
}

double work_of(const Program& imported, int64_t open) {
  double out = 0;
  for (const Value& value : imported.values()) out += elements_of(value.type, open);
  for (const ProgramInput& input : imported.inputs()) out += elements_of(input.type, open);
  for (const ProgramKernel& kernel : imported.kernels()) out += work_of(kernel, open);
  for (const Compute& compute : imported.computes()) {
    double most = 0;
    for (const TensorType& type : compute.results) most = std::max(most, elements_of(type, open));
    for (const int v : compute.arguments) most = std::max(most, elements_of(imported.value(v).type, open));
    const Expr* function = nullptr;
    if (const auto* map = compute.as<MapOp>()) function = &map->function;
    if (const auto* reduce = compute.as<ReduceOp>()) function = &reduce->function;
    if (const auto* scan = compute.as<ScanOp>()) function = &scan->function;
    out += most * static_cast<double>(4 + (function == nullptr ? 0 : function->nodes.size()));
  }
  return out;
}

/// A false hint may give wrong values, and a relaxed fold any of several.
bool has_one_result(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  if (s == nullptr) return !std::get<Gather>(op).indices_are_sorted;
  return !s->indices_are_sorted && !s->unique_indices && s->order == Order::in_order;
}

/// Integers near 0 as indices are, some of them at an end of their type; floats of any bits.
Scalar generated_element(DType dtype, test::Rng& rng) {
  if (is_integer(dtype) || dtype == DType::boolean) {
    if (dtype != DType::boolean && rng.chance(10)) return {dtype, {encode_i64(dtype, rng.chance(50) ? INT64_MAX : INT64_MIN), 0}};
    return {dtype, {encode_i64(dtype, dtype == DType::boolean ? rng.below(2) : rng.between(-2, 6)), 0}};
  }
  if (is_float(dtype) && rng.chance(70)) return {dtype, {encode(dtype, 0.25 * static_cast<double>(rng.between(-20, 20))), 0}};
  Scalar any{dtype, {rng.next(), rng.next()}};
  const int width = bits(dtype);
  if (width < 128) any.bits[1] &= width <= 64 ? 0 : (uint64_t{1} << (width - 64)) - 1;
  if (width < 64) any.bits[0] &= (uint64_t{1} << width) - 1;
  return any;
}

Tensor generated_tensor(const TensorType& type, int64_t open, test::Rng& rng) {
  std::vector<int64_t> dims = type.dims;
  for (int64_t& dim : dims) dim = dim == kDynamic ? open : dim;
  Expected<Tensor> made = make_tensor(type.dtype, std::move(dims));
  if (!made.ok()) broken("a small tensor cannot be made: " + made.status().message());
  Tensor tensor = std::move(*made);
  if (type.dtype == DType::string) {
    std::vector<std::string> strings;
    for (int64_t i = 0; i < tensor.elements(); ++i) strings.emplace_back(static_cast<size_t>(rng.below(4)), 's');
    set_strings(tensor, std::move(strings));
    return tensor;
  }
  for (int64_t i = 0; i < tensor.elements(); ++i)
    store_element(type.dtype, tensor.data.data(), i, generated_element(type.dtype, rng));
  return tensor;
}

using Inputs = std::vector<std::unique_ptr<Tensor>>;

/// The same inputs for every call with one seed.
Inputs generated_inputs(const Program& imported, int64_t open, uint64_t seed) {
  test::Rng rng(seed);
  Inputs out;
  for (const ProgramInput& input : imported.inputs()) {
    const bool left_out = input.optional && rng.chance(50);
    out.push_back(left_out ? nullptr : std::make_unique<Tensor>(generated_tensor(input.type, open, rng)));
  }
  return out;
}

Expected<std::vector<Tensor>> run(const Program& imported, Inputs inputs, const std::string& backend) {
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = test::backend(backend);
  options.kernel.threads = 1;
  return run_program(runtime, imported, std::move(inputs), options);
}

/// Where the two differ, "" if nowhere.
std::string difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return "another number of outputs";
  for (size_t r = 0; r < a.size(); ++r) {
    const std::string output = "output " + std::to_string(r);
    if (a[r].dtype != b[r].dtype || a[r].dims != b[r].dims) return output + " has another type";
    for (int64_t i = 0; i < a[r].elements(); ++i) {
      const bool same = a[r].dtype == DType::string ? string_at(a[r], i) == string_at(b[r], i)
                                                    : same_value(load_element(a[r].dtype, a[r].data.data(), i),
                                                                 load_element(b[r].dtype, b[r].data.data(), i));
      if (!same) return output + ", element " + std::to_string(i);
    }
  }
  return "";
}

}  // namespace

void check_runs(const Program& plain, const Program& folded, uint64_t seed) {
  const auto open = static_cast<int64_t>(seed % 4);
  if (work_of(plain, open) > kMostWork || work_of(folded, open) > kMostWork) return;
  const auto undefined = [](const ProgramKernel& kernel) { return oob_of(kernel.op) == OobPolicy::undefined; };
  if (std::any_of(plain.kernels().begin(), plain.kernels().end(), undefined)) return;
  if (std::any_of(folded.kernels().begin(), folded.kernels().end(), undefined)) return;

  const auto reference = run(folded, generated_inputs(folded, open, seed), "reference");
  const auto unfolded = run(plain, generated_inputs(plain, open, seed), "reference");
  if (!reference.ok()) check_refusal(reference.status());
  if (!unfolded.ok()) check_refusal(unfolded.status());
  for (const ProgramKernel& kernel : plain.kernels())
    if (!has_one_result(kernel.op)) return;
  for (const ProgramKernel& kernel : folded.kernels())
    if (!has_one_result(kernel.op)) return;
  // An operation that strew does not run may give what the fused kernel does not need, such as the shape of a tensor that became a number.
  if (reference.ok() && !unfolded.ok() && unfolded.status().code() == Code::unsupported) return;
  if (reference.ok() != unfolded.ok())
    broken("folding changes whether a run fails: " + (reference.ok() ? unfolded : reference).status().message());
  if (!reference.ok()) return;
  if (const std::string where = difference(*reference, *unfolded); !where.empty()) broken("folding changes the result: " + where);

  const std::string npu = seed % 2 == 0 ? "npu-a3" : "npu-a5";
  const auto simulated = run(folded, generated_inputs(folded, open, seed), npu);
  if (!simulated.ok() && simulated.status().code() == Code::unsupported) return;
  if (!simulated.ok()) broken(npu + " fails where the reference does not: " + simulated.status().message());
  if (const std::string where = difference(*reference, *simulated); !where.empty()) broken(npu + " has another result: " + where);
}

}  // namespace strew::fuzz
