// Files of objects: reading objects and archives, writing archives. Tested by tests/unit/runtime/load_test.cc and tests/library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/modules.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// LlvmModule::read_archive. Fails if an object is damaged (backends/object_checksum.h), if the file is neither an archive nor a relocatable object, or if an archive is empty or only refers to
/// its members (a thin archive).
Expected<std::vector<ArchiveMember>> read_archive(std::string_view file);
/// The same objects; fails also if one is not for the architecture of this process.
Expected<std::vector<std::string>> objects_of(std::string_view file);
/// LlvmModule::undefined_symbols.
Expected<std::vector<std::string>> undefined_symbols(std::string_view file);
/// LlvmModule::write_archive.
Expected<std::string> write_archive(const std::vector<ArchiveMember>& members);

}  // namespace strew::inline v0
