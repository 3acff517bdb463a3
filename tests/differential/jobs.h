// Jobs: runs the same test in several processes, each with its share of the iterations, and collects their reports.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace strew::test {

/// Forks `jobs` children. Child j runs body(j), which returns whether it succeeded, and fills a report. Returns
/// whether all succeeded; if one fails, the others are stopped. Must be called before any thread is started.
bool run_in_jobs(int jobs, const std::function<bool(int job, std::string& report)>& body, std::vector<std::string>& reports);

}  // namespace strew::test
