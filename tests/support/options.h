// Options for tests. Of those that are read from texts, a text that does not parse is a mistake of the test and ends it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "strew/kernel_options.h"
#include "strew/options.h"

namespace strew::test {

template <class T>
T value_or_abort(Expected<T> parsed) {
  if (!parsed.ok()) {
    std::fprintf(stderr, "the test's options do not parse: %s\n", parsed.status().message().c_str());
    std::abort();
  }
  return *std::move(parsed);
}

inline BackendChoice backend(std::string_view text) { return value_or_abort(parse_backend(text)); }
inline Target target(std::string_view text) { return value_or_abort(parse_target(text)); }

/// Sets the knobs that `text` names, and `threads` if it names that.
inline void set_schedule(KernelOptions& options, std::string_view text) {
  const ScheduleText parsed = value_or_abort(parse_schedule_text(text));
  options.schedule = parsed.knobs;
  if (parsed.threads != 0) options.threads = parsed.threads;
}

/// The process's options, but every request gets a kernel of its own extents, so that a test knows how many there are.
inline Options exact_shapes() {
  Options options = process_options();
  options.exact_shapes = 0;
  return options;
}

}  // namespace strew::test
