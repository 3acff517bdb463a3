// What an out-of-bounds policy costs on single elements, where it costs most: `./dev bench policies`.
//
// A table of 4000 floats (first-level cache), 65536 indices, none, a tenth or half of them out of range at random: scatter by add and by
// assignment, and gather. Every policy takes turns with the same kernel under policy `undefined` (trusted indices, all inside), on the same
// number of updates; `x_trusted` is the ratio. docs/performance.md has the table.
#include <fmt/format.h>

#include <cstring>
#include <random>
#include <vector>

#include "backends/reference/reference.h"
#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

constexpr int64_t kTable = 4000, kUpdates = 65536;

enum class Form : uint8_t { add, assign, get };
constexpr const char* kForms[] = {"add", "assign", "get"};

Expected<Op> op_of(Form form, OobPolicy oob) {
  using namespace types;
  if (form == Form::get) {
    auto builder = gather_rows(f32({kTable}), i32({kUpdates}));
    if (oob == OobPolicy::fill_element)
      builder.fill(oob, Scalar::of(0.25F));
    else
      builder.oob(oob);
    Expected<Gather> op = builder.normalize_negative(false).build();
    if (!op.ok()) return op.status();
    return Op(std::move(*op));
  }
  auto builder = scatter_rows(f32({kTable}), i32({kUpdates}), f32({kUpdates}));
  builder.combine(form == Form::add ? CombinerKind::add : CombinerKind::assign).in_place().oob(oob).normalize_negative(false);
  Expected<Scatter> op = builder.build();
  if (!op.ok()) return op.status();
  return Op(std::move(*op));
}

struct Buffers {
  std::vector<float> table, other;
  std::vector<int32_t> indices;
  std::vector<TensorView> views;

  Buffers(const Op& op, Form form, int bad_percent) : table(kTable, 1.0f), other(kUpdates, 0.5f), indices(kUpdates) {
    std::mt19937 random(7);
    for (int32_t& i : indices) {
      i = static_cast<int32_t>(random() % kTable);
      if (static_cast<int>(random() % 100) < bad_percent) i += (random() & 1) != 0 ? kTable : -kTable;
    }
    for (const TensorSlot& slot : tensor_slots(op)) {
      void* at = other.data();
      if (slot.role == Role::indices) at = indices.data();
      if (slot.role == (form == Form::get ? Role::operand : Role::result)) at = table.data();
      views.push_back({at, slot.type->dtype, slot.type->rank(), slot.type->dims.data(), nullptr});
    }
  }
};

/// The kernel's bits are the reference's.
bool agrees(const Op& op, const Kernel& kernel, Form form, int bad_percent) {
  Buffers mine(op, form, bad_percent), theirs(op, form, bad_percent);
  if (!kernel.run(mine.views).ok() || !run_reference(kernel.op(), theirs.views).ok()) return false;
  return std::memcmp(mine.table.data(), theirs.table.data(), kTable * sizeof(float)) == 0 &&
         std::memcmp(mine.other.data(), theirs.other.data(), kUpdates * sizeof(float)) == 0;
}

void run(benchmark::State& state, Form form, OobPolicy oob, int bad_percent) {
  const Expected<Op> op = op_of(form, oob), trusted_op = op_of(form, OobPolicy::undefined);
  if (!op.ok() || !trusted_op.ok()) return fail(state, op.ok() ? trusted_op.status().message() : op.status().message());
  KernelOptions options;
  options.threads = 1;
  const Expected<Kernel> kernel = Runtime::process().get(*op, options), trusted = Runtime::process().get(*trusted_op, options);
  if (!kernel.ok() || !trusted.ok()) return fail(state, kernel.ok() ? trusted.status().message() : kernel.status().message());
  if (!agrees(*op, *kernel, form, bad_percent)) return fail(state, "the kernel and the reference differ");
  const Buffers buffers(*op, form, bad_percent), inside(*trusted_op, form, 0);
  const auto way = [](const Kernel& k, const Buffers& b) {
    return [&k, &b](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i)
        if (!k.run(b.views).ok()) any_failed() = true;
    };
  };
  Turn turn;
  turn.batch_nanoseconds = 500e3;
  turn.retries = 4;
  const Turns turns =
      time_in_turns(state, {{"policy", way(*kernel, buffers), {}, {}}, {"trusted", way(*trusted, inside), {}, {}}}, 1, turn);
  const Medians medians = turns.medians();
  state.counters["ns_each"] = medians[0] / kUpdates;
  state.counters["trusted_ns_each"] = medians[1] / kUpdates;
  state.counters["x_trusted"] = turns.ratio(0, 1);
}

void add_cases() {
  for (const Form form : {Form::add, Form::assign, Form::get}) {
    for (const OobPolicy oob :
         {OobPolicy::skip_element, OobPolicy::clamp, OobPolicy::wrap, OobPolicy::error, OobPolicy::fill_element}) {
      if (oob == (form == Form::get ? OobPolicy::skip_element : OobPolicy::fill_element)) continue;  // the other form's
      for (const int bad_percent : {0, 10, 50}) {
        if (oob == OobPolicy::error && bad_percent > 0) continue;  // nothing would be done
        benchmark::RegisterBenchmark(fmt::format("{}/{}/{}%", kForms[static_cast<size_t>(form)], name(oob), bad_percent).c_str(),
                                     [form, oob, bad_percent](benchmark::State& state) { run(state, form, oob, bad_percent); })
            ->UseManualTime()
            ->Iterations(11);
      }
    }
  }
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  strew::bench::add_cases();
  return strew::bench::run_all(argc, argv);
}
