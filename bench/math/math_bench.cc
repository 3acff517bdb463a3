// What math functions cost in combiners: `./dev bench math`.
//
// Rows of 64 floats in a table of 256 rows (second-level cache), 4096 updates on one thread: each element adds f(update). Every f takes turns
// with a plain add of the same rows; `x_add` is the ratio. sqrt is one instruction; rsqrt is computed on whole vectors, with the operations of
// base/math; the others call a function of the C library for every element. The kernel's bits are the reference's before anything is timed.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/reference/reference.h"
#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

constexpr int64_t kRows = 256, kWidth = 64, kUpdates = 4096;

/// table[index] += f(update); without f where that is `update`.
Expected<Op> op_of(ExprOp f) {
  using namespace types;
  ExprBuilder e;
  const int32_t update = e.update(0, DType::f32), value = f == ExprOp::update ? update : e.apply(f, {update});
  const Expr sum = e.returns({e.add(e.current(0, DType::f32), value)});
  auto builder = scatter_rows(f32({kRows, kWidth}), i32({kUpdates}), f32({kUpdates, kWidth}));
  STREW_ASSIGN(Scatter op, builder.combine(sum).in_place().oob(OobPolicy::undefined).build());
  return Op(std::move(op));
}

struct Buffers {
  std::vector<float> table, updates;
  std::vector<int32_t> indices;
  std::vector<TensorView> views;

  explicit Buffers(const Op& op) : table(kRows * kWidth), updates(kUpdates * kWidth), indices(kUpdates) {
    std::mt19937 random(7);
    for (int32_t& i : indices) i = static_cast<int32_t>(random() % kRows);
    for (float& x : updates) x = static_cast<float>(random() % 4096 + 1) / 1024;
    for (const TensorSlot& slot : tensor_slots(op)) {
      void* at = slot.role == Role::result    ? table.data()
                 : slot.role == Role::indices ? static_cast<void*>(indices.data())
                                              : updates.data();
      views.push_back({at, slot.type->dtype, slot.type->rank(), slot.type->dims.data(), nullptr});
    }
  }
};

bool agrees(const Op& op, const Kernel& kernel) {
  const Buffers mine(op), theirs(op);
  if (!kernel.run(mine.views).ok() || !run_reference(kernel.op(), theirs.views).ok()) return false;
  return std::memcmp(mine.table.data(), theirs.table.data(), mine.table.size() * sizeof(float)) == 0;
}

void run(benchmark::State& state, ExprOp f) {
  const Expected<Op> op = op_of(f), add = op_of(ExprOp::update);
  if (!op.ok() || !add.ok()) return fail(state, op.ok() ? add.status().message() : op.status().message());
  KernelOptions options;
  options.threads = 1;
  const Expected<Kernel> kernel = Runtime::process().get(*op, options), plain = Runtime::process().get(*add, options);
  if (!kernel.ok() || !plain.ok()) return fail(state, kernel.ok() ? plain.status().message() : kernel.status().message());
  if (!agrees(*op, *kernel)) return fail(state, "the kernel and the reference differ");
  const Buffers buffers(*op), others(*add);
  const auto way = [](const Kernel& k, const Buffers& b) {
    return [&k, &b](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i)
        if (!k.run(b.views).ok()) any_failed() = true;
    };
  };
  const Turns turns = time_in_turns(state, {{"f", way(*kernel, buffers), {}, {}}, {"add", way(*plain, others), {}, {}}}, 1, {});
  state.counters["ns_each"] = turns.medians()[0] / (kUpdates * kWidth);
  state.counters["x_add"] = turns.ratio(0, 1);
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew;
  const std::pair<const char*, ExprOp> functions[] = {{"sqrt", ExprOp::sqrt}, {"rsqrt", ExprOp::rsqrt},
                                                      {"exp", ExprOp::exp},   {"log", ExprOp::log},
                                                      {"tanh", ExprOp::tanh}, {"logistic", ExprOp::logistic}};
  for (const auto& [name, f] : functions) {
    benchmark::RegisterBenchmark(name, [f = f](benchmark::State& state) { bench::run(state, f); })
        ->UseManualTime()
        ->Iterations(21);
  }
  return bench::run_all(argc, argv);
}
