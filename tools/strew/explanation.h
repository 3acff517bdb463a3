// Explanation: what `strew explain` knows of a kernel. explain.cc fills it; explain_brief.cc prints ten lines of it, explain.cc all of it, as
// text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "runtime/shape_families.h"
#include "strew/import.h"

namespace strew::cli {

/// A backend or a strategy, and whether it can be used: ok, or the reason why not.
struct Choice {
  std::string name;
  Status status;
};

struct Guarantees {
  std::string bits_fixed, writes, checks_first;
  int64_t scratch_bytes = 0;
  int threads = 1;
};

struct Explanation {
  const ProgramKernel* kernel;
  Compiled stages;
  std::string tensors;  ///< the kernel's tensors with the file's names of their extents; empty: it has none
  std::string does;     ///< the op as an assignment in NumPy's notation, with the file's names
  std::vector<Choice> backends, strategies;
  std::string chosen, why;  ///< the backend that would run the kernel, or the reason why none can
  Status opened;            ///< not ok: why the module of that backend cannot be opened
  std::string schedule_source;
  std::string run_checks;                                 ///< what `strew run` does about policy undefined
  std::optional<Expected<std::vector<Sharing>>> sharing;  ///< what becomes of requests that differ in extents; an NPU's have none
  std::string library;  ///< with --library: does one of its kernels answer requests for this one?
  CachedAt cache;       ///< where the disk cache has it, or would put it
  Guarantees guarantees;
};

/// "nothing: …" or how much a call copies first; empty: the op copies nothing.
std::string copies_text(const Explanation& explanation);
/// "llvm", or "llvm, which cannot be opened, so that a portable kernel takes its place: …".
std::string backend_text(const Explanation& explanation);

/// About ten lines: what the kernel does, how much, what runs it, the predicted time, what is copied, and what would help. `file`: as the user
/// wrote it; `also`: the names of the other kernels with the same op.
std::string brief_text(const Explanation& explanation, const std::string& file, const std::string& also);

}  // namespace strew::cli
