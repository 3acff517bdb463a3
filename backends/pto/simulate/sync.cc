// See buffer.h. A flag is one bit. A flag that is set twice without a wait, or that nothing waits for, would satisfy a
// wait that it is not meant for, so both are errors. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and
// tests/error/pto_simulate_error_test.cc.
#include <algorithm>

#include "backends/pto/simulate/buffer.h"
#include "compiler/pto/parser.h"

namespace strew::inline v0::pto {
namespace {

std::string line_of(const Statement& s) { return std::string(name(s.opcode)) + " in line " + std::to_string(s.at.line); }

/// Does the pipe start an instruction before its previous one has finished?
bool overlaps(Pipe pipe, Chip chip) { return pipe == Pipe::mte3 || (pipe == Pipe::v && chip != Chip::a5); }

}  // namespace

Event Pipes::issue(const Statement& statement, Pipe pipe) { return {&statement, pipe, ++issued_[index(pipe)]}; }

void Pipes::runs(const Event& now, int64_t bytes) {
  busy_[index(now.pipe)] += kStart + bytes;
  work_ += kStart + bytes;
}

int64_t Pipes::time() const { return *std::max_element(busy_.begin(), busy_.end()); }

Expected<std::string> Pipes::key(const Statement& s, Pipe& source, Pipe& destination) const {
  source = pipe_from_name(s.attribute("src_pipe"));
  destination = pipe_from_name(s.attribute("dst_pipe"));
  const auto single = [](Pipe pipe) { return pipe != Pipe::none && pipe != Pipe::all; };
  const std::string text = std::string(s.attribute("src_pipe")) + " to " + std::string(s.attribute("dst_pipe"));
  if (!single(source) || !single(destination) || source == destination)
    return statement_error(s, "it is from " + text + ", expected two of PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2 and PIPE_MTE3");
  return text + ", " + std::string(s.attribute("event_id"));
}

Status Pipes::set(const Statement& s) {
  Pipe source{}, destination{};
  STREW_ASSIGN(const std::string flag, key(s, source, destination));
  const auto [place, fresh] = flags_.try_emplace(flag);
  if (!fresh)
    return statement_error(
        s, "flag " + flag + " is set already, by " + line_of(*place->second.statement) + ", expected a wait_flag between");
  place->second.clock = over_[index(source)];
  place->second.clock[index(source)] = issued_[index(source)];
  place->second.statement = &s;
  place->second.time = busy_[index(source)];
  return {};
}

Status Pipes::wait(const Statement& s) {
  Pipe source{}, destination{};
  STREW_ASSIGN(const std::string flag, key(s, source, destination));
  const auto place = flags_.find(flag);
  if (place == flags_.end())
    return statement_error(s, "the core hangs here: nothing set flag " + flag + " before, expected a set_flag");
  Clock& over = over_[index(destination)];
  for (size_t p = 0; p < over.size(); ++p) over[p] = std::max(over[p], place->second.clock[p]);
  busy_[index(destination)] = std::max(busy_[index(destination)], place->second.time);
  flags_.erase(place);
  return {};
}

Status Pipes::barrier(const Statement& s) {
  const Pipe pipe = pipe_from_name(s.attribute("pipe"));
  if (pipe == Pipe::none)
    return statement_error(s, "the pipe is " + std::string(s.attribute("pipe")) + ", expected one of a vector kernel");
  if (pipe == Pipe::all) {
    over_.fill(issued_);
    busy_.fill(time());
  } else {
    over_[index(pipe)][index(pipe)] = issued_[index(pipe)];
  }
  return {};
}

Status Pipes::finish() const {
  if (flags_.empty()) return {};
  const Flag& flag = flags_.begin()->second;
  return statement_error(
      *flag.statement, "flag " + flags_.begin()->first + " is set and nobody waits for it, expected a wait_flag before the end");
}

bool Pipes::is_over(const Event& earlier, Pipe now) const {
  if (earlier.pipe == now && !overlaps(now, chip_)) return true;
  return over_[index(now)][index(earlier.pipe)] >= earlier.time;
}

Status Pipes::ordered(const Event& earlier, const Event& now, const char* did, const char* does, const Touched& what) const {
  if (earlier.statement == nullptr || (earlier.pipe == now.pipe && earlier.time == now.time) || is_over(earlier, now.pipe))
    return {};
  const std::string from(name(earlier.pipe)), to(name(now.pipe));
  return statement_error(
      *now.statement, "on " + to + " it " + does + " " + what.text() + ", which " + line_of(*earlier.statement) + " " + did +
                          " on " + from + ", expected " +
                          (from == to ? "a barrier of " + to : "set_flag and wait_flag from " + from + " to " + to) + " between");
}

Status Pipes::read(History& history, const Event& now, const Touched& what) const {
  STREW_TRY(ordered(history.write, now, "writes", "reads", what));
  history.reads[index(now.pipe)] = now;
  return {};
}

Status Pipes::write(History& history, const Event& now, const Touched& what) const {
  STREW_TRY(ordered(history.write, now, "writes", "writes", what));
  for (const Event& earlier : history.reads) STREW_TRY(ordered(earlier, now, "reads", "writes", what));
  history.write = now;
  history.reads = {};
  return {};
}

Status statement_error(const Statement& s, const std::string& message) {
  return error_at(s.at, std::string(name(s.opcode)) + ": " + message);
}

}  // namespace strew::inline v0::pto
