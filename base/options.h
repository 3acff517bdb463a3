// Reading and checking options (include/strew/options.h). The table of them is base/option_rows.h. Only
// base/options.cc reads the environment. Tested by tests/unit/base/options_test.cc.
#pragma once

#include <string>
#include <vector>

#include "strew/options.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// check(options) except for the field `target`, because base/ does not know targets.
Status check_values(const Options& options);

struct Environment {
  Options options;
  std::vector<std::string> warnings;  ///< a line per variable with a bad value, and one for all that are unknown
};
/// The options that the environment sets. `value_of` returns the value of a variable; null or an empty text: it is
/// not set.
Environment read_environment(const char* (*value_of)(const char* variable));
/// A warning that names the variables of `entries` ("NAME=VALUE", a null at the end) that begin with STREW_ and are none of strew's; empty if
/// there are none. Those of the tests and of ./dev are left alone.
std::string unknown_variables(const char* const* entries);
/// The environment of the process, read by the first call. The log takes its level from here. Other code calls
/// process_options(), which also logs the warnings.
const Environment& environment();

/// strew's folder among the user's caches: $XDG_CACHE_HOME/strew, or $HOME/.cache/strew. Empty if the environment has neither as an
/// absolute path. The folder need not exist.
std::string user_cache_folder();

}  // namespace strew::inline v0
