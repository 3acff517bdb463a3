// write_flags(). Dependences within a body. A statement depends on earlier statements of other pipes that wrote what it
// reads or writes, or read what it writes. Just before it, a set_flag of their pipe and a wait_flag of its own pipe are
// inserted. A set_flag takes effect after everything that its pipe was given before, so one flag covers all earlier
// statements of that pipe, and a pair of pipes gets a new flag only for a dependence that no earlier flag covers. A pipe
// that waits for another one also waits for all that this one has waited for before, so flags that follow from others are left out.
// Vector instructions on a3, and stores on both chips, overlap within their own pipe: there a barrier of that pipe is
// inserted instead.
//
// Loop-carried dependences, between an iteration and the next. Such a dependence becomes a flag that is set before the
// loop, waited for in the body before the first statement concerned, set again after the last one, and waited for after
// the loop. For the flags of an outer loop, an inner loop is one statement that touches everything its body touches;
// inside, it has flags of its own. So the two tiles of an iteration (double buffering) can overlap. Flags within a body
// use events 0 to 3 in turn, loop-carried flags events 4 to 7, so neither kind is mistaken for the other. A loop-carried flag takes an event
// that no loop inside its own uses; where there is none left, a barrier of all pipes ends each iteration instead.
//
// Tested by tests/unit/backends/pto/pto_flags_test.cc and, through the simulator's check for missing flags, by every simulated
// program.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "backends/pto/passes.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {
namespace {

/// A read or write by one pipe.
struct Touch {
  int what = 0;  ///< the number of a tile, or of the pointer behind a view
  Pipe pipe = Pipe::none;
  bool write = false;
  size_t at = 0;  ///< the number, in its body, of the statement that reads or writes, or has one that does in its own body
};
using PipePair = std::pair<Pipe, Pipe>;

constexpr int kPlainEvents = 4;

Statement flag(Opcode opcode, PipePair pipes, int event) {
  return {.opcode = opcode,
          .attributes = {{"src_pipe", std::string(name(pipes.first))},
                         {"dst_pipe", std::string(name(pipes.second))},
                         {"event_id", "EVENT_ID" + std::to_string(event)}}};
}

class FlagWriter {
 public:
  explicit FlagWriter(Chip chip) : chip_(chip) {}

  void run(Function& function, const std::set<std::string>& apart) {
    for (const std::string& name : apart) number_of(name);
    apart_numbers_ = static_cast<int>(numbers_.size());
    // A view, and every partition of one, has the number of the pointer behind it.
    each(function.body, [&](const Statement& s) {
      if (s.opcode == Opcode::make_tensor_view || s.opcode == Opcode::partition_view)
        numbers_[s.result] = number_of(s.operands[0][0]);
    });
    body(function.body);
  }

 private:
  int number_of(const std::string& name) { return numbers_.try_emplace(name, static_cast<int>(numbers_.size())).first->second; }

