// The link facade: relocatable objects become running code. ORC and JITLink stand behind it (link.cc, in libstrew_llvm); nobody
// else includes their headers. Extern symbols an object may use: the math table (base/math) and the C library's memory functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace strew {

/// Code in memory; unmapped when the last owner goes.
class LinkedObject {
 public:
  virtual ~LinkedObject() = default;
  /// Address of a symbol asked for in link(), in that order.
  std::vector<const void*> addresses;
};

/// Thread-safe.
class Linker {
 public:
  virtual ~Linker() = default;
  /// Links the objects with each other.
  virtual Expected<std::shared_ptr<LinkedObject>> link(const std::vector<std::string>& objects,
                                                       const std::vector<std::string>& symbols) = 0;
};

}  // namespace strew
