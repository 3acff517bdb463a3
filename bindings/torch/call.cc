#include "bindings/torch/call.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/csrc/stable/c/shim.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// What a parallel region of PyTorch's pool costs: its threads wait for work for a while.
constexpr int64_t kDispatchNanoseconds = 4000;

int32_t threads_of_pool(void*) { return at::in_parallel_region() ? 1 : at::get_num_threads(); }

struct Tasks {
  strew_task run;
  void* context;
};
/// By the function of PyTorch's library: its header's template is a parallel loop only where OpenMP is switched on, and would be one of another pool.
void run_in_pool(void*, int32_t count, strew_task task, void* context) {
  Tasks tasks{task, context};
  const auto range = [](int64_t begin, int64_t end, void* given) {
    const Tasks& all = *static_cast<const Tasks*>(given);
    for (int64_t i = begin; i < end; ++i) all.run(all.context, static_cast<int32_t>(i));
  };
  torch_parallel_for(0, count, 1, range, &tasks);
}

/// The runtime of PyTorch's calls, on its threads. It is never destroyed: calls may come while the process ends. Null if it could not be made.
strew_runtime* make_runtime() {
  strew_executor_callbacks callbacks = STREW_EXECUTOR_CALLBACKS_INIT;
  callbacks.threads = threads_of_pool;
  callbacks.parallel_for = run_in_pool;
  callbacks.dispatch_ns = kDispatchNanoseconds;
  strew_executor* executor = nullptr;
  strew_runtime* runtime = nullptr;
  strew_status status = strew_executor_create(&callbacks, &executor);
  if (status == nullptr) status = strew_runtime_create(nullptr, executor, &runtime);
  strew_status_free(status);
  strew_executor_free(executor);
  return runtime;
}

/// The place that remembers the kernels of all calls.
strew_site* site() {
  static strew_site* const made = [] {
    strew_site* out = nullptr;
    strew_runtime* const runtime = make_runtime();
    if (runtime != nullptr) strew_status_free(strew_site_create(runtime, &out));
    return out;
  }();
  return made;
}

/// A call does not wait for the compiler, unless the environment says so (docs/options.md).
const char* compile_mode() {
  static const char* const mode = [] {
    const char* const text = std::getenv("STREW_COMPILE");
    return text != nullptr && std::strcmp(text, strew_options_from_environment().compile) == 0 ? nullptr : "background";
  }();
  return mode;
}

constexpr const char* kCombiners[] = {"assign", "add", "mul", "max", "min"};

/// The graph of the element's old value %1 and the update %0, of this dtype: null for what an op has a word for.
std::string graph_of(Combiner combiner, strew_dtype type) {
  const std::string dtype = strew_dtype_name(type);
  const auto graph = [&](const char* compare, const char* nan, const char* taken, const char* other) {
    return "{%0=update(0):" + dtype + "; %1=current(0):" + dtype + "; %2=" + compare + "(%1,%0):bool; %3=ne(" + nan + "," + nan +
           "):bool; %4=or(%2,%3):bool; %5=select(%4," + taken + "," + other + "):" + dtype + "; return %5}";
  };
  switch (combiner) {
    case Combiner::max_or_kept:
      return graph("lt", "%0", "%0", "%1");
    case Combiner::min_or_kept:
      return graph("gt", "%0", "%0", "%1");
    case Combiner::max_or_update:
      return graph("gt", "%1", "%1", "%0");
    case Combiner::min_or_update:
      return graph("lt", "%1", "%1", "%0");
    case Combiner::assign:
    case Combiner::add:
    case Combiner::mul:
    case Combiner::max:
    case Combiner::min:
      return "";
  }
  return "";
}