  /// Everything that statement number `at` reads and writes, including the statements of its body.
  std::vector<Touch> touches(const Statement& s, size_t at) {
    std::vector<Touch> out;
    const Instruction& row = info(s.opcode);
    for (size_t g = 0; g < s.operands.size() && g < row.operands.size(); ++g) {
      if (row.operands[g].access == Access::none || s.operands[g].empty()) continue;
      out.push_back({number_of(s.operands[g][0]), pipe_of(s, chip_, g), row.operands[g].access == Access::write, at});
    }
    for (const Statement& inner : s.body) {
      const std::vector<Touch> more = touches(inner, at);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  /// Must `later` come after `earlier`?
  static bool depends(const Touch& earlier, const Touch& later) {
    return earlier.what == later.what && (earlier.write || later.write) && earlier.pipe != Pipe::none && later.pipe != Pipe::none;
  }
  /// Does the pipe execute this access after its own earlier ones without a barrier?
  bool ordered_by_pipe(const Touch& touch) const {
    if (touch.pipe == Pipe::mte3) return touch.what < apart_numbers_;
    return touch.pipe != Pipe::v || chip_ != Chip::a3;
  }

  /// A loop-carried flag.
  struct Carried {
    PipePair pipes;
    size_t first = 0, last = 0;  ///< the wait stands before statement `first`, the set after statement `last`
    int event = 0;
  };

  /// What body() tells of a statement that was there before.
  struct Waits {
    std::vector<PipePair> drained;  ///< of a loop: the pipe pairs of its loop-carried flags
    std::vector<PipePair> implied;  ///< the pipe pairs whose waits before the statement follow from others of the body
  };

  /// Inserts the flags into `statements`. `waits`: receives what there is to tell of each.
  void body(std::vector<Statement>& statements, std::vector<Waits>* waits = nullptr) {
    std::vector<Touch> seen;
    Covered covered;
    std::vector<Statement> out;
    size_t number = 0;
    for (Statement& s : statements) {
      const std::vector<Touch> touched = touches(s, number);
      if (s.opcode == Opcode::barrier) {
        seen.clear();
        covered.clear();
      }
      const std::vector<PipePair> implied = wait(seen, touched, number, covered, out);
      seen.insert(seen.end(), touched.begin(), touched.end());
      ++number;
      if (waits != nullptr) waits->push_back({{}, implied});
      if (s.opcode == Opcode::loop) {
        // The waits after the loop cover everything before it, too.
        const std::vector<PipePair> waited = loop(s, out);
        for (const PipePair& pipes : waited) covered[pipes] = {number, true};
        if (waits != nullptr) waits->back().drained = waited;
        continue;
      }
      if (s.opcode == Opcode::branch) body(s.body);
      out.push_back(std::move(s));
    }
    statements = std::move(out);
  }

  /// Of each pair of pipes: the second has waited for the first one's statements before number `until`. `direct`: a flag of theirs says so.
  struct Cover {
    size_t until = 0;
    bool direct = true;
  };
  using Covered = std::map<PipePair, Cover>;

  /// Inserts the flags before statement number `at`, which touches `touched`. Returns the pairs whose flags follow from others.
  std::vector<PipePair> wait(const std::vector<Touch>& seen, const std::vector<Touch>& touched, size_t at, Covered& covered,
                             std::vector<Statement>& out) {
    std::map<PipePair, size_t> needed;  // by pair: 1 more than the number of the last statement to wait for
    for (const Touch& later : touched)
      for (const Touch& earlier : seen) {
        const PipePair pipes{earlier.pipe, later.pipe};
        if (!depends(earlier, later) || (pipes.first == pipes.second && ordered_by_pipe(later))) continue;
        needed[pipes] = std::max(needed[pipes], earlier.at + 1);
      }
    // The latest statement has often waited for the others itself.
    std::vector<std::pair<PipePair, size_t>> order(needed.begin(), needed.end());
    std::ranges::stable_sort(order, std::greater<>(), &std::pair<PipePair, size_t>::second);
    std::vector<PipePair> implied;
    for (const auto& [pipes, until] : order) {
      const Cover& known = covered[pipes];
      if (known.until < until) {
        emit(pipes, out);
        cover(pipes, at, covered);
      } else if (!known.direct) {
        implied.push_back(pipes);
      }
    }
    return implied;
  }

  /// Notes a flag before statement number `at`: what the first pipe has waited for, the second has, too.
  static void cover(PipePair pipes, size_t at, Covered& covered) {
    covered[pipes] = {at, true};
    if (pipes.first == pipes.second) return;
    for (const Pipe pipe : {Pipe::s, Pipe::v, Pipe::mte1, Pipe::mte2, Pipe::mte3}) {
      const auto known = covered.find({pipe, pipes.first});
      if (pipe == pipes.first || known == covered.end()) continue;
      const size_t until = known->second.until;
      if (Cover& own = covered[{pipe, pipes.second}]; own.until < until) own = {until, false};
    }
  }

  void emit(PipePair pipes, std::vector<Statement>& out) {
    if (pipes.first == pipes.second) {
      out.push_back({.opcode = Opcode::barrier, .attributes = {{"pipe", std::string(name(pipes.first))}}});
      return;
    }
    const int event = plain_[pipes]++ % kPlainEvents;
    out.push_back(flag(Opcode::set_flag, pipes, event));
    out.push_back(flag(Opcode::wait_flag, pipes, event));
  }

  /// A statement of a loop's body before flags were inserted, and which flags stand before it now.
  struct Step {
    bool touches = false;                 ///< does it read or write anything?
    bool nests = false, barrier = false;  ///< is the statement a loop or an `if`? is it a barrier of all pipes?
    size_t start = 0;                     ///< where the statement and the flags before it begin, in the body with flags
    std::vector<PipePair> flagged;        ///< the pipe pairs of the wait_flags before it, and of those that follow from others
    std::vector<PipePair> drained;        ///< for a loop: the pipe pairs of its own loop-carried flags
  };

  /// Do the flags and barriers within the body already make `later` wait for `earlier` of the iteration before?
  static bool covered_between(const std::vector<Step>& steps, const Touch& earlier, const Touch& later, PipePair pipes) {
    const auto has = [&](const std::vector<PipePair>& list) { return std::find(list.begin(), list.end(), pipes) != list.end(); };
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].barrier && (i > earlier.at || i < later.at)) return true;
      if (i <= later.at && has(steps[i].flagged)) return true;
      if ((i >= earlier.at || i <= later.at) && has(steps[i].drained)) return true;
    }
    return false;
  }

