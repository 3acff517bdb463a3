// See explanation.h. The brief view of `strew explain`: for somebody who wants to know what a kernel does and whether something is wrong with
// it. Each line begins with what it is about; numbers that the op leaves open are said to be open. Tested by tests/error/explain_test.cc.
#include <fmt/format.h>

#include "schedules/costs/explained.h"
#include "schedules/costs/workload.h"
#include "schedules/knobs.h"
#include "strew/text.h"
#include "tools/strew/explanation.h"
#include "tools/strew/message.h"

namespace strew::cli {
namespace {

constexpr size_t kMostNotes = 2;

/// The product of extents; kDynamic if one is open.
int64_t product(const std::vector<int64_t>& dims) {
  int64_t out = 1;
  for (const int64_t dim : dims) {
    if (dim == kDynamic) return kDynamic;
    out *= dim;
  }
  return out;
}

std::string bytes_text(const TensorType& type) {
  const int64_t elements = product(type.dims);
  if (elements == kDynamic) return print(type);
  const auto bytes = static_cast<double>(storage_bytes(type.dtype, elements));
  if (bytes < 10 * 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 10 * 1024 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / 1024 / 1024);
}

/// "8 positions of 1024 elements: updates 16.0 KiB, indices 64 B, table 32.0 MiB"
std::string size_text(const Op& op) {
  const Scatter* const scatter = std::get_if<Scatter>(&op);
  const Gather* const gather = std::get_if<Gather>(&op);
  const TensorType &indices = indices_of(op), &slices = slices_of(op),
                   &table = scatter != nullptr ? scatter->results[0] : gather->operand;
  std::vector<std::string> of_indices;
  for (const TensorType* const type : std::visit([](const auto& each) { return index_tensors(each); }, op))
    of_indices.push_back(bytes_text(*type));
  const int64_t vector_dim = dims_of(op).index_vector_dim;
  std::vector<int64_t> dims = indices.dims;
  if (vector_dim < static_cast<int64_t>(dims.size())) dims.erase(dims.begin() + vector_dim);
  const int64_t positions = product(dims), elements = product(slices.dims);
  std::string out = positions == kDynamic ? "an open number of index positions"
                                          : fmt::format("{} index position{}", positions, positions == 1 ? "" : "s");
  if (positions > 0 && elements != kDynamic)
    out += fmt::format(", {} element{} each", elements / positions, elements / positions == 1 ? "" : "s");
  return out + fmt::format("; {} {}, indices {}, table {}", scatter != nullptr ? "updates" : "result", bytes_text(slices),
                           fmt::join(of_indices, " and "), bytes_text(table));
}

std::string indices_text(const Explanation& e) {
  const Op& op = *e.kernel->op;
  std::string out = normalizes_negative(op) ? "negative ones count from the end; " : "";
  for (int d = 0; d < 32; ++d)
    if ((e.stages.plan.primary().repeated_dims >> d & 1) != 0)
      out += fmt::format("they repeat along dim {}, whose elements are a row; ", d);
  if (e.kernel->find(ArgumentUse::non_negative) != nullptr) out += "a negative one is an error; ";
  switch (oob_of(op)) {
    case OobPolicy::undefined:
      return out + "the caller promises that all are in bounds (policy undefined); run " + e.run_checks;
    case OobPolicy::error:
      return out + "one out of bounds is an error, and then nothing is written (policy error)";
    case OobPolicy::skip_element:
      return out + "elements out of bounds are left out (policy skip_element)";
    case OobPolicy::skip_window:
      return out + "a window that is not wholly in bounds is left out (policy skip_window)";
    case OobPolicy::clamp:
      return out + "a window is moved until it is in bounds (policy clamp)";
    case OobPolicy::wrap:
      return out + "taken modulo the extent (policy wrap)";
    case OobPolicy::fill_element:
      return out + "elements out of bounds are " + print(std::get<Gather>(op).fill) + " (policy fill_element)";
    case OobPolicy::fill_window:
      return out + "a window that is not wholly in bounds is " + print(std::get<Gather>(op).fill) + " (policy fill_window)";
  }
  return out;
}

std::string lookup_text(const Lookup& lookup) {
  const Gather& g = lookup.gather;
  std::vector<std::string> indices;
  for (const TensorType* const type : index_tensors(g)) indices.push_back(print(*type));
  return fmt::format("{} {} in {} by {}, policy {}, which saves a tensor of {}", name(lookup.of), lookup.index, print(g.operand),
                     fmt::join(indices, " and "), name(g.oob), bytes_text(g.result));
}

struct Predicted {
  double nanoseconds = 0;
  std::string text;  ///< empty: there is no prediction
};

Predicted predicted_time(const Compiled& stages) {
  const ExplainedCosts costs = explain_costs(stages.plan, stages.schedule, stages.target, stages.threads);
  for (const ExplainedCosts::Candidate& each : costs.strategies) {
    if (each.schedule.strategy != stages.schedule.strategy) continue;
    std::string out = print(each.predicted);
    if (!stages.plan.symbols.empty()) out += fmt::format(", if every open extent is {:.0f}", kOpenExtent);
    return {each.predicted.total(), out + fmt::format("; calls of {} thread{}", costs.threads, costs.threads == 1 ? "" : "s")};
  }
  return {};
}

/// What the user can do, a line each.
std::vector<std::string> advice(const Explanation& e, const std::string& file, double predicted) {
  constexpr double kWorthTuning = 1000;  // nanoseconds; a shorter call is mostly the call itself
  std::vector<std::string> out;
  if (!e.opened.ok()) out.emplace_back("install the library that is missing; a portable kernel takes 4 to 10 times as long");
  const std::string copies = copies_text(e);
  if (!copies.empty() && !copies.starts_with("nothing"))
    out.emplace_back("give the result the operand's buffer (in place), and nothing is copied");
  if (predicted >= kWorthTuning && !e.chosen.empty() && e.stages.learned.from.empty() && e.schedule_source == "heuristic")
    out.push_back("`strew tune " + printable(file) + " --kernel " + printable(e.kernel->name) +
                  "` measures schedules instead of predicting them");
  return out;
}

}  // namespace

std::string backend_text(const Explanation& e) {
  if (e.chosen.empty()) return "nothing: " + e.why;
  if (e.opened.ok()) return e.chosen;
  return e.chosen + ", which cannot be opened, so that a portable kernel takes its place: " + printable(e.opened.message());
}

std::string brief_text(const Explanation& e, const std::string& file, const std::string& also) {
  const Compiled& stages = e.stages;
  std::string out = fmt::format("kernel {} ({}){}\n", printable(e.kernel->name), printable(e.kernel->location),
                                also.empty() ? "" : ", also " + also);
  const auto line = [&](std::string_view about, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<11} {}\n", about, text);
  };
  line("does", printable(e.does));
  line("op", stages.op_text);
  line("size", size_text(*e.kernel->op));
  line("indices", indices_text(e));
  for (const Lookup& lookup : lookups_of(*e.kernel->op)) line("looks up", lookup_text(lookup));
  for (size_t i = 0; i < std::min(e.kernel->notes.size(), kMostNotes); ++i) line("note", printable(e.kernel->notes[i]));
  line("runs on", backend_text(e) +
                      fmt::format(", strategy {}, at most {} thread{} ({})", name(stages.schedule.strategy), e.guarantees.threads,
                                  e.guarantees.threads == 1 ? "" : "s",
                                  e.schedule_source == "heuristic" ? "chosen by the cost model" : "from " + e.schedule_source));
  if (!stages.scheduled.ok()) line("", "illegal: " + stages.scheduled.message());
  const Predicted predicted = predicted_time(stages);
  line("predicted", predicted.text);
  line("copies", copies_text(e));
  line("library", e.library);
  const std::vector<std::string> remedies = advice(e, file, predicted.nanoseconds);
  for (size_t i = 0; i < remedies.size(); ++i) line(i == 0 ? "would help" : "", remedies[i]);
  return out;
}

}  // namespace strew::cli
