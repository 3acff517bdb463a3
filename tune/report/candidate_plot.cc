// See candidate_plot.h.
#include "tune/report/candidate_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tune/report/svg.h"

namespace strew::inline v0 {
namespace {

constexpr double kWidth = 860, kLeft = 130, kRight = 20, kTop = 40, kRow = 9, kGap = 12;
constexpr double kSlowest = 8;  ///< candidates that take more than this many times the fastest one's time stand at the edge

/// A candidate with its time by the ratio to the default: rounds differ more than candidates do.
struct CandidateRow {
  size_t number = 0;
  const TunedCandidate* candidate = nullptr;
  double time = 0, low = 0, high = 0;
};

std::vector<CandidateRow> rows_of(const TunedOp& op) {
  std::vector<CandidateRow> rows;
  const double standard = op.candidates[op.default_at].nanoseconds;
  for (size_t i = 0; i < op.candidates.size(); ++i) {
    const TunedCandidate& each = op.candidates[i];
    if (each.is_measured)
      rows.push_back({i, &each, standard * each.ratio, standard * each.ratio_low, standard * each.ratio_high});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CandidateRow& a, const CandidateRow& b) { return a.time < b.time; });
  return rows;
}

std::string group_of(const TunedCandidate& candidate, const TunedOp& op) {
  const std::string strategy(name(candidate.schedule.strategy));
  return candidate.backend == op.candidates[op.default_at].backend ? strategy
                                                                   : std::string(name(candidate.backend)) + " " + strategy;
}

std::string title_of(const CandidateRow& row, const TunedOp& op) {
  const TunedCandidate& c = *row.candidate;
  const std::string what = row.number == op.default_at ? "the default" : difference(c, op.candidates[op.default_at]);
  return fmt::format("<title>{}: {}, {:.2f} ({:.2f} to {:.2f}) of the default's time, {} rounds</title>", escaped(what),
                     duration_text(row.time), c.ratio, c.ratio_low, c.ratio_high, c.rounds);
}

/// The mark of a candidate: a diamond for the winner, a ring for the default, a dot, or a small ring for one that was left out early.
std::string mark_of(const CandidateRow& row, const TunedOp& op, double x, double y) {
  if (row.number == op.winner_at && row.number != op.default_at)
    return fmt::format("<path class=\"best\" d=\"M{0:.1f} {1:.1f}l5 5l-5 5l-5 -5z\"/>", x, y - 5);
  if (row.number == op.default_at) return fmt::format("<circle class=\"standard\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"/>", x, y);
  if (!row.candidate->remark.empty()) return fmt::format("<circle class=\"left\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", x, y);
  return fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", x, y);
}

std::string row_marks(const CandidateRow& row, const TunedOp& op, const LogAxis& axis, double y) {
  const bool is_winner = row.number == op.winner_at && row.number != op.default_at;
  const char* const spread = is_winner ? "best-spread" : row.candidate->remark.empty() ? "spread" : "left-spread";
  std::string out =
      fmt::format("<g>{}<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>{}", title_of(row, op),
                  spread, axis.at(row.low), axis.at(row.high), y, y, mark_of(row, op, axis.at(row.time), y));
  if (is_winner || row.number == op.default_at) {
    const double x = axis.at(row.high) + 10;
    const bool is_right = x > kWidth - 150;
    out += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{} {}</text>", is_winner ? "winner" : "",
                       is_right ? axis.at(row.low) - 10 : x, y + 4, is_right ? " text-anchor=\"end\"" : "",
                       is_winner                       ? "winner"
                       : op.winner_at == op.default_at ? "default, winner"
                                                       : "default",
                       duration_text(row.time));
  }
  return out + "</g>\n";
}

std::string axis_marks(const LogAxis& axis, double bottom) {
  std::string out;
  for (const double tick : axis.ticks())
    out += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><text class=\"soft\" x=\"{0:.1f}\" "
        "y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        axis.at(tick), kTop, bottom, bottom + 16, duration_text(tick));
  return out;
}

std::string reference_line(const LogAxis& axis, double time, double least, double most, const char* what, double bottom,
                           double y) {
  if (time < least || time > most) return "";
  return fmt::format(
      "<line class=\"reference\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><text class=\"soft\" x=\"{0:.1f}\" "
      "y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
      axis.at(time), y + 3, bottom, y, what);
}

}  // namespace

