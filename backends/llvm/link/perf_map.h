// Names for profilers: perf's map file, which says what code made at run time is called. Part of libstrew_llvm.
#pragma once

#include <llvm/ExecutionEngine/Orc/LinkGraphLinkingLayer.h>

#include <memory>

namespace strew {

/// Appends a line per function linked to /tmp/perf-PID.map, where perf looks: address, size, name. Nothing depends on the file, so one
/// that cannot be written, or that somebody else has placed there, is left out silently.
std::shared_ptr<llvm::orc::LinkGraphLinkingLayer::Plugin> perf_map_plugin();

}  // namespace strew
