// See launch.h. Tested by tests/unit/pto_cpu/machine_test.cc.
#include "tests/pto_cpu/machine/launch.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/pto_cpu/machine/core.h"

namespace pto_cpu {
namespace {

/// Another block failed, so this one stops.
struct Stopped {};

std::string text_of(int block) { return block < 0 ? "several other blocks" : "block " + std::to_string(block); }

}  // namespace

Shared::Shared(Launch& launch, Chip chip, int blocks)
    : launch(launch),
      chip(chip),
      blocks(blocks),
      random_(static_cast<uint32_t>(launch.seed)),
      over_(static_cast<size_t>(blocks)) {
  for (Buffer& buffer : launch.buffers) {
    owners_.emplace_back(buffer.bytes, Owners{});
    written_before.push_back(buffer.written);
    if (!buffer.filled) buffer.written.resize(static_cast<size_t>(buffer.bytes));
  }
}

std::string Shared::touch(size_t buffer, int64_t offset, int64_t bytes, int block, Access access, const std::byte* values) {
  const auto others = [&](int owner) { return owner != kNobody && owner != block; };
  const auto note = [&](int& owner) { owner = owner == kNobody || owner == block ? block : kMany; };
  const auto wrong = [&](int64_t at, const char* does, int owner, const char* did) {
    return "block " + std::to_string(block) + " " + does + " byte " + std::to_string(at) + " of " + launch.buffers[buffer].name +
           ", which " + text_of(owner) + " " + did + ", and nothing orders blocks";
  };
  Buffer& memory = launch.buffers[buffer];
  for (int64_t at = offset; at < offset + bytes; ++at) {
    Owners& owners = owners_[buffer][at];
    const bool agrees = access == Access::write && memory.agreed && memory.data[at] == values[at - offset];
    const char* const does = access == Access::read ? "reads" : access == Access::write ? "writes" : "combines with";
    if (others(owners.writer) && !agrees) return wrong(at, does, owners.writer, "writes");
    if (access != Access::read && others(owners.reader)) return wrong(at, does, owners.reader, "reads");
    const bool same_atomic = access == owners.atomic;
    if (others(owners.combiner) && !same_atomic) return wrong(at, does, owners.combiner, "combines with in another way");
    if (access != Access::read && !memory.filled) memory.written[static_cast<size_t>(at)] = true;
    if (access == Access::read) {
      note(owners.reader);
    } else if (access == Access::write) {
      note(owners.writer);
    } else {
      note(owners.combiner);
      owners.atomic = access;
    }
  }
  return {};
}

void Shared::next_turn() {
  std::vector<int> live;
  for (int block = 0; block < blocks; ++block)
    if (!over_[static_cast<size_t>(block)]) live.push_back(block);
  if (live.empty()) return;
  turn_ = live[random_() % live.size()];
  changed_.notify_all();
}

void Shared::wait_for_turn(int block) {
  if (launch.order != BlockOrder::threads) return;
  std::unique_lock lock(mutex_);
  if (turn_ == block && random_() % 4 == 0) next_turn();
  changed_.wait(lock, [&] { return turn_ == block || !launch.error.empty(); });
  if (!launch.error.empty()) throw Stopped();
}

void Shared::end(int block, const std::string& error) {
  const std::unique_lock lock(mutex_);
  over_[static_cast<size_t>(block)] = true;
  if (launch.error.empty()) launch.error = error;
  if (turn_ == block) next_turn();
  changed_.notify_all();
}

namespace {

void run_block(Shared& shared, int block, const std::function<void()>& kernel) {
  std::string error;
  try {
    Core core(shared, block);
    kernel();
    core.end();
  } catch (const Failure& failure) {
    error = "block " + std::to_string(block) + " of " + std::to_string(shared.blocks) + ": " + failure.what();
  } catch (const Stopped&) {
  }
  shared.end(block, error);
}

}  // namespace

void run(Launch& launch, Chip chip, int blocks, const std::function<void()>& kernel) {
  if (!launch.error.empty()) return;
  launch.counts.resize(static_cast<size_t>(blocks));
  Shared shared(launch, chip, blocks);
  if (launch.order == BlockOrder::threads) {
    std::vector<std::thread> threads;
    for (int block = 0; block < blocks; ++block) threads.emplace_back([&, block] { run_block(shared, block, kernel); });
    for (std::thread& thread : threads) thread.join();
    return;
  }
  for (int i = 0; i < blocks && launch.error.empty(); ++i)
    run_block(shared, launch.order == BlockOrder::forwards ? i : blocks - 1 - i, kernel);
}

}  // namespace pto_cpu
