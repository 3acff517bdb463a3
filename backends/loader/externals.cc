// See externals.h. The table is made once and never destroyed.
#include "backends/loader/externals.h"

#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>
#endif
#include <math.h>

#include <cstring>
#include <string>
#include <unordered_map>

#include "base/math/math.h"

namespace strew::inline v0 {
namespace {

using Table = std::unordered_map<std::string_view, const void*>;

Table* make_table() {
  auto* const table = new Table;
  const auto add = [&](std::string_view name, const void* address) { table->emplace(name, address); };
  for (const MathFunction& function : math_functions()) {
    add(function.symbol_f32, function.address_f32());
    add(function.symbol_f64, function.address_f64());
  }
  // Rounding functions, which LLVM calls for targets without rounding instructions: x86-64 has them since SSE4.1.
#define STREW_ADD_ROUNDING(name)                                                       \
  add(#name, reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::name))); \
  add(#name "f", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&::name##f)))
  STREW_ADD_ROUNDING(ceil);
  STREW_ADD_ROUNDING(floor);
  STREW_ADD_ROUNDING(trunc);
  STREW_ADD_ROUNDING(rint);
  STREW_ADD_ROUNDING(nearbyint);
  STREW_ADD_ROUNDING(round);
  STREW_ADD_ROUNDING(roundeven);
#undef STREW_ADD_ROUNDING
  add("memcpy", reinterpret_cast<const void*>(&std::memcpy));
  add("memmove", reinterpret_cast<const void*>(&std::memmove));
  add("memset", reinterpret_cast<const void*>(&std::memset));
#ifdef __SANITIZE_THREAD__
  add("__tsan_memcpy", reinterpret_cast<const void*>(&std::memcpy));
  add("__tsan_memmove", reinterpret_cast<const void*>(&std::memmove));
  add("__tsan_memset", reinterpret_cast<const void*>(&std::memset));
#endif
  return table;
}

}  // namespace

const void* find_external(std::string_view name) {
  static const Table* const table = make_table();
  const auto found = table->find(name);
  if (found != table->end()) return found->second;
#ifdef __SANITIZE_THREAD__
  if (name.starts_with("__tsan_")) return dlsym(RTLD_DEFAULT, std::string(name).c_str());
#endif
  return nullptr;
}

}  // namespace strew::inline v0
