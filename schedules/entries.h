// The entries of a kernel (strew/abi.h): functions that each work on a range of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/abi.h"
#include "strew/export.h"

namespace strew::inline v0 {

/// Numbers, names and meanings are those of STREW_ENTRIES in strew/abi.h.
enum class EntryKind : uint8_t {
#define STREW_ENTRY_VALUE(kind, what) kind,
  STREW_ENTRIES(STREW_ENTRY_VALUE)
#undef STREW_ENTRY_VALUE
};
constexpr std::string_view name(EntryKind kind) {
#define STREW_ENTRY_NAME(kind, what) #kind,
  return name_among({STREW_ENTRIES(STREW_ENTRY_NAME)}, kind);
#undef STREW_ENTRY_NAME
}

/// The entries that a kernel needs: always range; check under policy error; init for init copy and fill; stream if calls choose how to store;
/// and those of the strategies that it can run.
STREW_API std::vector<EntryKind> entries_of(const Plan& plan, const Schedule& schedule);

}  // namespace strew::inline v0
