// The report as text: complete, well-formed, safe against hostile names, and bounded. tests/report shows it in a browser.
#include "tune/report/html_report.h"

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Are all elements closed in order? Reads what the report is made of: tags without `>` in attributes.
std::string first_problem(const std::string& page) {
  static const std::set<std::string> kEmpty = {"meta", "line", "circle", "path", "br", "!DOCTYPE"};
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const size_t end = page.find('>', at);
    if (end == std::string::npos) return "a tag is not ended";
    const std::string tag = page.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "</" + tag.substr(1) + "> without its beginning";
      open.pop_back();
    } else if (!kEmpty.contains(name) && !tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not ended";
}

TunedOp op_with(size_t candidates) {
  TunedOp op;
  op.name = "add_rows";
  op.op_text = "strew1.scatter(…)";
  op.usage = "zipf(1) hot threads=2";
  op.notes = {"s0 is open: 8 is taken."};
  op.memcpy_ns = 900;
  op.limit_ns = 700;
  for (size_t i = 0; i < candidates; ++i) {
    TunedCandidate c;
    c.backend = i % 3 == 2 ? BackendChoice::halide : BackendChoice::llvm;
    c.schedule.prefetch = static_cast<int>(i % 256);
    c.schedule.strategy = i % 2 == 0 ? Strategy::owner : Strategy::sequential;
    c.predicted_ns = c.backend == BackendChoice::llvm ? 900 + static_cast<double>(i) : 0;
    c.is_measured = true;
    c.is_confirmed = i < 2;
    c.rounds = 17;
    c.ratio = i == 0 ? 1 : 0.8 + 0.01 * static_cast<double>(i);
    c.nanoseconds = 1000 * c.ratio;
    c.ratio_low = c.ratio - 0.02;
    c.ratio_high = c.ratio + 0.02;
    op.candidates.push_back(c);
  }
  op.winner_at = candidates > 1 ? 1 : 0;
  return op;
}

TuningResult result_with(std::vector<TunedOp> ops) {
  return {"znver4, 2 cores", "strew 0.1.0", "2026-11-23T12:00:00Z", "measure", 1, 5, 4.5, std::move(ops), {}};
}

TEST(HtmlReport, SaysWhatTheResultHas) {
  const std::string page = html_report(result_with({op_with(12)}));
  EXPECT_EQ(first_problem(page), "");
  for (const char* text :
       {"znver4, 2 cores", "add_rows", "zipf(1) hot threads=2", "s0 is open: 8 is taken.", "0.81", "memcpy", "limit of memory",
        "winner", "halide", "All 12 candidates", "What each knob decides", "Predicted and measured"})
    EXPECT_THAT(page, HasSubstr(text));
  for (const char* net : {"http:", "https:", "<script", "<link", "@import", "url("}) EXPECT_THAT(page, Not(HasSubstr(net)));
}

TEST(HtmlReport, NamesOfFilesAndOpsAreText) {
  TunedOp op = op_with(3);
  op.name = "<script>alert('x')</script>\"&";
  op.op_text = "</code><img src=x>";
  op.notes = {"<b>"};
  op.candidates[2].is_measured = false;
  op.candidates[2].remark = "<i>crashed</i>";
  const std::string page = html_report(result_with({op}));
  EXPECT_EQ(first_problem(page), "");
  for (const char* raw : {"<script>alert", "<img", "<b>", "<i>"}) EXPECT_THAT(page, Not(HasSubstr(raw)));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"));
}

TEST(HtmlReport, ExtremeResultsArePages) {
  TunedOp failed = op_with(0), alone = op_with(1), unmeasured = op_with(2);
  failed.failure = "no memory";
  for (TunedCandidate& c : unmeasured.candidates) c.is_measured = false;
  unmeasured.winner_at = 0;
  for (const std::vector<TunedOp>& ops :
       {std::vector<TunedOp>{}, {failed}, {alone}, {unmeasured}, {op_with(3000)}, std::vector<TunedOp>(100, op_with(20))}) {
    const std::string page = html_report(result_with(ops));
    EXPECT_EQ(first_problem(page), "");
    EXPECT_LT(page.size(), 4U << 20);
  }
  EXPECT_THAT(html_report(result_with({failed})), HasSubstr("not tuned: no memory"));
  EXPECT_THAT(html_report(result_with({alone})), HasSubstr("Nothing was faster than the default schedules beyond noise"));
  EXPECT_THAT(html_report(result_with({op_with(3000)})), HasSubstr("The 2920 slowest candidates are left out."));
}

/// Writes a page for tests/report, which shows it in a browser.
TEST(HtmlReport, WritesAPageForTheBrowser) {
  const char* const path = getenv("STREW_REPORT_PAGE");
  if (path == nullptr) GTEST_SKIP() << "STREW_REPORT_PAGE names no file";
  TunedOp failed = op_with(0);
  failed.failure = "its tensors take 256000032768 bytes, expected at most 8589934592";
  std::ofstream(path) << html_report(result_with({op_with(40), op_with(1), failed}));
}

}  // namespace
}  // namespace strew
