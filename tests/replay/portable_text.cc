// See portable_text.h.
#include "tests/replay/portable_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <type_traits>

#include "base/number.h"
#include "strew/dtype.h"

namespace strew::test {
namespace {

using namespace portable;  // NOLINT(google-build-using-namespace)

class Printer {
 public:
  explicit Printer(const Loops& table) : table_(table) {}

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  /// The number of the first pointer in the table that is this one.
  template <class Loop>
  std::string loop(Loop pointer) const {
    static_assert(std::is_pointer_v<Loop> && sizeof(Loop) == sizeof(uintptr_t));
    if (pointer == nullptr) return "none";
    constexpr size_t kFirst = sizeof(std::string_view);  // the table's level, then pointers alone
    static_assert(std::is_trivially_copyable_v<Loops> && (sizeof(Loops) - kFirst) % sizeof(uintptr_t) == 0);
    for (size_t at = kFirst; at < sizeof(Loops); at += sizeof(uintptr_t))
      if (std::memcmp(reinterpret_cast<const char*>(&table_) + at, &pointer, sizeof pointer) == 0)
        return fmt::format("#{}", (at - kFirst) / sizeof(uintptr_t));
    return "of no table";
  }

  /// The operation of a step, and its types.
  std::string step_loop(StepLoop pointer) const {
    for (size_t op = 0; op < lowered::kPrimitives && pointer != nullptr; ++op)
      for (const lowered::Machine from : lowered::kMachines)
        for (const lowered::Machine to : lowered::kMachines)
          if (table_.step(static_cast<lowered::Primitive>(op), from, to) == pointer)
            return fmt::format("{} {} {}", info(static_cast<lowered::Primitive>(op)).name, name(from), name(to));
    return "none";
  }

  /// What a loop gets besides its rows: a format of floats, or a function of the C library, which the loop's place tells.
  static std::string extra(const void* pointer) {
    if (pointer == nullptr) return "none";
    for (int i = 0; i < static_cast<int>(kDTypeCount); ++i) {
      const auto dtype = static_cast<DType>(i);
      if (is_float(dtype) && info(dtype).arithmetic && bits(dtype) <= 16 && pointer == &small_float(dtype))
        return std::string(name(dtype));
    }
    return "function";
  }

  static std::string scalar(const Scalar& value) {
    if (!value.has_value()) return "no value";
    return fmt::format("{} {:016x}{:016x}", name(value.dtype), value.bits[1], value.bits[0]);
  }

  void body(const std::string& title, const Body& body) {
    line("{}: column bytes {}, lanes {}, reads results {}", title, body.column_bytes, body.lanes, body.reads_results);
    for (const Slot& slot : body.slots)
      line("  slot tensor {}, per byte 2^{}, bits {}, scratch {}", slot.tensor, slot.log2_per_byte, slot.bits, slot.is_scratch);
    for (const RowFold& fold : body.folds)
      line("  fold {}: {} lanes, format {}, from {}", loop(fold.loop), fold.lanes, extra(fold.format), scalar(fold.initial));
    for (const LocalColumn& local : body.locals) line("  local {}: column {}, bytes {}", local.number, local.out, local.bytes);
    for (const Literal& literal : body.literals)
      line("  literal {}, bytes {}, {}", literal.out, literal.bytes, scalar(literal.value));
    for (const Step& step : body.steps)
      line("  step {} load {}: {} <- {}, {}, {}; slot {}, offset {}, bytes {}, extra {}", step_loop(step.loop), loop(step.load),
           step.out, step.a, step.b, step.c, step.slot, step.offset, step.bytes, extra(step.extra));
    for (const Output& output : body.outputs)
      line("  output {}: slot {} <- slot {}, column {}, bytes {}, format {}, {}", loop(output.loop), output.to, output.from,
           output.column, output.bytes, extra(output.format), scalar(output.value));
  }
  void nest(const std::string& title, const Nest& nest) {
    line("{}: {} loops, extents {}, strides {}", title, nest.loops, nest.extents, nest.strides);
  }

  void window_loop(const WindowLoop& loop) {
    line("window loop: moved by {}, scale {}", loop.component, loop.scale);
    for (const WindowBound& bound : loop.bounds)
      line("  {} by component {}, scale {}, fill {}", bound.bounds == lowered::Bounds::cut ? "cut" : "split", bound.component,
           bound.scale, bound.fill);
  }

  std::string take() { return std::move(out_); }

 private:
  const Loops& table_;
  std::string out_;
};

}  // namespace

std::string portable_text(const InterpretedKernel& p, const Loops& table) {
  Printer out(table);
  out.line("numbers {}", fmt::join(p.numbers, " "));
  for (const InterpretedKernel::Dynamic& each : p.dynamic)
    out.line("number {} is {} times symbols {}", each.at, each.factor, fmt::join(each.symbols, " "));
  out.body("body", p.body);
  out.body("fill", p.fill);
  out.nest("positions", p.positions);
  out.nest("window", p.window);
  for (const ComponentNumbers& each : p.components)
    out.line("component: offset {}, dim {}, window {}, strides {}, {}", each.index_offset, each.dim, each.window, each.strides,
             name(each.rule));
  for (const WindowLoop& each : p.window_loops) out.window_loop(each);
  for (const SourceComponents& source : p.sources)
    for (size_t k = source.first; k < source.end; k += p.components.size()) {
      const ComponentNumbers& c = p.components[k];
      const Slot& slot = p.indices[c.index];
      out.line("indices: {}, per byte 2^{}, tensor {}, normalises {}", name(c.dtype), slot.log2_per_byte, slot.tensor,
               c.normalize_negative);
    }
  out.line("cuts columns {}, fences {}, cut windows {}, pairs {}, gather {}, ahead {}, streams {}, key unit {}", p.cuts_columns,
           p.fences, p.has_cut_windows, p.pairs, p.gather, p.ahead, p.streams,
           p.key_units.empty() ? 0 : p.numbers[p.key_units[0]]);
  for (const Init& each : p.init) {
    out.body("init", each.body);
    out.nest("init nest", each.nest);
    out.line("init moves {}", each.moves);
  }
  for (const Body& each : p.merge) out.body("merge", each);
  out.line("positions per block {}, memory {}", p.positions_per_block, p.memory.bytes);
  return out.take();
}

}  // namespace strew::test
