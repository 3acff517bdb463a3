// The report of a tuning run as one page of HTML that needs nothing from the net: `strew tune --report OUT.html`. Tested by
// tests/unit/tune/report/html_report_test.cc and, in a browser, tests/report/report_test.py.
#pragma once

#include <string>

#include "tune/tuning_result.h"

namespace strew::inline v0 {

std::string html_report(const TuningResult& result);

}  // namespace strew::inline v0
