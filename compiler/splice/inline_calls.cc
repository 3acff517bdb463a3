// XLA inlines calls itself, before it does anything else, so a module with its calls inlined means the same to it. The statements of the function stand in the place of
// the call, with a prefix before their names; the function's arguments become the names of the operands, and the results those of what it returns.
//
// Tested by tests/unit/compiler/splice/inline_calls_test.cc.
#include "compiler/splice/inline_calls.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/import/mlir_tokens.h"
#include "compiler/op/message.h"
#include "compiler/splice/text.h"

namespace strew::inline v0 {
namespace {

constexpr int kMaxCallDepth = 64;

/// Calls use(statement) for each call in the blocks and the regions in them.
template <class Use>
void each_call(const TextIndex& index, const std::vector<int>& blocks, const Use& use) {
  for (const int block : blocks)
    for (const int s : index.blocks[block].statements) {
      if (!index.statements[s].callee.empty()) use(s);
      each_call(index, index.statements[s].blocks, use);
    }
}

/// Which functions can stand in the place of their calls.
class Callees {
 public:
  explicit Callees(const TextIndex& index) : index_(index) {
    for (size_t f = 0; f < index.functions.size(); ++f) numbers_[index.functions[f].name] = static_cast<int>(f);
    states_.assign(index.functions.size(), State::unknown);
    heights_.assign(index.functions.size(), 0);
    for (size_t f = 0; f < index.functions.size(); ++f) visit(static_cast<int>(f), 0);
  }
  /// The number of the function that takes the place of the call; -1: it stays.
  int of(const TextStatement& call) const {
    const int function = find(call);
    return function >= 0 && states_[function] == State::good && has_types_of(call, function) ? function : -1;
  }

 private:
  enum class State : uint8_t { unknown, open, good, bad };

  int find(const TextStatement& call) const {
    const auto found = numbers_.find(call.callee);
    return found == numbers_.end() ? -1 : found->second;
  }
  bool has_types_of(const TextStatement& call, int function) const {
    const TextBlock& body = index_.blocks[index_.functions[function].blocks[0]];
    const auto same = [&](int a, int b) { return index_.values[a].type == index_.values[b].type; };
    const std::vector<int>& returned = index_.statements[body.statements.back()].operands;
    return std::equal(call.operands.begin(), call.operands.end(), body.arguments.begin(), body.arguments.end(), same) &&
           std::equal(call.results.begin(), call.results.end(), returned.begin(), returned.end(), same);
  }
  /// Is it straight-line code?
  bool is_straight(const TextFunction& function) const {
    if (function.blocks.size() != 1) return false;
    const std::vector<int>& statements = index_.blocks[function.blocks[0]].statements;
    return !statements.empty() && index_.statements[statements.back()].operation == "func.return";
  }
  /// `depth`: of calls, one in the other, on the way here.
  void visit(int number, int depth) {
    State& state = states_[number];
    if (state == State::open || (state == State::unknown && depth > kMaxCallDepth)) state = State::bad;  // it calls itself
    if (state != State::unknown) return;
    const TextFunction& function = index_.functions[number];
    state = State::open;
    each_call(index_, function.blocks, [&](int s) {
      const int callee = find(index_.statements[s]);
      if (callee < 0) return;
      visit(callee, depth + 1);
      if (states_[callee] == State::good) heights_[number] = std::max(heights_[number], heights_[callee] + 1);
    });
    if (state != State::open) return;
    state = is_straight(function) && heights_[number] <= kMaxCallDepth ? State::good : State::bad;
  }