/// All of a definition, and the number of threads that the schedule is for, as one number.
uint64_t variant_of(const Definition& what, size_t tensors, int threads) {
  uint64_t number = static_cast<uint64_t>(threads);
  number = number << 8 | tensors;
  number = number << 8 | static_cast<uint64_t>(what.axis);
  number = number << 4 | static_cast<uint64_t>(what.form);
  number = number << 4 | static_cast<uint64_t>(what.combiner);
  number = number << 2 | static_cast<uint64_t>(what.init);
  number = number << 1 | static_cast<uint64_t>(what.accumulates_wide);
  number = number << 1 | static_cast<uint64_t>(what.takes_negative);
  number = number << 1 | static_cast<uint64_t>(what.looks_up);
  number = number << 2 | static_cast<uint64_t>(what.factor);
  number = number << 1 | static_cast<uint64_t>(what.is_fused);
  number = number << 1 | static_cast<uint64_t>(what.is_sorted);
  number = number << 1 | static_cast<uint64_t>(what.is_batched);
  number = number << 1 | static_cast<uint64_t>(what.is_checked);
  number = number << 1 | static_cast<uint64_t>(what.returns_arg);
  return number << 1 | static_cast<uint64_t>(what.skips_bad);
}

struct Request {
  const Definition* what;
  const Tensors* tensors;
};

bool is_gather(Form form) {
  switch (form) {
    case Form::gather:
    case Form::gather_elements:
    case Form::gather_at:
      return true;
    case Form::scatter_rows:
    case Form::scatter_elements:
    case Form::scatter_at:
    case Form::sddmm:
    case Form::tensor_scatter:
      return false;
  }
  return false;
}

/// Whether the result is another tensor than what is indexed.
bool has_operand(const Definition& what) { return is_gather(what.form) || what.init == Init::copy; }

/// The order in which sddmm adds products: in eight sums side by side.
constexpr int32_t kSddmmLanes = 8;

/// A type of a table. An op may not take a row of a table that has none, so only the call says how many rows there are.
class OpenRows {
 public:
  explicit OpenRows(const strew_tensor& table) : open_(table) {
    std::copy_n(table.dims, table.rank, dims_.begin());
    dims_[0] = STREW_OPEN;
    open_.dims = dims_.data();
  }
  OpenRows(const OpenRows&) = delete;
  OpenRows& operator=(const OpenRows&) = delete;
  const strew_tensor* get() const { return &open_; }

 private:
  std::array<int64_t, kMostDims> dims_;
  strew_tensor open_;
};

strew_status builder_of(const Request& request, strew_op_builder** out) {
  const Definition& what = *request.what;
  const strew_tensor* const all = request.tensors->data();
  const strew_tensor& operand = all[has_operand(what) ? 1 : 0];
  const strew_tensor* const inputs = all + (has_operand(what) ? 2 : 1);
  const auto indices = [&](size_t updates) {
    std::array<strew_tensor, kMostTensors> each{inputs[0]};
    for (size_t i = 1 + updates; inputs + i < all + request.tensors->count(); ++i) each[i - updates] = inputs[i];
    return each;
  };
  switch (what.form) {
    case Form::scatter_rows:
      return strew_op_builder_scatter_rows(&operand, &inputs[0], &inputs[1], out);
    case Form::scatter_elements:
      return strew_op_builder_scatter_elements(&operand, &inputs[0], &inputs[1], what.axis, out);
    case Form::scatter_at:
      return strew_op_builder_scatter_at(&operand, indices(1).data(),
                                         request.tensors->count() - static_cast<size_t>(inputs - all) - 1, &inputs[1], out);
    case Form::gather:
      return strew_op_builder_gather(&operand, &inputs[0], what.axis, what.is_batched ? what.axis : 0, out);
    case Form::gather_elements:
      return strew_op_builder_gather_elements(&operand, &inputs[0], what.axis, out);
    case Form::gather_at:
      return strew_op_builder_gather_at(&operand, indices(0).data(), request.tensors->count() - static_cast<size_t>(inputs - all),
                                        out);
    case Form::sddmm: {
      const OpenRows lhs(all[2]), rhs(all[3]);
      return strew_op_builder_sddmm(lhs.get(), &all[4], rhs.get(), &all[5], kSddmmLanes, out);
    }
    case Form::tensor_scatter:
      return strew_op_builder_tensor_scatter(&operand, &inputs[0], &inputs[1], what.axis, 0, out);
  }
  return nullptr;
}

