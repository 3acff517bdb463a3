// See core.h. Tested by tests/unit/pto_cpu/machine_test.cc.
#include "tests/pto_cpu/machine/core.h"

#include <algorithm>
#include <cstring>

namespace pto_cpu {
namespace {

thread_local Core* this_core = nullptr;

constexpr int64_t kBufferBytes[] = {192 * 1024, 128 * 1024};  // a3; a5: what every launch has
constexpr int64_t kL1Bytes = 512 * 1024;
constexpr size_t kMostEvents = size_t{1} << 24;

size_t number(Pipe pipe) { return static_cast<size_t>(pipe); }

/// Does the pipe start an instruction before its previous one is over?
bool overlaps(Pipe pipe, Chip chip) { return pipe == Pipe::mte3 || (pipe == Pipe::v && chip == Chip::a3); }

}  // namespace

const char* name(Pipe pipe) {
  constexpr const char* kNames[] = {"PIPE_S",  "PIPE_V", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "a pipe of other kernels",
                                    "PIPE_ALL"};
  return kNames[number(pipe)];
}

void fail(const char* instruction, int line, const std::string& what) {
  throw Failure(std::string(instruction) + " in line " + std::to_string(line) + ": " + what);
}

Core::Core(Shared& shared, int block) : shared(shared), block(block) {
  const int64_t bytes = kBufferBytes[static_cast<int>(shared.chip)];
  rooms_.reset(new std::byte[static_cast<size_t>(bytes + kL1Bytes)]);
  buffer_ = {"the vector buffer", rooms_.get(), bytes, {bytes, Byte{}}};
  l1_ = {"L1", rooms_.get() + bytes, kL1Bytes, {kL1Bytes, Byte{}}};
  for (const Buffer& buffer : shared.launch.buffers)
    memory_.push_back({buffer.name, buffer.data, buffer.bytes, {buffer.bytes, Byte{.filled = buffer.filled}}});
  for (size_t i = 0; i < memory_.size(); ++i)
    for (size_t at = 0; at < shared.written_before[i].size(); ++at)
      if (shared.written_before[i][at]) memory_[i].touched[static_cast<int64_t>(at)].filled = true;
  this_core = this;
}

Core& Core::current() {
  if (this_core == nullptr) throw Failure("an instruction is executed outside of a launch");
  return *this_core;
}

// --- accesses ---

void Core::begin(Pipe pipe, const char* name, int line) {
  shared.wait_for_turn(block);
  if (events_.size() >= kMostEvents) pto_cpu::fail(name, line, "the kernel does not end: it has executed too many instructions");
  events_.push_back({name, line, pipe, ++issued_[number(pipe)]});
}

void Core::go_on(Pipe pipe) {
  const Event before = events_.back();
  join(pipe, after(before.pipe));
  events_.push_back({before.name, before.line, pipe, ++issued_[number(pipe)]});
}

void Core::fail(const std::string& what) const { pto_cpu::fail(events_.back().name, events_.back().line, what); }

void Core::require_order(uint32_t earlier, bool wrote, bool writes, const Area& area, int64_t offset) const {
  const Event &before = events_[earlier], &now = events_.back();
  if (before.pipe == now.pipe && (before.time == now.time || !overlaps(now.pipe, chip()))) return;
  if (clocks_[number(now.pipe)][number(before.pipe)] >= before.time) return;
  const bool same = before.pipe == now.pipe;
  fail(std::string("on ") + name(now.pipe) + " it " + (writes ? "writes" : "reads") + " byte " + std::to_string(offset) + " of " +
       area.name + ", which " + before.name + " in line " + std::to_string(before.line) + (wrote ? " writes" : " reads") +
       " on " + name(before.pipe) + ", expected " +
       (same ? std::string("a barrier of ") + name(now.pipe)
             : std::string("a flag from ") + name(before.pipe) + " to " + name(now.pipe)) +
       " between");
}

void Core::touch(Area& area, int64_t offset, int64_t bytes, bool writes) {
  const auto now = static_cast<uint32_t>(events_.size() - 1);
  const size_t pipe = number(events_.back().pipe);
  uint32_t over = 0;  // the last event that was found to be over: bytes side by side were often touched by the same one
  const auto require = [&](uint32_t earlier, bool wrote, int64_t at) {
    if (earlier == 0 || earlier == over) return;
    require_order(earlier, wrote, writes, area, at);
    over = earlier;
  };
  for (int64_t at = offset; at < offset + bytes; ++at) {
    Byte& byte = area.touched[at];
    require(byte.writer, true, at);
    if (writes) {
      for (const uint32_t reader : byte.readers) require(reader, false, at);
      byte = {now, {}, true};
    } else {
      if (!byte.filled) fail("it reads byte " + std::to_string(at) + " of " + area.name + ", which nothing wrote");
      byte.readers[pipe] = now;
    }
  }
}

Core::Area& Core::tile_area(const TileView& tile, int64_t offset, int64_t bytes) {
  if (tile.address < 0) fail("the tile has no address, expected a TASSIGN before");
  Area& area = tile.in_l1 ? l1_ : buffer_;
  if (offset < 0 || offset + bytes > tile.rows * tile.cols * size_of(tile.type))
    fail("bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes - 1) + " are not in the tile, which has " +
         std::to_string(tile.rows * tile.cols * size_of(tile.type)));
  if (tile.address + offset + bytes > area.bytes)
    fail("byte " + std::to_string(tile.address + offset + bytes - 1) + " is beyond " + area.name + ", which has " +
         std::to_string(area.bytes) + " bytes");
  return area;
}

const std::byte* Core::read(const TileView& tile, int64_t offset, int64_t bytes) {
  Area& area = tile_area(tile, offset, bytes);
  touch(area, tile.address + offset, bytes, false);
  return area.data + tile.address + offset;
}

void Core::write(const TileView& tile, int64_t offset, const std::byte* values, int64_t bytes) {
  Area& area = tile_area(tile, offset, bytes);
  touch(area, tile.address + offset, bytes, true);
  std::memcpy(area.data + tile.address + offset, values, static_cast<size_t>(bytes));
}

void Core::lose(const TileView& tile, int64_t offset, int64_t bytes) {
  Area& area = tile_area(tile, offset, bytes);
  touch(area, tile.address + offset, bytes, true);
  for (int64_t at = 0; at < bytes; ++at) {
    area.touched[tile.address + offset + at].filled = false;
    area.data[tile.address + offset + at] = std::byte{0x5A};
  }
}

size_t Core::buffer_of(const void* address, int64_t bytes, int64_t& offset) const {
  for (size_t i = 0; i < memory_.size(); ++i) {
    offset = reinterpret_cast<intptr_t>(address) - reinterpret_cast<intptr_t>(memory_[i].data);
    if (offset >= 0 && offset + bytes <= memory_[i].bytes) return i;
  }
  const Area* nearest = nullptr;
  int64_t least = int64_t{1} << 40;
  for (const Area& area : memory_) {
    const int64_t from_start = reinterpret_cast<intptr_t>(address) - reinterpret_cast<intptr_t>(area.data);
    const int64_t away = from_start < 0 ? -from_start : from_start + bytes - area.bytes;
    if (away >= least) continue;
    least = away;
    nearest = &area;
    offset = from_start;
  }
  if (nearest == nullptr) fail("it touches memory that is nowhere near an argument");
  fail("it touches memory outside of the arguments: byte " + std::to_string(offset) + " from the start of " + nearest->name +
       ", which has " + std::to_string(nearest->bytes) + " bytes");
}

const std::byte* Core::read(const void* address, int64_t bytes) {
  int64_t offset = 0;
  const size_t buffer = buffer_of(address, bytes, offset);
  touch(memory_[buffer], offset, bytes, false);
  const std::string wrong = shared.touch(buffer, offset, bytes, block, Access::read, nullptr);
  if (!wrong.empty()) fail(wrong);
  return memory_[buffer].data + offset;
}

uint64_t Core::value_for_atomic(const void* address, int64_t bytes) const {
  int64_t offset = 0;
  const size_t buffer = buffer_of(address, bytes, offset);
  uint64_t out = 0;
  std::memcpy(&out, memory_[buffer].data + offset, static_cast<size_t>(bytes));
  return out;
}

void Core::write(void* address, const std::byte* values, int64_t bytes, Access access) {
  int64_t offset = 0;
  const size_t buffer = buffer_of(address, bytes, offset);
  if (!shared.launch.buffers[buffer].writable) fail("it writes " + memory_[buffer].name + ", which is an input");
  if (access != Access::write && !memory_[buffer].touched[offset].filled)
    fail("it combines with byte " + std::to_string(offset) + " of " + memory_[buffer].name + ", which nothing wrote");
  touch(memory_[buffer], offset, bytes, true);
  const std::string wrong = shared.touch(buffer, offset, bytes, block, access, values);
  if (!wrong.empty()) fail(wrong);
  std::memcpy(memory_[buffer].data + offset, values, static_cast<size_t>(bytes));
}

// --- order ---

bool Core::is_deleted(int line) {
  shared.wait_for_turn(block);
  shared.launch.flag_lines.insert(line);
  return shared.launch.deleted.contains(line);
}

void Core::require_pipe(const char* name, Pipe pipe, int line) const {
  if (pipe == Pipe::other || pipe == Pipe::all)
    pto_cpu::fail(name, line,
                  std::string("it names ") + pto_cpu::name(pipe) + ", expected one of PIPE_S, PIPE_V and PIPE_MTE1 to 3");
}

std::string Core::key_text(const Key& key) const {
  const auto& [from, to, event] = key;
  if (from == Pipe::all) return "signal " + std::to_string(event);
  return std::string("flag ") + name(from) + " to " + name(to) + ", event " + std::to_string(event);
}

/// What is known to be over when everything is over that the pipe was given until now.
Core::Clock Core::after(Pipe pipe) const {
  Clock out = clocks_[number(pipe)];
  out[number(pipe)] = issued_[number(pipe)];
  return out;
}

void Core::join(Pipe pipe, const Clock& clock) {
  Clock& known = clocks_[number(pipe)];
  for (size_t p = 0; p < kPipes; ++p) known[p] = std::max(known[p], clock[p]);
}

void Core::set(const char* name, const Key& key, Pipe after_pipe, int line) {
  const auto [place, fresh] = flags_.try_emplace(key);
  if (!fresh)
    pto_cpu::fail(name, line,
                  key_text(key) + " is set already, in line " + std::to_string(place->second.line) + ", expected a wait between");
  place->second = {after(after_pipe), line};
}

void Core::wait(const char* name, const Key& key, Pipe before, int line) {
  const auto place = flags_.find(key);
  if (place == flags_.end()) pto_cpu::fail(name, line, "the core hangs here, because nothing has set " + key_text(key));
  join(before, place->second.clock);
  flags_.erase(place);
}

void Core::set_flag(Pipe from, Pipe to, int event, int line) {
  if (is_deleted(line)) return;
  for (const Pipe pipe : {from, to}) require_pipe("set_flag", pipe, line);
  if (from == to) pto_cpu::fail("set_flag", line, std::string("it is from ") + name(from) + " to itself, expected two pipes");
  set("set_flag", {from, to, event}, from, line);
}

void Core::wait_flag(Pipe from, Pipe to, int event, int line) {
  if (is_deleted(line)) return;
  for (const Pipe pipe : {from, to}) require_pipe("wait_flag", pipe, line);
  wait("wait_flag", {from, to, event}, to, line);
}

void Core::barrier(Pipe pipe, int line) {
  if (is_deleted(line)) return;
  if (pipe == Pipe::all) {
    clocks_.fill(issued_);
    return;
  }
  require_pipe("pipe_barrier", pipe, line);
  clocks_[number(pipe)][number(pipe)] = issued_[number(pipe)];
}

void Core::set_signal(Pipe after_pipe, int signal, int line) {
  if (is_deleted(line)) return;
  require_pipe("set_intra_block", after_pipe, line);
  set("set_intra_block", {Pipe::all, Pipe::all, signal}, after_pipe, line);
}

void Core::wait_signal(Pipe before, int signal, int line) {
  if (is_deleted(line)) return;
  require_pipe("wait_intra_block", before, line);
  wait("wait_intra_block", {Pipe::all, Pipe::all, signal}, before, line);
}

void Core::end() const {
  if (flags_.empty()) return;
  const auto& [key, flag] = *flags_.begin();
  pto_cpu::fail("set_flag", flag.line, key_text(key) + " is still set when the kernel ends, expected a wait for it");
}

}  // namespace pto_cpu
