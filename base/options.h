// Reading and checking options (include/strew/options.h); base/option_rows.h has the table of them. Only base/options.cc reads the
// environment.
#pragma once

#include <string>
#include <vector>

#include "strew/options.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// check(options) without the target, which base/ does not know.
Status check_values(const Options& options);

struct Environment {
  Options options;
  std::vector<std::string> warnings;  ///< a line per variable with a bad value
};
/// What `value_of` says of each variable; null or an empty text: it is not set.
Environment read_environment(const char* (*value_of)(const char* variable));
/// The process's, read by the first call. The log reads its level here; others call process_options(), which also sees to it
/// that the warnings are logged.
const Environment& environment();

}  // namespace strew::inline v0
