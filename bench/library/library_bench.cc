// What calls of a kernel library cost (docs/libraries.md): `./dev bench library`. The kernels are those of kernels.json.
//
//   call/token, call/row       calls of little work, by way of the function by pointers (NAME_at), by tensors (NAME), and of CompiledKernel::run,
//                              beside the entry itself, called with arguments made before
//   kernel/add_rows, take_rows kernels of the library beside those that the runtime compiles now, for the same target and schedule
//   open                       strew_context_open() of the library, and its first call of a kernel
#include <cstring>
#include <memory>
#include <vector>

#include "bench/measure.h"
#include "bench_kernels.h"
#include "strew/runtime.h"
#include "strew/text.h"

namespace strew::bench {
namespace {

struct Freed {
  void operator()(strew_context* context) const { strew_context_free(context); }
  void operator()(strew_kernel_ref* kernel) const { strew_kernel_release(kernel); }
};
using Context = std::unique_ptr<strew_context, Freed>;
using Kernels = std::unique_ptr<strew_kernel_ref, Freed>;

Context open_library(int threads) {
  strew_context_options options = STREW_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  strew_context* context = nullptr;
  return bench_kernels_open(&options, &context) == nullptr ? Context(context) : nullptr;
}
Kernels kernel_of(const Context& context, uint32_t number) {
  strew_kernel_ref* kernel = nullptr;
  return strew_context_kernel(context.get(), number, &kernel) == nullptr ? Kernels(kernel) : nullptr;
}

strew_tensor tensor(void* data, const std::vector<int64_t>& dims, DType dtype) {
  strew_tensor out{};
  out.data = data;
  out.dims = dims.data();
  out.rank = static_cast<int32_t>(dims.size());
  out.dtype = static_cast<decltype(out.dtype)>(dtype);
  return out;
}

/// Reports each way's time beyond that of the first, and whether pointers and tensors stay within their targets.
void report(benchmark::State& state, const std::vector<Way>& ways) {
  const Medians medians = take_turns(state, ways, 64);
  const double pointers = medians[1] - medians[0], tensors = medians[2] - medians[0];
  state.counters["pointers_over"] = pointers;
  state.counters["tensors_over"] = tensors;
  state.SetLabel(pointers <= 20 && tensors <= 60 ? "over <= 20 and 60 ns met" : "over <= 20 and 60 ns MISSED");
}

template <class Call>
std::function<void(int64_t)> repeat(Call call) {
  return [call](int64_t calls) {
    for (int64_t i = 0; i < calls; ++i)
      if (!call()) any_failed() = true;
  };
}

void token_call(benchmark::State& state) {
  const Context context = open_library(1);
  const Kernels kernel = kernel_of(context, BENCH_KERNELS_token);
  if (!kernel) return fail(state, "the kernel does not open");
  std::vector<uint16_t> cache(8 * 256 * 128), update(8 * 128, 7);
  int64_t place = 5;
  const std::vector<int64_t> cache_dims = {1, 8, 256, 128}, update_dims = {1, 8, 1, 128}, place_dims = {1};
  const strew_tensor result = tensor(cache.data(), cache_dims, DType::bf16), at = tensor(&place, place_dims, DType::i64),
                     row = tensor(update.data(), update_dims, DType::bf16);
  const strew_kernel& descriptor = *strew_kernel_descriptor(kernel.get());
  void* data[] = {cache.data(), nullptr, &place, update.data()};
  strew_args args{};
  args.abi = STREW_ABI_VERSION;
  args.data = data;
  args.w1 = INT64_MAX;
  strew_fault fault{};
  report(state, {{"entry", repeat([&] { return descriptor.entries[STREW_ENTRY_range](&args, 0, 1, &fault) == STREW_OK; })},
                 {"pointers", repeat([&] { return token_at(context.get(), cache.data(), &place, update.data()) == nullptr; })},
                 {"tensors", repeat([&] { return token(context.get(), &result, &at, &row) == nullptr; })}});
  if (cache[5 * 128] != 7) fail(state, "wrong result");
}

void row_call(benchmark::State& state) {
  const Context context = open_library(1);
  const Kernels kernel = kernel_of(context, BENCH_KERNELS_row);
  if (!kernel) return fail(state, "the kernel does not open");
  std::vector<float> table(100 * 64), update(64, 1);
  int32_t place = 5;
  const std::vector<int64_t> table_dims = {100, 64}, update_dims = {1, 64}, place_dims = {1};
  const strew_tensor result = tensor(table.data(), table_dims, DType::f32), at = tensor(&place, place_dims, DType::i32),
                     row_of = tensor(update.data(), update_dims, DType::f32);
  const strew_kernel& descriptor = *strew_kernel_descriptor(kernel.get());
  void* data[] = {table.data(), nullptr, &place, update.data()};
  std::vector<int64_t> dyn;
  const std::vector<int64_t>* dims[] = {&table_dims, &place_dims, &update_dims};
  for (uint32_t i = 0; i < descriptor.symbol_count; ++i)
    dyn.push_back((*dims[descriptor.symbols[i].tensor])[descriptor.symbols[i].dim]);
  strew_args args{};
  args.abi = STREW_ABI_VERSION;
  args.data = data;
  args.dyn = dyn.data();
  args.w1 = INT64_MAX;
  strew_fault fault{};
  report(state,
         {{"entry", repeat([&] {
             return descriptor.entries[STREW_ENTRY_check](&args, 0, 1, &fault) == STREW_OK &&
                    descriptor.entries[STREW_ENTRY_range](&args, 0, 1, &fault) == STREW_OK;
           })},
          {"pointers", repeat([&] { return row_at(context.get(), table.data(), &place, update.data(), 100, 1) == nullptr; })},
          {"tensors", repeat([&] { return row(context.get(), &result, &at, &row_of) == nullptr; })}});
}

/// A kernel of the library and one that is compiled now; both run on one thread.
void same_kernel(benchmark::State& state, uint32_t number, std::vector<TensorView> views, std::vector<strew_tensor> tensors) {
  const Context context = open_library(1);
  const Kernels kernel = kernel_of(context, number);
  if (!kernel) return fail(state, "the kernel does not open");
  const strew_kernel& descriptor = *strew_kernel_descriptor(kernel.get());
  Runtime runtime;
  KernelOptions options;
  options.threads = 1;
  options.target = parse_target(descriptor.target).value();
  options.schedule = parse_schedule_text(descriptor.schedule).value().knobs;
  const Expected<Op> op = parse_op(descriptor.identity);
  if (!op.ok()) return fail(state, op.status().message());
  const Expected<Kernel> compiled = runtime.get(*op, options);
  if (!compiled.ok()) return fail(state, compiled.status().message());
  const Turns turns = time_in_turns(
      state,
      {{"library", repeat([&] { return strew_kernel_run(kernel.get(), tensors.data(), tensors.size(), nullptr) == nullptr; })},
       {"compiled", repeat([&] { return compiled->run(views).ok(); })}},
      1, {.batch_nanoseconds = 2e6});
  const double ratio = turns.ratio(0, 1);
  state.counters["ratio"] = ratio;
  state.SetLabel(ratio <= 1.02 ? "ratio <= 1.02 met" : "ratio <= 1.02 MISSED");
}

void add_rows_twice(benchmark::State& state) {
  static std::vector<float> table(4096 * 64), updates(20000 * 64, 1);
  static std::vector<int32_t> indices(20000);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 2654435761u % 4096);
  static const std::vector<int64_t> table_dims = {4096, 64}, update_dims = {20000, 64}, index_dims = {20000};
  same_kernel(state, BENCH_KERNELS_add_rows,
              {TensorView(table.data(), DType::f32, 2, table_dims.data(), nullptr),
               TensorView(indices.data(), DType::i32, 1, index_dims.data(), nullptr),
               TensorView(updates.data(), DType::f32, 2, update_dims.data(), nullptr)},
              {tensor(table.data(), table_dims, DType::f32), tensor(indices.data(), index_dims, DType::i32),
               tensor(updates.data(), update_dims, DType::f32)});
}

void take_rows_twice(benchmark::State& state) {
  static std::vector<uint16_t> table(8192 * 128, 3), rows(8192 * 128);
  static std::vector<int64_t> indices(8192);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i * 2654435761u % 8192);
  static const std::vector<int64_t> dims = {8192, 128}, index_dims = {8192};
  same_kernel(state, BENCH_KERNELS_take_rows,
              {TensorView(rows.data(), DType::bf16, 2, dims.data(), nullptr),
               TensorView(table.data(), DType::bf16, 2, dims.data(), nullptr),
               TensorView(indices.data(), DType::i64, 1, index_dims.data(), nullptr)},
              {tensor(rows.data(), dims, DType::bf16), tensor(table.data(), dims, DType::bf16),
               tensor(indices.data(), index_dims, DType::i64)});
}

void open_and_call(benchmark::State& state) {
  std::vector<uint16_t> cache(8 * 256 * 128), update(8 * 128, 7);
  int64_t place = 5;
  const Medians medians =
      take_turns(state,
                 {{"open", repeat([&] { return open_library(1) != nullptr; })},
                  {"open_and_call",
                   repeat([&] { return token_at(open_library(1).get(), cache.data(), &place, update.data()) == nullptr; })}},
                 1);
  state.counters["first_call"] = medians[1] - medians[0];
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  const auto add = [](const char* name, auto run) {
    benchmark::RegisterBenchmark(name, run)->UseManualTime()->Iterations(201)->Unit(benchmark::kNanosecond);
  };
  add("call/token", token_call);
  add("call/row", row_call);
  add("kernel/add_rows", add_rows_twice);
  add("kernel/take_rows", take_rows_twice);
  add("open", open_and_call);
  return run_all(argc, argv);
}
