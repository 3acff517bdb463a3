// See flag_deletion.h. A line is not cut out of the text, which would cost a compilation: the machine passes over the flags of that line.
// Tested by strew_npu_compiled --delete-flags.
#include "tests/differential/npu_compiled/flag_deletion.h"

#include <map>
#include <vector>

namespace strew::test {
namespace {

/// The lines of each flag that the program uses: a set and the wait that follows it directly, or else all lines that name the same pipes
/// and event and are not such a pair.
std::vector<std::set<int>> lines_of_flags(const ProgramBatch& batch, const std::set<int>& executed) {
  const auto arguments = [&](int line) -> std::string {
    const std::string& text = batch.lines()[static_cast<size_t>(line - 1)];
    const size_t signal = text.find("_intra_block("), flag = text.find("_flag(");
    if (signal != std::string::npos) return text.substr(text.rfind(' '));
    return flag == std::string::npos ? "" : text.substr(flag);
  };
  std::vector<std::set<int>> out;
  std::map<std::string, std::set<int>> others;
  for (auto line = executed.begin(); line != executed.end(); ++line) {
    const std::string flag = arguments(*line);
    if (flag.empty()) continue;
    const auto next = std::next(line);
    if (next != executed.end() && *next == *line + 1 && arguments(*next) == flag) {
      out.push_back({*line, *next});
      line = next;
    } else {
      others[flag].insert(*line);
    }
  }
  for (auto& [flag, lines] : others) out.push_back(std::move(lines));
  return out;
}

}  // namespace

std::optional<std::string> delete_flags(const ProgramBatch& batch, size_t program, const NpuData& data, CallOptions options,
                                        Deletions& count) {
  const std::set<int> executed = call_compiled(batch, program, data, options).flag_lines;
  const auto is_noticed = [&](const std::set<int>& lines, DeletionCount& of) {
    options.deleted = lines;
    const bool noticed = call_compiled(batch, program, data, options).wrong.has_value();
    ++of.tried;
    of.noticed += noticed ? 1 : 0;
    return noticed;
  };
  for (const int line : executed) {
    const std::string& text = batch.lines()[static_cast<size_t>(line - 1)];
    if (text.find("pipe_barrier(") == std::string::npos) {
      if (!is_noticed({line}, count.lines)) return "nothing notices that line " + std::to_string(line) + " is left out: " + text;
    } else if (line != *executed.rbegin()) {
      is_noticed({line}, count.barriers);
    }
  }
  for (const std::set<int>& lines : lines_of_flags(batch, executed)) is_noticed(lines, count.flags);
  return std::nullopt;
}

}  // namespace strew::test
