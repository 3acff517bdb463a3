// See html_report.h. The page is read without scripts: details are <details>, and what a mark stands for is its <title>.
#include "tune/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "schedules/knobs.h"
#include "tune/report/candidate_plot.h"
#include "tune/report/style.h"
#include "tune/report/svg.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMostTableRows = 500;

const TunedCandidate& standard_of(const TunedOp& op) { return op.candidates[op.default_at]; }
const TunedCandidate& winner_of(const TunedOp& op) { return op.candidates[op.winner_at]; }
bool has_winner(const TunedOp& op) { return op.failure.empty() && op.winner_at != op.default_at; }

std::string plural(size_t count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

std::string header(const TuningResult& result) {
  const auto faster = static_cast<size_t>(std::count_if(result.ops.begin(), result.ops.end(), has_winner));
  std::string out = "<h1>Tuned kernels</h1>\n";
  out += fmt::format("<p class=\"facts\">{}. {}. {}, mode {}, {}seed {}, {:.1f} s.</p>\n", escaped(result.machine),
                     escaped(result.generator), escaped(result.date), escaped(result.mode),
                     result.budget_seconds > 0 ? fmt::format("budget {:g} s, ", result.budget_seconds) : "", result.seed,
                     result.seconds);
  if (result.ops.empty()) return out + "<p>There was no kernel to tune.</p>\n";
  if (result.mode == "estimate") return out + "<p>Nothing was measured: times are what the cost model predicts.</p>\n";
  if (faster == 0)
    return out + "<p>Nothing was faster than the default schedules beyond noise: the cost model's choice stands.</p>\n";
  if (faster == result.ops.size())
    return out + fmt::format("<p>{} faster than with the default schedule.</p>\n",
                             faster == 1 ? "The kernel is" : fmt::format("All {} kernels are", faster));
  return out +
         fmt::format("<p>{} of {} faster than with the default schedule; for the others the cost model's choice stands.</p>\n",
                     faster, plural(result.ops.size(), "kernel") + (faster == 1 ? " is" : " are"));
}

std::string summary_row(const TunedOp& op, size_t number) {
  const std::string link = fmt::format("<td><a href=\"#op{}\">{}</a></td>", number, escaped(op.name));
  if (!op.failure.empty()) return "<tr>" + link + "<td colspan=\"6\">not tuned: " + escaped(op.failure) + "</td></tr>\n";
  const TunedCandidate &standard = standard_of(op), &winner = winner_of(op);
  const auto time = [](double ns) { return "<td class=\"number\">" + (ns > 0 ? duration_text(ns) : std::string("–")) + "</td>"; };
  std::string out = "<tr>" + link + time(standard.nanoseconds) + time(winner.nanoseconds);
  if (has_winner(op)) {
    out += fmt::format("<td class=\"number winner\">{:.2f} <span class=\"soft\">({:.2f}–{:.2f})</span></td>", winner.ratio,
                       winner.ratio_low, winner.ratio_high);
    out += "<td><code>" + escaped(difference(winner, standard)) + "</code></td>";
  } else {
    out += "<td class=\"number\">1</td><td>the default</td>";
  }
  return out + time(op.memcpy_ns) + time(op.limit_ns) + "</tr>\n";
}

std::string summary(const TuningResult& result) {
  if (result.ops.empty()) return "";
  std::string out =
      "<div class=\"scroll\"><table><thead><tr><th>Kernel</th><th class=\"number\">Default</th><th "
      "class=\"number\">Tuned</th><th "
      "class=\"number\">Ratio (95 %)</th><th>What the winner changes</th><th class=\"number\">memcpy</th><th "
      "class=\"number\">Limit</th></tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < result.ops.size(); ++i) out += summary_row(result.ops[i], i);
  return out +
         "</tbody></table></div>\n<p class=\"soft\">memcpy: one thread copies as many bytes as a call must move. Limit: what the "
         "machine's "
         "memory allows, by its measured or nominal costs.</p>\n";
}

/// The least ratio for each value of a knob, whatever the others.
std::map<std::string, double> best_by_value(const TunedOp& op, const Knob& knob) {
  std::map<std::string, double> best;
  for (const TunedCandidate& each : op.candidates) {
    if (!each.is_measured) continue;
    const auto [found, is_new] = best.emplace(value_of(knob, each.schedule), each.ratio);
    if (!is_new) found->second = std::min(found->second, each.ratio);
  }
  return best;
}

std::string sensitivity(const TunedOp& op) {
  std::string out;
  for (const Knob& knob : knobs()) {
    const std::map<std::string, double> best = best_by_value(op, knob);
    if (best.size() < 2) continue;
    // Numbers in their order, names by their time.
    std::vector<std::pair<std::string, double>> values(best.begin(), best.end());
    const bool are_numbers = std::all_of(
        values.begin(), values.end(), [](const auto& v) { return v.first.find_first_not_of("0123456789") == std::string::npos; });
    std::stable_sort(values.begin(), values.end(), [&](const auto& a, const auto& b) {
      return are_numbers ? std::stoll(a.first) < std::stoll(b.first) : a.second < b.second;
    });
    double most = 0, least = 1e300;
    for (const auto& [value, ratio] : values) {
      most = std::max(most, std::min(ratio, 4.0));
      least = std::min(least, ratio);
    }
    out += "<div class=\"scroll\"><table><caption>" + escaped(knob.name) + "</caption><tbody>\n";
    for (const auto& [value, ratio] : values)
      out += fmt::format(
          "<tr><td>{}</td><td class=\"number{}\">{:.2f}</td><td><span class=\"bar\" "
          "style=\"width:{:.1f}rem\"></span></td></tr>\n",
          escaped(value), ratio == least ? " winner" : "", ratio, 7 * std::min(ratio, 4.0) / most);
    out += "</tbody></table></div>\n";
  }
  if (out.empty()) return "";
  return "<h3>What each knob decides</h3>\n<p class=\"soft\">For each value the fastest candidate that has it, as its ratio to "
         "the default's "
         "time.</p>\n<div class=\"knobs\">\n" +
         out + "</div>\n";
}

std::string candidate_table(const TunedOp& op) {
  std::string out = fmt::format(
      "<details><summary>All {}</summary>\n<div class=\"scroll\"><table><thead><tr><th>Backend</th><th>Schedule</th>"
      "<th class=\"number\">Time</th><th class=\"number\">Ratio (95 %)</th><th class=\"number\">Predicted</th>"
      "<th class=\"number\">Rounds</th><th>Remark</th></tr></thead><tbody>\n",
      plural(op.candidates.size(), "candidate"));
  for (size_t i = 0; i < op.candidates.size() && i < kMostTableRows; ++i) {
    const TunedCandidate& c = op.candidates[i];
    const std::string ratio =
        c.is_measured ? fmt::format("{:.2f} ({:.2f}–{:.2f})", c.ratio, c.ratio_low, c.ratio_high) : std::string("–");
    std::string remark = i == op.default_at ? "the default" : c.remark;
    if (i == op.winner_at && has_winner(op)) remark = "the winner";
    out += fmt::format(
        "<tr><td>{}</td><td><code>{}</code></td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
        "class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n",
        name(c.backend), escaped(print(c.schedule)), c.is_measured ? duration_text(c.nanoseconds) : "–", ratio,
        c.predicted_ns > 0 ? duration_text(c.predicted_ns) : "–", c.rounds, escaped(remark));
  }
  if (op.candidates.size() > kMostTableRows)
    out += fmt::format("<tr><td colspan=\"7\">and {} more</td></tr>\n", op.candidates.size() - kMostTableRows);
  return out + "</tbody></table></div></details>\n";
}

/// Candidates that could not be measured, by their reason.
std::string refused(const TunedOp& op) {
  std::map<std::string, size_t> reasons;
  for (const TunedCandidate& each : op.candidates)
    if (!each.is_measured && !each.remark.empty()) ++reasons[each.remark];
  if (reasons.empty()) return "";
  std::string out = "<h3>Not measured</h3>\n<ul>\n";
  for (const auto& [reason, count] : reasons)
    out += fmt::format("<li>{}: {}</li>\n", plural(count, "candidate"), escaped(reason));
  return out + "</ul>\n";
}

std::string verdict(const TunedOp& op) {
  const TunedCandidate &standard = standard_of(op), &winner = winner_of(op);
  if (!standard.is_measured) return "<p>Nothing was measured.</p>\n";
  std::string out;
  if (has_winner(op))
    out = fmt::format(
        "<p>The winner takes <span class=\"winner\">{:.2f}</span> ({:.2f} to {:.2f}) of the default's time: <code>{}</code>.",
        winner.ratio, winner.ratio_low, winner.ratio_high, escaped(difference(winner, standard)));
  else
    out = "<p>Nothing was faster than the default beyond noise.";
  const auto beside = [&](double ns, const char* what) {
    if (ns > 0) out += fmt::format(" It takes {:.2f} times as long as {}.", winner.nanoseconds / ns, what);
  };
  beside(op.memcpy_ns, "memcpy of as many bytes by one thread");
  beside(op.limit_ns, "the limit of memory");
  return out + (op.is_stopped ? " The search was stopped before its end." : "") + "</p>\n";
}

std::string section(const TunedOp& op, size_t number) {
  std::string out = fmt::format("<section id=\"op{}\">\n<h2>{}</h2>\n<p><code>{}</code></p>\n<p class=\"facts\">{}</p>\n", number,
                                escaped(op.name), escaped(op.op_text), escaped(op.usage));
  for (const std::string& note : op.notes) out += "<p class=\"soft\">" + escaped(note) + "</p>\n";
  if (!op.failure.empty()) return out + "<p>Not tuned: " + escaped(op.failure) + "</p>\n</section>\n";
  out += verdict(op);
  if (const std::string plot = candidate_plot(op); !plot.empty())
    out +=
        "<figure>" + plot +
        "<figcaption>Time of a call: a dot for the median, a line for the interval in which it lies with 95 %. The diamond is "
        "the winner, the "
        "black ring the default; small grey rings were left out early because they were clearly slower.</figcaption></figure>\n";
  if (const std::string plot = prediction_plot(op); !plot.empty())
    out += "<h3>Predicted and measured</h3>\n<figure>" + plot +
           "<figcaption>On the dashed line the cost model is right; below it, calls take longer than "
           "predicted.</figcaption></figure>\n";
  return out + sensitivity(op) + refused(op) + candidate_table(op) + "</section>\n";
}

}  // namespace

std::string html_report(const TuningResult& result) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, "
      "initial-scale=1\">\n<title>strew: tuned kernels</title>\n<style>";
  out += kReportStyle;
  out += "</style>\n</head>\n<body>\n" + header(result) + summary(result);
  for (size_t i = 0; i < result.ops.size(); ++i) out += section(result.ops[i], i);
  return out + "</body>\n</html>\n";
}

}  // namespace strew::inline v0