std::string candidate_plot(const TunedOp& op) {
  std::vector<CandidateRow> rows = rows_of(op);
  if (rows.empty()) return "";
  const double fastest = rows[0].time;
  const size_t all = rows.size();
  if (rows.size() > kMostRows) {
    // The default is always shown.
    std::stable_partition(rows.begin(), rows.end(), [&](const CandidateRow& row) { return row.number == op.default_at; });
    rows.resize(kMostRows);
    std::stable_sort(rows.begin(), rows.end(), [](const CandidateRow& a, const CandidateRow& b) { return a.time < b.time; });
  }
  double least = rows[0].low, most = 0;
  for (const CandidateRow& row : rows) {
    least = std::min(least, row.low);
    most = std::max(most, std::min(row.high, kSlowest * fastest));
  }
  for (const double each : {op.memcpy_ns, op.limit_ns})
    if (each > fastest / 4 && each < kSlowest * fastest) {
      least = std::min(least, each);
      most = std::max(most, each);
    }
  const LogAxis axis(least, most, kLeft, kWidth - kRight);
  std::vector<std::string> groups;
  std::map<std::string, std::vector<const CandidateRow*>> by_group;
  for (const CandidateRow& row : rows) {
    const std::string group = group_of(*row.candidate, op);
    if (!by_group.contains(group)) groups.push_back(group);
    by_group[group].push_back(&row);
  }
  const double bottom = kTop + kRow * static_cast<double>(rows.size()) + kGap * static_cast<double>(groups.size());
  std::string marks;
  double y = kTop + kGap / 2;
  for (const std::string& group : groups) {
    marks += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>\n", y + 8, escaped(group));
    for (const CandidateRow* row : by_group[group]) marks += row_marks(*row, op, axis, y + kRow / 2), y += kRow;
    y += kGap;
  }
  std::string out =
      fmt::format("<svg class=\"wide\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"Times of {} candidates of {}\">\n",
                  kWidth, bottom + 24, rows.size(), escaped(op.name));
  out += axis_marks(axis, bottom) + reference_line(axis, op.memcpy_ns, least, most, "memcpy", bottom, 14) +
         reference_line(axis, op.limit_ns, least, most, "limit of memory", bottom, 30) + marks + "</svg>\n";
  if (all > rows.size()) out += fmt::format("<p class=\"soft\">The {} slowest candidates are left out.</p>\n", all - rows.size());
  return out;
}

std::string prediction_plot(const TunedOp& op) {
  constexpr double kSide = 340, kEdge = 56;
  std::vector<CandidateRow> rows = rows_of(op);
  std::erase_if(rows, [](const CandidateRow& row) { return row.candidate->predicted_ns <= 0; });
  if (rows.size() < 2) return "";
  if (rows.size() > 500) rows.resize(500);
  double least = rows[0].time, most = rows[0].time;
  for (const CandidateRow& row : rows) {
    least = std::min({least, row.time, row.candidate->predicted_ns});
    most = std::max({most, row.time, row.candidate->predicted_ns});
  }
  const LogAxis x(least, most, kEdge, kSide), y(least, most, kSide - kEdge, 0);
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {0} {0}\" width=\"{0}\" role=\"img\" aria-label=\"Predicted against measured times\">\n", kSide);
  const std::vector<double> ticks = x.ticks();
  for (size_t i = 0; i < ticks.size(); ++i) {
    out += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\"/><line class=\"axis\" x1=\"{2}\" x2=\"{3}\" "
        "y1=\"{4:.1f}\" y2=\"{4:.1f}\"/>",
        x.at(ticks[i]), kSide - kEdge, kEdge, kSide, y.at(ticks[i]));
    if (ticks.size() > 4 && i % 2 == 1) continue;
    out += fmt::format(
        "<text class=\"soft\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text><text class=\"soft\" x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>\n",
        x.at(ticks[i]), kSide - kEdge + 16, duration_text(ticks[i]), kEdge - 4, y.at(ticks[i]) + 4, duration_text(ticks[i]));
  }
  out += fmt::format("<line class=\"reference\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x.at(least),
                     y.at(least), x.at(most), y.at(most));
  for (const CandidateRow& row : rows)
    out += "<g>" + title_of(row, op) + mark_of(row, op, x.at(row.time), y.at(row.candidate->predicted_ns)) + "</g>\n";
  return out + fmt::format(
                   "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">measured</text><text x=\"{}\" y=\"12\">predicted</text></svg>\n",
                   kSide, kSide - kEdge + 34, kEdge + 6);
}

}  // namespace strew::inline v0