using OwnedBuilder = std::unique_ptr<strew_op_builder, void (*)(strew_op_builder*)>;

/// Where the tensors of a scatter are.
struct Places {
  explicit Places(const Definition& what) : indices((what.returns_arg ? 2U : 1U) + (has_operand(what) ? 1U : 0U)) {
    updates = indices + 1;
    factor = updates + (what.returns_arg ? 2U : 1U);
  }
  size_t indices, updates, factor;
};

constexpr const char* kFactorKinds[] = {"", "per_position", "per_element", "scalar"};

/// A scatter of rows whose updates are looked up in the table.
strew_status look_up_builder_of(const Request& request, strew_op_builder** out) {
  const strew_tensor* const all = request.tensors->data();
  const Places at(*request.what);
  const strew_tensor &table = all[at.updates], &numbers = all[request.tensors->count() - 1];
  const OpenRows open(table);
  std::array<int64_t, 2 * kMostDims> dims;
  strew_tensor updates = table;
  strew_op_builder* made = nullptr;
  strew_status status = strew_op_builder_gather_rows(open.get(), &numbers, &made);
  const OwnedBuilder gather(made, strew_op_builder_free);
  if (status == nullptr) status = strew_op_builder_set(made, "oob", "error");
  if (status != nullptr) return status;
  std::copy_n(table.dims + 1, table.rank - 1, std::copy_n(numbers.dims, numbers.rank, dims.begin()));
  updates.dims = dims.data();
  updates.strides = nullptr;
  updates.rank = table.rank - 1 + numbers.rank;
  status = strew_op_builder_scatter_rows(&all[has_operand(*request.what) ? 1 : 0], &all[at.indices], &updates, out);
  if (status == nullptr) status = strew_op_builder_look_up(*out, STREW_UPDATES, 0, made);
  return status;
}

/// The old value and the update times the factor, combined.
std::string graph_with_factor_of(const Request& request) {
  const strew_tensor* const all = request.tensors->data();
  const Places at(*request.what);
  const auto name = [](const strew_tensor& tensor) {
    return std::string(strew_dtype_name(static_cast<strew_dtype>(tensor.dtype)));
  };
  const std::string update = name(all[at.updates]), factor = name(all[at.factor]), result = name(all[0]);
  const Combiner combiner = request.what->combiner;
  const char* const fold = combiner == Combiner::max ? "maximum" : combiner == Combiner::min ? "minimum" : "add";
  std::string graph = "{%0=update(0):" + update + "; %1=extra(0):" + factor + "; %2=current(0):" + result + "; ";
  int last = 2;
  const auto add = [&](const std::string& node, const std::string& dtype) {
    graph += "%" + std::to_string(++last) + "=" + node + ":" + dtype + "; ";
    return "%" + std::to_string(last);
  };
  if (request.what->is_fused) return graph + "%3=fma(%0,%1,%2):" + result + "; return %3}";
  const std::string row = update == factor ? "%0" : add("convert(%0)", factor);
  const std::string product = add("multiply(" + row + ",%1)", factor);
  const std::string converted = factor == result ? product : add("convert(" + product + ")", result);
  const std::string combined = add(std::string(fold) + "(%2," + converted + ")", result);
  return graph + "return " + combined + "}";
}