  /// The events of a pair of pipes that the statements use.
  static std::set<int> events_in(const std::vector<Statement>& statements, PipePair pipes) {
    std::set<int> out;
    each(statements, [&](const Statement& s) {
      if (s.opcode == Opcode::set_flag && s.attribute("src_pipe") == name(pipes.first) &&
          s.attribute("dst_pipe") == name(pipes.second))
        out.insert(s.attribute("event_id").back() - '0');
    });
    return out;
  }

  /// The loop-carried flags that the loop needs, whose body is `inner`; -1 for an event: there is none left.
  std::vector<Carried> carried(const std::vector<Step>& steps, const std::vector<Touch>& all,
                               const std::vector<Statement>& inner) {
    size_t first_leaf = steps.size(), last_leaf = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].nests || !steps[i].touches) continue;
      first_leaf = std::min(first_leaf, i);
      last_leaf = i;
    }
    std::map<std::tuple<Pipe, Pipe, size_t>, Carried> found;
    for (const Touch& earlier : all) {
      for (const Touch& later : all) {
        const PipePair pipes{earlier.pipe, later.pipe};
        if (pipes.first == pipes.second || !depends(earlier, later)) continue;
        if (covered_between(steps, earlier, later, pipes)) continue;
        const bool inner = steps[later.at].nests, from_inner = steps[earlier.at].nests;
        const size_t first = inner ? later.at : first_leaf, last = from_inner ? earlier.at : last_leaf;
        // A dependence that starts or ends in an inner loop has a flag of its own there; all others of the body share
        // one flag.
        const size_t key = inner ? later.at + 1 : from_inner ? steps.size() + earlier.at + 1 : 0;
        Carried& c = found[{pipes.first, pipes.second, key}];
        if (c.pipes.first == Pipe::none) c = {pipes, first, last, 0};
        c.first = std::min(c.first, first);
        c.last = std::max(c.last, last);
      }
    }
    std::vector<Carried> out;
    for (auto& [key, c] : found) {
      std::set<int> taken = events_in(inner, c.pipes);
      for (const Carried& other : out)
        if (other.pipes == c.pipes) taken.insert(other.event);
      constexpr int kCarriedEvents = kEvents - kPlainEvents;
      c.event = -1;
      for (int tried = 0; tried < kCarriedEvents && c.event < 0; ++tried)
        if (const int event = kPlainEvents + carried_[c.pipes]++ % kCarriedEvents; !taken.contains(event)) c.event = event;
      out.push_back(c);
    }
    return out;
  }

  /// Inserts the flags within a loop's body, and returns the statements that it had before. `all`: receives all that they touch.
  std::vector<Step> steps_of(std::vector<Statement>& statements, std::vector<Touch>& all) {
    std::vector<Step> steps;
    for (Statement& s : statements) {
      const std::vector<Touch> touched = touches(s, steps.size());
      all.insert(all.end(), touched.begin(), touched.end());
      steps.push_back({.touches = !touched.empty(),
                       .nests = s.opcode == Opcode::loop || s.opcode == Opcode::branch,
                       .barrier = s.opcode == Opcode::barrier});
      s.at.line = -1;  // marks the statements that were there before body() inserts flags
    }
    std::vector<Waits> waits;
    body(statements, &waits);
    size_t number = 0, start = 0;
    for (size_t i = 0; i < statements.size(); ++i) {
      Statement& s = statements[i];
      if (s.at.line < 0) {
        s.at = {};
        steps[number].start = std::exchange(start, i + 1);
        steps[number].drained = std::move(waits[number].drained);
        const std::vector<PipePair>& implied = waits[number].implied;
        steps[number].flagged.insert(steps[number].flagged.end(), implied.begin(), implied.end());
        ++number;
      } else if (s.opcode == Opcode::wait_flag && number < steps.size()) {  // waits behind the last statement cover nothing
        steps[number].flagged.emplace_back(pipe_from_name(s.attribute("src_pipe")), pipe_from_name(s.attribute("dst_pipe")));
      }
    }
    return steps;
  }

  /// Appends the loop with all its flags to `out`, and returns the pipe pairs of its loop-carried flags.
  std::vector<PipePair> loop(Statement& s, std::vector<Statement>& out) {
    std::vector<Statement> inner = std::move(s.body);
    std::vector<Touch> all;
    const std::vector<Step> steps = steps_of(inner, all);
    std::vector<Carried> flags = carried(steps, all, inner);
    const bool lacks_events = std::erase_if(flags, [](const Carried& c) { return c.event < 0; }) > 0;
    std::vector<Statement> marked;
    for (size_t i = 0; i < steps.size(); ++i) {
      for (const Carried& c : flags)
        if (c.first == i) marked.push_back(flag(Opcode::wait_flag, c.pipes, c.event));
      const size_t end = i + 1 == steps.size() ? inner.size() : steps[i + 1].start;
      for (size_t at = steps[i].start; at < end; ++at) marked.push_back(std::move(inner[at]));
      for (const Carried& c : flags)
        if (c.last == i) marked.push_back(flag(Opcode::set_flag, c.pipes, c.event));
    }
    for (const Pipe pipe : {Pipe::v, Pipe::mte3})
      if (carries_dependence_in(pipe, all)) emit({pipe, pipe}, marked);
    if (lacks_events) marked.push_back({.opcode = Opcode::barrier, .attributes = {{"pipe", std::string(name(Pipe::all))}}});
    s.body = std::move(marked);
    for (const Carried& c : flags) out.push_back(flag(Opcode::set_flag, c.pipes, c.event));
    out.push_back(std::move(s));
    std::vector<PipePair> pairs;
    for (const Carried& c : flags) {
      out.push_back(flag(Opcode::wait_flag, c.pipes, c.event));
      pairs.push_back(c.pipes);
    }
    return pairs;
  }

  /// Is there a loop-carried dependence between instructions of `pipe` that the pipe itself does not order?
  bool carries_dependence_in(Pipe pipe, const std::vector<Touch>& all) const {
    for (const Touch& a : all)
      for (const Touch& b : all)
        if (a.pipe == pipe && b.pipe == pipe && depends(a, b) && !ordered_by_pipe(b)) return true;
    return false;
  }

  Chip chip_;
  std::unordered_map<std::string, int> numbers_;
  int apart_numbers_ = 0;  ///< smaller numbers are the pointers `apart` of write_flags()
  std::map<PipePair, int> plain_, carried_;
};

}  // namespace

void write_flags(Function& function, Chip chip, const std::set<std::string>& apart) { FlagWriter(chip).run(function, apart); }

}  // namespace strew::inline v0::pto
