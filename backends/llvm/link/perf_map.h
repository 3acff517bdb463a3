// perf_map: writes the file /tmp/perf-PID.map, from which the profiler perf learns the names of functions that were generated at run time.
// Part of libstrew_llvm. Tested by tests/unit/perf_map_test.cc.
#pragma once

#include <llvm/ExecutionEngine/Orc/LinkGraphLinkingLayer.h>

#include <memory>

namespace strew::inline v0 {

/// A plugin for JITLink that appends a line with address, size and name for every function that is linked. Nothing depends on the file, so if
/// it cannot be written, or if somebody else has put a file there, the plugin writes nothing more and logs one warning.
std::shared_ptr<llvm::orc::LinkGraphLinkingLayer::Plugin> perf_map_plugin();

}  // namespace strew::inline v0
