// See record.h.
#include "schedules/wisdom/record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/machine.h"
#include "strew/target.h"

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

Status read(const Json& json, const char* name, std::string& out) {
  STREW_ASSIGN(const Json* found, member(json, name, Json::value_t::string, "a text"));
  out = found->get<std::string>();
  return {};
}

Status read(const Json& json, const char* name, bool& out) {
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

Status read(const Json& json, const char* name, int& out, int least, int most) {
  double number = 0;
  STREW_TRY(read(json, name, number, least, most));
  out = static_cast<int>(number);
  return {};
}

Status read_dims(const Json& json, std::map<std::string, int64_t>& out) {
  STREW_ASSIGN(const Json* found, member(json, "dims", Json::value_t::object, "an object"));
  for (const auto& [name, extent] : found->items()) {
    double number = 0;
    STREW_TRY(read(*found, name.c_str(), number, 0, 1e15).with_prefix("dims"));
    out[name] = static_cast<int64_t>(number);
  }
  return {};
}

constexpr double kMostTime = 1e15;

Status read_times(const Json& json, WisdomRecord& out) {
  STREW_TRY(read(json, "ns", out.nanoseconds, 0, kMostTime));
  STREW_TRY(read(json, "ratio", out.ratio, 0, kMostTime));
  STREW_TRY(read(json, "low", out.ratio_low, 0, kMostTime));
  STREW_TRY(read(json, "high", out.ratio_high, 0, kMostTime));
  return read(json, "rounds", out.rounds, 1, kMostNumber);
}

Status read_shape(const Json& json, ShapeFeatures& out) {
  STREW_TRY(read(json, "positions", out.positions, 0, kMostTime));
  STREW_TRY(read(json, "window_bytes", out.window_bytes, 0, kMostTime));
  return read(json, "table_bytes", out.table_bytes, 0, kMostTime);
}

void forget_extents(TensorType& type) {
  for (int64_t& extent : type.dims) extent = kDynamic;
  type.strides.clear();
}

}  // namespace

std::string print(const WisdomRecord& r) {
  Json json = {{"family", r.family},
               {"format", kWisdomFormat},
               {"op", r.op},
               {"dims", r.dims.empty() ? Json::object() : Json(r.dims)},
               {"positions", r.shape.positions},
               {"window_bytes", r.shape.window_bytes},
               {"table_bytes", r.shape.table_bytes},
               {"indices", r.indices},
               {"temperature", r.temperature},
               {"threads", r.threads},
               {"backend", r.backend},
               {"schedule", r.schedule},
               {"default", r.is_default},
               {"confirmed", r.is_confirmed},
               {"ns", r.nanoseconds},
               {"ratio", r.ratio},
               {"low", r.ratio_low},
               {"high", r.ratio_high},
               {"rounds", r.rounds},
               {"machine", r.machine},
               {"features", r.features},
               {"generator", r.generator},
               {"date", r.date}};
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
  const std::pair<const char*, std::string*> texts[] = {{"family", &out.family},       {"op", &out.op},
                                                        {"indices", &out.indices},     {"temperature", &out.temperature},
                                                        {"backend", &out.backend},     {"schedule", &out.schedule},
                                                        {"machine", &out.machine},     {"features", &out.features},
                                                        {"generator", &out.generator}, {"date", &out.date}};
  for (const auto& [name, text] : texts) STREW_TRY(read(json, name, *text));
  STREW_TRY(read_dims(json, out.dims));
  STREW_TRY(read_shape(json, out.shape));
  STREW_TRY(read(json, "threads", out.threads, 1, kMostThreads));
  STREW_TRY(read(json, "default", out.is_default));
  STREW_TRY(read(json, "confirmed", out.is_confirmed));
  if (json.contains("busy")) STREW_TRY(read(json, "busy", out.is_busy));
  STREW_TRY(read_times(json, out));
  return out;
}

std::string_view family_of_line(std::string_view line) {
  if (!line.starts_with(kFirst) || line.size() < kFirst.size() + kFamilyDigits + 1) return {};
  const std::string_view family = line.substr(kFirst.size(), kFamilyDigits);
  const bool is_hex = family.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hex && line[kFirst.size() + kFamilyDigits] == '"' ? family : std::string_view();
}

std::string family_of(const VerifiedOp& identity) {
  Op op = *identity;
  if (auto* scatter = std::get_if<Scatter>(&op)) {
    for (auto* list : {&scatter->operands, &scatter->updates, &scatter->results})
      for (TensorType& type : *list) forget_extents(type);
    forget_extents(scatter->indices);
    for (Extra& extra : scatter->extras) forget_extents(extra.type);
  } else {
    auto& gather = std::get<Gather>(op);
    for (TensorType* type : {&gather.operand, &gather.indices, &gather.result}) forget_extents(*type);
    for (Extra& extra : gather.extras) forget_extents(extra.type);
    for (int64_t& size : gather.slice_sizes) size = kDynamic;
  }
  return to_hex(hash_text(print(op))).substr(0, kFamilyDigits);
}

std::string features_key(const Target& target) {
  return target.arch + ", " + std::to_string(target.vector_bytes) + "-byte vectors";
}

}  // namespace strew::inline v0