  const TextIndex& index_;
  std::map<std::string, int> numbers_;
  std::vector<State> states_;
  std::vector<int> heights_;  ///< how deep the calls in it are that are inlined
};

class Inliner {
 public:
  Inliner(std::string_view text, const TextIndex& index) : text_(text), index_(index), callees_(index), stem_("%f") {
    bool is_taken = true;
    while (is_taken) {
      is_taken = std::any_of(index.tokens.begin(), index.tokens.end(),
                             [&](const TextToken& token) { return text.substr(token.begin).starts_with(stem_); });
      if (is_taken) stem_ += 'f';
    }
    calls_in_.assign(index.statements.size(), false);
    for (size_t s = 0; s < index.statements.size(); ++s) {
      if (index.statements[s].callee.empty() || callees_.of(index.statements[s]) < 0) continue;
      for (int at = static_cast<int>(s); at >= 0; at = index.blocks[index.statements[at].block].statement) calls_in_[at] = true;
    }
  }

  Expected<InlinedText> run() {
    std::vector<std::string> bodies;
    std::vector<std::vector<Segment>> segments;
    for (const TextFunction& function : index_.functions) {
      out_.clear();
      segments_.clear();
      Frame frame;
      size_t at = function.begin;
      for (const int block : function.blocks) at = emit_block(block, at, frame);
      copy(at, function.end, frame);
      if (is_too_large_)
        return invalid_argument("the text would grow by more than {} bytes if its calls were inlined", kMaxInlinedBytes);
      bodies.push_back(out_);
      segments.push_back(segments_);
    }
    const std::vector<bool> stays = needed(bodies);
    out_.clear();
    segments_.clear();
    size_t at = 0;
    const Frame frame;
    for (size_t f = 0; f < bodies.size(); ++f) {
      const TextFunction& function = index_.functions[f];
      if (stays[f]) {
        copy(at, function.begin, frame);
        for (const Segment& segment : segments[f]) segments_.push_back({out_.size() + segment.to, segment.from});
        out_ += bodies[f];
      }
      at = function.end;
    }
    copy(at, text_.size(), frame);
    std::vector<int> lines = lines_of();
    return InlinedText{std::move(out_), std::move(lines)};
  }

 private:
  /// One body that is written: that of a public function, or of a call.
  struct Frame {
    std::string prefix;
    std::map<int, std::string> names;  ///< of values that have another name here: arguments of a function, results of calls
  };
  struct Segment {
    size_t to, from;  ///< the text written from `to` on is a copy of that from `from` on
  };

  std::string name_of(int value, const Frame& frame) const {
    const auto found = frame.names.find(value);
    if (found != frame.names.end()) return found->second;
    const std::string name = name_in_text(text_, index_, value);
    return frame.prefix.empty() ? name : frame.prefix + name.substr(1);
  }

  void copy(size_t begin, size_t end, const Frame& frame) {
    if (begin >= end || is_too_large_) return;
    const auto rename = [&](const TextToken& token) -> std::string {
      const auto found = frame.names.find(token.value);
      if (found != frame.names.end()) return found->second;
      return frame.prefix.empty() ? "" : frame.prefix + std::string(text_.substr(token.begin + 1, token.end - token.begin - 1));
    };
    segments_.push_back({out_.size(), begin});
    append_renamed(out_, text_, index_, begin, end, rename);
    is_too_large_ = out_.size() > text_.size() + kMaxInlinedBytes;
  }

  /// Writes from `at` to the end of the block's last statement. Returns where that is.
  size_t emit_block(int block, size_t at, Frame& frame) {
    for (const int s : index_.blocks[block].statements) {
      copy(at, index_.statements[s].begin, frame);
      emit(s, frame);
      at = index_.statements[s].end;
    }
    return at;
  }

  void emit(int number, Frame& frame) {
    const TextStatement& statement = index_.statements[number];
    if (is_too_large_) return;
    if (!calls_in_[number]) return copy(statement.begin, statement.end, frame);
    if (!statement.callee.empty()) return emit_call(statement, frame);
    size_t at = statement.begin;
    for (const int block : statement.blocks) at = emit_block(block, at, frame);
    copy(at, statement.end, frame);
  }

