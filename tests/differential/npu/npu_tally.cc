// Adds up the counts of npu_check.h over jobs, and prints them. Tested by every run of strew_npu_differential.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "tests/differential/npu/npu_check.h"

namespace strew::test {
namespace {

std::string sorted_lines(const std::map<std::string, int64_t>& counts, const char* what, size_t most) {
  std::vector<std::pair<int64_t, std::string>> lines;
  for (const auto& [text, count] : counts) lines.emplace_back(-count, text);
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (size_t i = 0; i < std::min(lines.size(), most); ++i)
    out += fmt::format("  {:>6} {}: {}\n", -lines[i].first, what, lines[i].second);
  return out;
}

}  // namespace

std::string NpuTally::text() const {
  std::string out =
      fmt::format("{} ops, {} planned ({:.1f} %), {} data sets, {} runs\n", ops, planned,
                  ops == 0 ? 0.0 : 100.0 * static_cast<double>(planned) / static_cast<double>(ops), data_sets, runs);
  for (const auto& [what, count] : asked)
    out += fmt::format("  {}: {} of {} refused ({:.1f} %)\n", what, count.second - count.first, count.second,
                       100.0 * static_cast<double>(count.second - count.first) / static_cast<double>(count.second));
  out += sorted_lines(kinds, "programs", 40) + sorted_lines(refusals, "refused", 60);
  for (const auto& [what, count] : caught)
    out += fmt::format("  planted: {}: {} of {} noticed\n", what, count.first, count.second);
  return out;
}

void NpuTally::add(const NpuTally& other) {
  ops += other.ops;
  planned += other.planned;
  data_sets += other.data_sets;
  runs += other.runs;
  for (const auto& [text, count] : other.refusals) refusals[text] += count;
  for (const auto& [text, count] : other.kinds) kinds[text] += count;
  const auto sum = [](auto& into, const auto& from) {
    for (const auto& [text, count] : from) {
      into[text].first += count.first;
      into[text].second += count.second;
    }
  };
  sum(caught, other.caught);
  sum(asked, other.asked);
}

/// The counts as text, one per line: kind, numbers, name.
std::string NpuTally::write() const {
  std::string out = fmt::format("n {} {} {} {}\n", ops, planned, data_sets, runs);
  const auto line = [](std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  };
  for (const auto& [text, count] : refusals) out += fmt::format("r {} {}\n", count, line(text));
  for (const auto& [text, count] : kinds) out += fmt::format("k {} {}\n", count, line(text));
  for (const auto& [text, count] : caught) out += fmt::format("c {} {} {}\n", count.first, count.second, line(text));
  for (const auto& [text, count] : asked) out += fmt::format("a {} {} {}\n", count.first, count.second, line(text));
  return out;
}

NpuTally NpuTally::read(const std::string& text) {
  NpuTally out;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string kind, rest;
    int64_t a = 0, b = 0;
    fields >> kind >> a;
    if (kind == "n") {
      out.ops = a;
      fields >> out.planned >> out.data_sets >> out.runs;
      continue;
    }
    if (kind == "c" || kind == "a") fields >> b;
    std::getline(fields >> std::ws, rest);
    if (kind == "r") out.refusals[rest] += a;
    if (kind == "k") out.kinds[rest] += a;
    if (kind == "c") out.caught[rest] = {a, b};
    if (kind == "a") out.asked[rest] = {a, b};
  }
  return out;
}

}  // namespace strew::test
