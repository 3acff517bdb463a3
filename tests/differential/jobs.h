// Jobs: the same program in several processes, each with its share of the iterations, their counts added up.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace strew::test {

/// Forks `jobs` children; child j runs body(j), which returns its success and fills a report. Answers whether all succeeded; stops the
/// others when one fails. Call before any thread is started.
bool run_in_jobs(int jobs, const std::function<bool(int job, std::string& report)>& body, std::vector<std::string>& reports);

}  // namespace strew::test