  void emit_call(const TextStatement& call, Frame& caller) {
    const TextBlock& body = index_.blocks[index_.functions[callees_.of(call)].blocks[0]];
    Frame frame;
    frame.prefix = fmt::format("{}{}_", stem_, calls_++);
    for (size_t i = 0; i < call.operands.size(); ++i) frame.names[body.arguments[i]] = name_of(call.operands[i], caller);
    const TextStatement& last = index_.statements[body.statements.back()];
    size_t at = index_.statements[body.statements.front()].begin;
    for (const int s : body.statements) {
      if (s == body.statements.back()) break;
      copy(at, index_.statements[s].begin, frame);
      emit(s, frame);
      at = index_.statements[s].end;
    }
    for (size_t i = 0; i < call.results.size(); ++i) caller.names[call.results[i]] = name_of(last.operands[i], frame);
  }

  /// Which functions public ones, or what stands between functions, name.
  std::vector<bool> needed(const std::vector<std::string>& bodies) const {
    std::map<std::string, size_t, std::less<>> numbers;
    for (size_t f = 0; f < bodies.size(); ++f) numbers[index_.functions[f].name] = f;
    std::vector<bool> out(bodies.size(), false);
    std::vector<size_t> open;
    const auto add = [&](size_t f) {
      if (!out[f]) open.push_back(f);
      out[f] = true;
    };
    const auto add_named = [&](std::string_view text) {
      each_name(text, '@', [&](size_t begin, size_t end) {
        std::string_view name = text.substr(begin + 1, end - begin - 1);
        const bool is_quoted = name.starts_with('"') && name.size() >= 2;
        if (is_quoted) name = name.substr(1, name.size() - 2);
        const auto found = numbers.find(name);
        if (found != numbers.end()) add(found->second);
        for (size_t f = 0; f < bodies.size() && is_quoted && name.find('\\') != std::string_view::npos; ++f) add(f);
      });
    };
    size_t at = 0;
    for (size_t f = 0; f < bodies.size(); ++f) {
      if (!index_.functions[f].is_private) add(f);
      add_named(text_.substr(at, index_.functions[f].begin - at));
      at = index_.functions[f].end;
    }
    add_named(text_.substr(at));
    while (!open.empty()) {
      const size_t f = open.back();
      open.pop_back();
      add_named(bodies[f]);
    }
    return out;
  }

  std::vector<int> lines_of() const {
    std::vector<size_t> starts{0};  // of the original's lines
    for (size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n') starts.push_back(i + 1);
    const auto line_at = [&](size_t place) {
      return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), place) - starts.begin());
    };
    std::vector<int> lines{0};
    size_t segment = 0;
    for (size_t i = 0; i < out_.size();) {
      const size_t end = std::min(out_.find('\n', i), out_.size());
      const size_t first = std::min(out_.find_first_not_of(" \t", i), end);
      while (segment + 1 < segments_.size() && segments_[segment + 1].to <= first) ++segment;
      const auto begin = out_.begin() + static_cast<ptrdiff_t>(segments_[segment].to);
      lines.push_back(line_at(segments_[segment].from) +
                      static_cast<int>(std::count(begin, out_.begin() + static_cast<ptrdiff_t>(first), '\n')));
      i = end + 1;
    }
    return lines;
  }

  const std::string_view text_;
  const TextIndex& index_;
  const Callees callees_;
  std::string stem_, out_;
  std::vector<Segment> segments_;
  std::vector<bool> calls_in_;  ///< per statement: it is a call that is inlined, or there is one in its regions
  int calls_ = 0;
  bool is_too_large_ = false;
};

}  // namespace

bool has_calls(const TextIndex& index) {
  const Callees callees(index);
  return std::any_of(index.statements.begin(), index.statements.end(),
                     [&](const TextStatement& statement) { return !statement.callee.empty() && callees.of(statement) >= 0; });
}

Expected<InlinedText> inline_calls(std::string_view text, const TextIndex& index) { return Inliner(text, index).run(); }

}  // namespace strew::inline v0
