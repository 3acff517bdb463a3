// The programs that custom calls of XLA's executables carry, by their identities. A program is read when it is called for the first time, and kept until the process
// ends: executables say nothing when they go. Tested by tests/jax/handler_test.py.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/jax/call.h"

namespace strew::jax {

/// An operand or result of the custom call.
struct Port {
  XLA_FFI_DataType dtype;   ///< XLA_FFI_DataType_INVALID: XLA keeps such elements in another way
  const char* strew_dtype;  ///< its name
  std::vector<int64_t> dims;
  int64_t bytes;
  std::string name;
};

/// How the program runs where outputs lie in the buffers of these inputs.
struct Way {
  std::vector<int32_t> in_place;         ///< per output; -1: it has a buffer of its own
  bool is_shared = false;                ///< buffers overlap otherwise
  strew_bound_program* bound = nullptr;  ///< null: strew_program_run_into does it
  const Way* next = nullptr;
};

class Program {
 public:
  /// Reads the text and looks at what it takes and gives. `name`: for messages.
  static strew_status read(int64_t identity, std::string_view name, std::string_view text, std::unique_ptr<Program>* out);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int64_t identity() const { return identity_; }
  bool has_text(std::string_view text) const;
  /// Was it has_text()'s answer, a while ago, that this memory has the text?
  bool has_seen(std::string_view text) const;
  Failure run(const XLA_FFI_CallFrame& frame) const;

 private:
  Program(int64_t identity, std::string_view text) : identity_(identity), text_(text) {}
  strew_status look(std::string_view name);
  Failure check(const XLA_FFI_CallFrame& frame) const;
  const Way* find(std::span<void* const> data, bool* is_shared, std::span<int32_t> in_place) const;
  strew_status add_way(std::span<const int32_t> in_place, bool is_shared, const Way** out) const;
  strew_status run_into(const Way& way, std::span<void* const> data) const;

  const int64_t identity_;
  const std::string text_;
  strew_program* program_ = nullptr;
  std::vector<Port> inputs_, outputs_;
  mutable std::atomic<const char*> seen_{nullptr};  ///< an address at which the text was found
  mutable std::atomic<const Way*> ways_{nullptr};   ///< a list that only grows
};

/// The program of the call's attributes, read if it is new.
Failure find_program(const XLA_FFI_CallFrame& frame, const Program** out);

}  // namespace strew::jax
