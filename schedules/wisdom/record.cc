// See record.h.
#include "schedules/wisdom/record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/machine.h"
#include "base/printable.h"
#include "strew/target.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFirst = "{\"family\":\"";
constexpr size_t kFamilyDigits = 16;
constexpr size_t kLongestLine = size_t{1} << 20;
constexpr int kMostNumber = 1 << 30;  // no count of rounds comes near it

Status wrong(const char* name, const std::string& value, const std::string& expected) {
  return invalid_argument(std::string(name) + " is " + value.substr(0, 60) + ", expected " + expected);
}

Expected<const Json*> member(const Json& json, const char* name, Json::value_t type, const char* expected) {
  const auto found = json.find(name);
  if (found == json.end()) return invalid_argument(std::string(name) + " is missing");
  const bool is_number = type == Json::value_t::number_float && found->is_number();
  if (!is_number && found->type() != type)
    return wrong(name, found->dump(-1, ' ', true, Json::error_handler_t::replace), expected);
  return &*found;
}

constexpr double kMostTime = 1e15;

Status read(const Json& json, const char* name, std::string& out, double, double) {
  STREW_ASSIGN(const Json* found, member(json, name, Json::value_t::string, "a text"));
  out = found->get<std::string>();
  return {};
}

Status read(const Json& json, const char* name, bool& out, double, double) {
  STREW_ASSIGN(const Json* found, member(json, name, Json::value_t::boolean, "true or false"));
  out = found->get<bool>();
  return {};
}

/// A finite number in [least, most].
Status read(const Json& json, const char* name, double& out, double least, double most) {
  STREW_ASSIGN(const Json* found, member(json, name, Json::value_t::number_float, "a number"));
  out = found->get<double>();
  if (std::isfinite(out) && out >= least && out <= most) return {};
  return wrong(name, found->dump(), "a number from " + Json(least).dump() + " to " + Json(most).dump());
}

Status read(const Json& json, const char* name, int& out, double least, double most) {
  double number = 0;
  STREW_TRY(read(json, name, number, least, most));
  out = static_cast<int>(number);
  return {};
}

Status read(const Json& json, const char* name, std::map<std::string, int64_t>& out, double least, double most) {
  STREW_ASSIGN(const Json* found, member(json, name, Json::value_t::object, "an object"));
  for (const auto& [dim, extent] : found->items()) {
    double number = 0;
    STREW_TRY(read(*found, dim.c_str(), number, least, most).with_prefix(name));
    out[dim] = static_cast<int64_t>(number);
  }
  return {};
}

/// Calls visit(name, member) for what every line has, in its order; of numbers also with the least and the most, where these are not 0 and kMostTime.
template <class Record, class Visit>
void for_each_member(Record& r, int format, const Visit& visit) {
  visit("family", r.family);
  visit("format", format, 0, kMostNumber);
  visit("op", r.op);
  visit("dims", r.dims);
  visit("positions", r.shape.positions);
  visit("window_bytes", r.shape.window_bytes);
  visit("table_bytes", r.shape.table_bytes);
  visit("indices", r.indices);
  visit("temperature", r.temperature);
  visit("threads", r.threads, 1, kMostThreads);
  visit("backend", r.backend);
  visit("schedule", r.schedule);
  visit("default", r.is_default);
  visit("confirmed", r.is_confirmed);
  visit("ns", r.nanoseconds);
  visit("ratio", r.ratio);
  visit("low", r.ratio_low);
  visit("high", r.ratio_high);
  visit("rounds", r.rounds, 1, kMostNumber);
  visit("machine", r.machine);
  visit("features", r.features);
  visit("generator", r.generator);
  visit("date", r.date);
}

void forget_extents(TensorType& type) {
  for (int64_t& extent : type.dims) extent = kDynamic;
  type.strides.clear();
}
void forget_extents(Gather& gather) {
  for (TensorType* type : {&gather.operand, &gather.indices, &gather.result}) forget_extents(*type);
  for (TensorType& type : gather.more_indices) forget_extents(type);
  for (Extra& extra : gather.extras) forget_extents(extra.type);
  for (int64_t& size : gather.slice_sizes) size = kDynamic;
}

}  // namespace

std::string print(const WisdomRecord& r) {
  Json json;
  for_each_member(r, kWisdomFormat, [&](const char* name, const auto& value, auto...) { json[name] = value; });
  if (r.is_busy) json["busy"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<WisdomRecord> parse_wisdom_record(std::string_view line) {
  if (line.size() > kLongestLine)
    return invalid_argument("the line has " + std::to_string(line.size()) + " bytes, expected at most " +
                            std::to_string(kLongestLine));
  // Records have no lists, and objects only as `dims`: what nests deeper is refused before the parser follows it.
  if (line.find('[') < line.find("\"op\"") || std::count(line.begin(), line.end(), '{') > 8)
    return invalid_argument("the line is nested, expected one object with texts and numbers");
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return invalid_argument("the line is no JSON object");
  int format = 0;
  STREW_TRY(read(json, "format", format, 0, kMostNumber));
  if (format != kWisdomFormat) return wrong("format", std::to_string(format), std::to_string(kWisdomFormat));
  WisdomRecord out;
  Status status;
  for_each_member(out, format, [&](const char* name, auto& value, double least = 0, double most = kMostTime) {
    if (status.ok()) status = read(json, name, value, least, most);
  });
  STREW_TRY(status);
  if (json.contains("busy")) STREW_TRY(read(json, "busy", out.is_busy, 0, 1));
  return out;
}

std::string_view family_of_line(std::string_view line) {
  if (!line.starts_with(kFirst) || line.size() < kFirst.size() + kFamilyDigits + 1) return {};
  const std::string_view family = line.substr(kFirst.size(), kFamilyDigits);
  return is_hex(family) && line[kFirst.size() + kFamilyDigits] == '"' ? family : std::string_view();
}

std::string family_of(const VerifiedOp& identity) {
  Op op = *identity;
  if (auto* scatter = std::get_if<Scatter>(&op)) {
    for (auto* list : {&scatter->operands, &scatter->more_indices, &scatter->updates, &scatter->results})
      for (TensorType& type : *list) forget_extents(type);
    forget_extents(scatter->indices);
    for (Extra& extra : scatter->extras) forget_extents(extra.type);
    for (Lookup& lookup : scatter->lookups) forget_extents(lookup.gather);
  } else {
    forget_extents(std::get<Gather>(op));
  }
  return to_hex(hash_text(print(op))).substr(0, kFamilyDigits);
}

std::string features_key(const Target& target) {
  return target.arch + ", " + std::to_string(target.vector_bytes) + "-byte vectors";
}

}  // namespace strew::inline v0