strew_status make_op(void* context, strew_op** out) {
  const Request& request = *static_cast<const Request*>(context);
  const Definition& what = *request.what;
  strew_op_builder* made = nullptr;
  strew_status status = what.looks_up ? look_up_builder_of(request, &made) : builder_of(request, &made);
  const OwnedBuilder builder(made, strew_op_builder_free);
  if (what.form == Form::sddmm) return status == nullptr ? strew_op_builder_build(made, out) : status;
  if (status == nullptr && what.factor != Factor::none)
    status = strew_op_builder_extra(made, kFactorKinds[static_cast<size_t>(what.factor)],
                                    request.tensors->data() + Places(what).factor);
  const auto set = [&](const char* field, const char* value) {
    if (status == nullptr) status = strew_op_builder_set(made, field, value);
  };
  set("oob", what.is_checked ? "undefined" : what.skips_bad ? "skip_window" : "error");
  set("normalize_negative", what.takes_negative ? "true" : "false");
  if (!is_gather(what.form)) {
    const auto dtype = static_cast<strew_dtype>(request.tensors->data()->dtype);
    const std::string graph = what.factor == Factor::none ? graph_of(what.combiner, dtype) : graph_with_factor_of(request);
    set("combiner", graph.empty() ? kCombiners[static_cast<size_t>(what.combiner)] : "expr");
    if (!graph.empty()) set("expr", graph.c_str());
    if (what.init == Init::in_place) set("init", "in_place");
    if (what.init == Init::zeros) set("init", "fill");
    if (what.init == Init::zeros && !what.returns_arg) set("fill", (std::string("0:") + strew_dtype_name(dtype)).c_str());
    if (what.accumulates_wide) set("accumulate", "wide");
    if (what.is_sorted) set("indices_are_sorted", "true");
    if (what.returns_arg && status == nullptr) status = strew_op_builder_return_arg(made);
  }
  if (status == nullptr && has_operand(what)) status = strew_op_builder_tensor(made, STREW_RESULT, request.tensors->data());
  return status == nullptr ? strew_op_builder_build(made, out) : status;
}

}  // namespace

void Tensors::add(void* data, const at::Tensor& tensor, const int64_t* dims, const int64_t* strides, int64_t rank) {
  const std::optional<strew_dtype> dtype = dtype_of(tensor.scalar_type());
  if (count_ == all_.size() || !dtype) {
    fit_ = false;
    return;
  }
  all_[count_++] = {data, dims, strides, static_cast<int32_t>(rank), static_cast<uint8_t>(*dtype), 0, {0, 0}};
}

strew_status run_at_site(const Tensors& tensors, strew_make_op make_op, void* context, uint64_t variant, int threads,
                         strew_bad_index* bad) {
  strew_request request = STREW_REQUEST_INIT;
  request.threads = threads;
  request.compile = compile_mode();
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  options.bad_index = bad;
  return strew_site_run_tensors(site(), tensors.data(), tensors.count(), make_op, context, variant, &request, &options);
}

int threads_of_calls() { return threads_of_pool(nullptr); }

Reason run(const Definition& what, const Tensors& tensors, const Bounds& bounds) {
  if (!tensors.fit() || site() == nullptr) return Reason::refused;
  const int threads = threads_of_calls();
  Request made_from{&what, &tensors};
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  const strew_status status =
      run_at_site(tensors, make_op, &made_from, variant_of(what, tensors.count(), threads), threads, &bad);
  if (status == nullptr) return Reason::none;
  const bool is_bounds = strew_status_code(status) == STREW_CODE_OUT_OF_BOUNDS;
  const std::string text = std::string(" (strew: ") + strew_status_message(status) + "; nothing was written)";
  strew_status_free(status);
  if (is_bounds) {
    const bool is_looked_up =
        (what.looks_up || what.form == Form::sddmm) && static_cast<size_t>(bad.source) == tensors.count() - 1;
    const size_t number = is_looked_up ? 1 : std::min(static_cast<size_t>(bad.component), bounds.dims.size() - 1);
    bounds.raise(bad.value, bounds.dims[number], bounds.sizes[number], text);
  }
  return Reason::refused;
}

void raise_runtime_error(int64_t value, int64_t dim, int64_t size, const std::string& strew) {
  TORCH_CHECK(false, "index ", value, " is out of bounds for dimension ", dim, " with size ", size, strew);
}
void raise_index_error(int64_t value, int64_t dim, int64_t size, const std::string& strew) {
  TORCH_CHECK_INDEX(false, "index ", value, " is out of bounds for dimension ", dim, " with size ", size, strew);
}
void raise_in_self(int64_t, int64_t, int64_t, const std::string& strew) {
  TORCH_CHECK_INDEX(false, "index out of range in self", strew);
}

}  // namespace strew::aten
