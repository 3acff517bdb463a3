#include "bindings/onnxruntime/report.h"

#include <map>
#include <utility>

namespace strew::ort {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ') {
      constexpr const char* kDigits = "0123456789abcdef";
      out += std::string("\\u00") + kDigits[static_cast<unsigned char>(c) >> 4] + kDigits[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

struct Listed {
  std::mutex mutex;
  std::map<std::string, std::vector<std::shared_ptr<Report>>> reports;  ///< options may be those of several sessions
};
Listed& listed() {
  static auto& all = *new Listed();  // sessions may end while the process does
  return all;
}

}  // namespace

void Report::add(Claim claim) {
  const std::lock_guard lock(mutex_);
  claims_.push_back(std::move(claim));
}

std::string Report::text() const {
  const std::lock_guard lock(mutex_);
  std::string nodes;
  for (const Claim& claim : claims_) {
    nodes += nodes.empty() ? "" : ", ";
    nodes += "{\"node\": " + quoted(claim.node.name) + ", \"operator\": " + quoted(claim.node.type) +
             ", \"runs\": " + (claim.is_taken ? "\"strew\"" : "\"ONNX Runtime\"") + ", \"why\": " + quoted(claim.reason) + "}";
  }
  return "{\"nodes\": [" + nodes + "], \"in_place\": " + std::to_string(in_place_.load(std::memory_order_relaxed)) +
         ", \"copied\": " + std::to_string(copied_.load(std::memory_order_relaxed)) + "}";
}

void list_report(const std::string& session, const std::shared_ptr<Report>& report) {
  const std::lock_guard lock(listed().mutex);
  listed().reports[session].push_back(report);
}

void unlist_report(const std::string& session, const std::shared_ptr<Report>& report) {
  const std::lock_guard lock(listed().mutex);
  const auto found = listed().reports.find(session);
  if (found == listed().reports.end()) return;
  std::erase(found->second, report);
  if (found->second.empty()) listed().reports.erase(found);
}

std::shared_ptr<Report> find_report(const std::string& session) {
  const std::lock_guard lock(listed().mutex);
  const auto found = listed().reports.find(session);
  return found == listed().reports.end() ? nullptr : found->second.back();
}

}  // namespace strew::ort
