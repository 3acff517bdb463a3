// link_services(): what libstrew gave the module for its linker (LlvmModule::use): the memory of generated code, and the functions that code may call.
#pragma once

#include <atomic>

#include "backends/loader/code_memory.h"

namespace strew::inline v0 {

inline std::atomic<const CodeServices*>& given_services() {
  static std::atomic<const CodeServices*> given{nullptr};
  return given;
}
inline const CodeServices& link_services() { return *given_services().load(std::memory_order_acquire); }

}  // namespace strew::inline v0
