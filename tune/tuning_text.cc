// See tuning_text.h.
#include "tune/tuning_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/printable.h"

namespace strew::inline v0 {
namespace {

using Json = nlohmann::ordered_json;

std::string ratio_text(const TunedCandidate& c) {
  return fmt::format("{:.2f} ({:.2f}..{:.2f}) of the default's time, {} rounds", c.ratio, c.ratio_low, c.ratio_high, c.rounds);
}

/// What is to be said of a host on which something else ran while the default and the winner were measured; "" if nothing did.
std::string busy_note(const TunedCandidate& standard, const TunedCandidate& winner) {
  if (!standard.is_busy && !winner.is_busy) return "";
  return "  the host was busy: our threads waited for cores meanwhile, and the records say so; to be sure, tune again when it is "
         "idle\n";
}

/// Names the winner in one line.
std::string winner_line(const TunedOp& op) {
  const std::string kernel = "winner: " + printable(op.name) + ": ";
  if (!op.failure.empty()) return kernel + "none: " + printable(op.failure) + "\n";
  const TunedCandidate& winner = op.candidates[op.winner_at];
  const std::string text = fmt::format("{} {}", name(winner.backend), print(winner.schedule));
  if (op.undecided_after >= 0) return kernel + "undecided: budget spent; the default, " + text + "\n";
  if (op.winner_at == op.default_at) return kernel + "the default, " + text + "\n";
  return kernel + fmt::format("{}, {:.2f} of the default's time", text, winner.ratio) + "\n";
}

std::string op_text(const TunedOp& op) {
  std::string out = fmt::format("{}: {}\n", printable(op.name), printable(op.usage));
  for (const std::string& note : op.notes) out += "  " + note + "\n";
  if (!op.failure.empty()) return out + "  not tuned: " + printable(op.failure) + "\n";
  const TunedCandidate &standard = op.candidates[op.default_at], &winner = op.candidates[op.winner_at];
  size_t measured = 0, failed = 0;
  for (const TunedCandidate& each : op.candidates) {
    measured += size_t{each.is_measured};
    failed += size_t{!each.is_measured && !each.remark.empty()};
  }
  out += fmt::format("  {} candidates measured in {:.1f} s{}{}\n", measured, op.seconds,
                     failed > 0 ? fmt::format(", {} could not be", failed) : "", op.is_stopped ? "; stopped before the end" : "");
  if (standard.is_measured)
    out += fmt::format("  default   {:>10}  {} {}\n", tuning_duration(standard.nanoseconds), name(standard.backend),
                       print(standard.schedule));
  if (op.winner_at != op.default_at)
    out += fmt::format("  winner    {:>10}  {}: {}\n", tuning_duration(winner.nanoseconds), difference(winner, standard),
                       ratio_text(winner));
  else if (op.undecided_after >= 0)
    out += fmt::format("  undecided: budget spent, {} of {} confirm rounds; until a larger budget decides, the default stays\n",
                       op.undecided_after, op.rounds_to_confirm);
  else if (measured > 1)
    out += "  winner    the default: nothing was faster beyond noise\n";
  for (const TunedCandidate& each : op.candidates)
    if (each.lost_second_look)
      out += fmt::format("  not kept: {} looked faster, and its second look beside the default gave {}\n",
                         difference(each, standard), ratio_text(each));
  out += busy_note(standard, winner);
  if (op.memcpy_ns > 0)
    out += fmt::format("  memcpy    {:>10}  of as many bytes, by one thread\n", tuning_duration(op.memcpy_ns));
  for (const TunedCandidate& each : op.candidates)
    if (!each.is_measured && each.remark.starts_with("wrong result"))
      out += fmt::format("  refused: {} {}: {}\n", name(each.backend), print(each.schedule), printable(each.remark));
  return out;
}

Json json_of(const TunedCandidate& c) {
  Json out = {{"backend", name(c.backend)},
              {"schedule", print(c.schedule)},
              {"predicted_ns", c.predicted_ns},
              {"measured", c.is_measured}};
  if (c.is_measured)
    out.update({{"ns", c.nanoseconds},
                {"ratio", c.ratio},
                {"ratio_low", c.ratio_low},
                {"ratio_high", c.ratio_high},
                {"rounds", c.rounds},
                {"confirmed", c.is_confirmed},
                {"lost_second_look", c.lost_second_look},
                {"busy", c.is_busy}});
  if (!c.remark.empty()) out["remark"] = c.remark;
  return out;
}

}  // namespace

std::string tuning_duration(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  return ns < 1e9 ? fmt::format("{:.2f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

std::string tuning_text(const TuningResult& result) {
  std::string out, winners;
  for (const TunedOp& op : result.ops) {
    out += op_text(op);
    winners += winner_line(op);
  }
  return out + winners;
}

std::string tuning_json(const TuningResult& result) {
  Json out = {{"machine", result.machine},   {"generator", result.generator}, {"date", result.date},
              {"mode", result.mode},         {"seed", result.seed},           {"seconds", result.seconds},
              {"problems", result.problems}, {"kernels", Json::array()}};
  for (const TunedOp& op : result.ops) {
    Json kernel = {{"name", op.name},
                   {"op", op.op_text},
                   {"usage", op.usage},
                   {"notes", op.notes},
                   {"seconds", op.seconds},
                   {"stopped", op.is_stopped},
                   {"undecided", op.undecided_after >= 0}};
    if (!op.failure.empty()) {
      kernel["failure"] = op.failure;
    } else {
      kernel["default"] = json_of(op.candidates[op.default_at]);
      kernel["winner"] = json_of(op.candidates[op.winner_at]);
      kernel["memcpy_ns"] = op.memcpy_ns;
      kernel["limit_ns"] = op.limit_ns;
      kernel["candidates"] = Json::array();
      for (const TunedCandidate& each : op.candidates) kernel["candidates"].push_back(json_of(each));
    }
    out["kernels"].push_back(std::move(kernel));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace strew::inline v0
