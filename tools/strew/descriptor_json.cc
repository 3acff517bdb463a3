// See descriptor_json.h. Prints the descriptor's own fields, which a call will read, and not the plan from which they
// were made. Nothing is compiled, so there are no addresses of entries: every entry that the kernel will have points to
// a placeholder. Tested by tests/golden/descriptor_test.cc.
#include "tools/strew/descriptor_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <vector>

#include "strew/dtype.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRoles[] = {"result", "operand", "indices", "updates", "extra"};
constexpr const char* kInits[] = {"in_place", "copy", "fill"};
constexpr const char* kParts[] = {"fold", "narrow", "start", "sums"};
constexpr const char* kEntries[] = {
#define STREW_ENTRY_NAME(kind, what) #kind,
    STREW_ENTRIES(STREW_ENTRY_NAME)
#undef STREW_ENTRY_NAME
};
constexpr const char* kStrategyNames[] = {
#define STREW_STRATEGY_TEXT(strategy, text) text,
    STREW_STRATEGIES(STREW_STRATEGY_TEXT)
#undef STREW_STRATEGY_TEXT
};

std::shared_ptr<const strew_kernel> descriptor_of(const Compiled& kernel) {
  static const char present = 0;
  return materialise(kernel.descriptor, [](const std::string&) { return &present; });
}

Json hex(uint64_t bits) { return fmt::format("{:#x}", bits); }

/// Prints the fields of one descriptor.
class Printer {
 public:
  explicit Printer(const strew_kernel& kernel) : k_(kernel) {}

  Json run() const {
    Json out = {{"abi", k_.abi}, {"size", k_.size}, {"name", k_.name}, {"identity", k_.identity}, {"features", k_.features}};
    out["target"] = k_.target;
    out["schedule"] = k_.schedule;
    out["backend"] = k_.backend;
    out["tensors"] = tensors();
    out["data_count"] = k_.data_count;
    out["symbols"] = symbols();
    out["constraints"] = constraints();
    out["work"] = {
        {"positions", term(k_.positions)}, {"window", term(k_.window)}, {"splits", term(k_.splits)}, {"init", term(k_.init)}};
    out["kind"] = k_.is_gather != 0 ? "gather" : "scatter";
    out["init_kind"] = kInits[k_.init_kind];
    add_flags(out);
    out["strategy"] = kStrategyNames[k_.strategy];
    out["strategies"] = strategies();
    out["tables"] = k_.tables;
    out["scratch_mib"] = k_.scratch_mib;
    out["covers"] = covers();
    out["cuts"] = cuts();
    out["identities"] = identities();
    out["sources"] = sources();
    out["entries"] = entries();
    return out;
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> list;
    for (int i = 0; i < STREW_ENTRY_COUNT; ++i)
      if (k_.entries[i] != nullptr) list.emplace_back(kEntries[i]);
    return list;
  }

 private:
  std::string term(const strew_term& term) const {
    std::string symbols;
    for (uint32_t i = 0; i < term.count; ++i) symbols += fmt::format("{}s{}", i == 0 ? "" : "*", k_.factors[term.first + i]);
    if (symbols.empty()) return std::to_string(term.factor);
    return (term.factor == 1 ? "" : std::to_string(term.factor) + "*") + symbols;
  }
  static Json numbers(const int64_t* list, uint32_t count) {
    if (list == nullptr && count > 0) return nullptr;
    Json out = Json::array();
    for (uint32_t i = 0; i < count; ++i) out.push_back(list[i] == STREW_OPEN ? Json("?") : Json(list[i]));
    return out;
  }
  std::string tensor(uint32_t number) const { return number < k_.tensor_count ? k_.tensors[number].name : "none"; }

  Json tensors() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < k_.tensor_count; ++i) {
      const strew_tensor_rule& rule = k_.tensors[i];
      Json entry = {{"name", rule.name},
                    {"role", kRoles[rule.role]},
                    {"dtype", rule.dtype_name},
                    {"bits", rule.bits},
                    {"dims", numbers(rule.dims, rule.rank)},
                    {"strides", rule.strides == nullptr ? Json("row-major") : numbers(rule.strides, rule.rank)},
                    {"is_open", rule.is_open != 0},
                    {"data", rule.data}};
      if (rule.source >= 0) entry["source"] = rule.source;
      if (rule.role == STREW_RESULT) entry["kind"] = rule.result_kind == STREW_PER_ROW ? "per_row" : "per_element";
      if (rule.may_be >= 0) entry["may_be"] = tensor(static_cast<uint32_t>(rule.may_be));
      out.push_back(std::move(entry));
    }
    return out;
  }

  Json symbols() const {
    Json out = Json::object();
    for (uint32_t i = 0; i < k_.symbol_count; ++i) {
      const strew_symbol& symbol = k_.symbols[i];
      out[fmt::format("s{}", i)] =
          fmt::format("{} {} of {}", symbol.is_stride != 0 ? "stride" : "dim", symbol.dim, tensor(symbol.tensor));
    }
    return out;
  }

  std::string says(const strew_constraint& c) const {
    const std::string dim = fmt::format("dim {} of {}", c.dim, tensor(c.tensor));
    const std::string other = fmt::format("dim {} of {}", c.other_dim, tensor(c.other));
    const std::string unless = fmt::format(", unless {} has no elements", tensor(c.other));
    switch (c.kind) {
      case STREW_EQUAL:
        return dim + " == " + other;
      case STREW_AT_MOST:
        return dim + " <= " + other;
      case STREW_NOT_EMPTY:
        return dim + " > 0" + unless;
      case STREW_EMPTY:
        return dim + " == 0" + unless;
      case STREW_NOTHING:
        return tensor(c.tensor) + " has no elements";
      case STREW_DISTINCT:
        return "the elements of " + tensor(c.tensor) + " lie at different addresses";
      case STREW_DISTINCT_ROWS:
        return "the rows of " + tensor(c.tensor) + " lie at different addresses";
    }
    return fmt::format("number {}, which is no kind of constraint", c.kind);
  }
  Json constraints() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < k_.constraint_count; ++i)
      out.push_back({{"label", k_.constraints[i].label}, {"holds", says(k_.constraints[i])}});
    return out;
  }

  void add_flags(Json& out) const {
    out["computes_floats"] = k_.computes_floats != STREW_NO_FLOATS;
    out["may_overwrite"] = k_.may_overwrite != 0;
    out["packs_results"] = k_.packs_results != 0;
    out["regroups"] = k_.regroups != 0;
    out["widens_touched"] = k_.widens_touched != 0;
    out["adapts"] = k_.adapts != 0;
    out["streams"] = k_.streams != 0;
  }

  Json strategies() const {
    Json out = Json::array();
    for (size_t i = 0; i < std::size(kStrategyNames); ++i)
      if ((k_.strategies >> i & 1) != 0) out.push_back(kStrategyNames[i]);
    return out;
  }
  Json covers() const {
    Json out = Json::array();
    for (uint32_t i = 0; i < k_.cover_count; ++i)
      out.push_back({{"window", term(k_.covers[i].window)}, {"dim", term(k_.covers[i].dim)}});
    return out;
  }
  Json cuts() const {
    Json reaches = Json::array();
    for (uint32_t i = 0; i < k_.reach_count; ++i)
      reaches.push_back({{"extent", term(k_.reaches[i].extent)}, {"step", term(k_.reaches[i].step)}});
    return {{"position_stride", term(k_.position_stride)},
            {"slab", term(k_.slab)},
            {"window_stride", term(k_.window_stride)},
            {"clip_extent", term(k_.clip_extent)},
            {"clip_stride", term(k_.clip_stride)},
            {"key_stride", term(k_.key_stride)},
            {"reaches", std::move(reaches)}};
  }
  Json identities() const {
    Json out = Json::array();
    for (uint32_t i = 0; k_.identities != nullptr && i < k_.result_count; ++i) out.push_back(hex(k_.identities[i]));
    return out;
  }
  Json component(const strew_index_component& c) const {
    return {{"indices", tensor(c.tensor)},
            {"index_vector_dim", c.vector_dim},
            {"table_dim", c.dim},
            {"counts_from_end", c.counts_from_end != 0}};
  }
  Json sources() const {
    Json out = Json::array();
    for (uint32_t s = 0; s < k_.source_count; ++s) {
      const strew_index_source& source = k_.sources[s];
      Json entry = {{"kind", "vectors"},
                    {"table", tensor(source.table)},
                    {"policy", name(static_cast<OobPolicy>(source.policy))},
                    {"checks_first", source.checks_first != 0},
                    {"positions", term(source.positions)},
                    {"components", Json::array()}};
      for (uint32_t k = 0; k < source.component_count; ++k) entry["components"].push_back(component(source.components[k]));
      for (int d = 0; d < 32; ++d)
        if ((source.repeated_dims >> d & 1) != 0) entry["repeated_dims"].push_back(d);
      out.push_back(std::move(entry));
    }
    return out;
  }

  const strew_kernel& k_;
};

}  // namespace

Json descriptor_json(const Compiled& kernel) {
  if (kernel.descriptor.bytes.empty()) return nullptr;
  const auto descriptor = descriptor_of(kernel);
  Json out = Printer(*descriptor).run();
  if (kernel.parts.empty()) return out;
  out["wide_dtype"] = name(static_cast<DType>(descriptor->wide_dtype));
  out["parts"] = Json::object();
  for (const Compiled& part : kernel.parts) out["parts"][kParts[part.part]] = descriptor_json(part);
  return out;
}

std::string descriptor_text(const Compiled& kernel) {
  if (kernel.descriptor.bytes.empty()) return "none: no backend can build the kernel";
  const auto descriptor = descriptor_of(kernel);
  const std::vector<std::string> entries = Printer(*descriptor).entries();
  const std::string code = !kernel.parts.empty() ? fmt::format("{} parts", kernel.parts.size())
                           : entries.empty()     ? "interpreted"
                                                 : fmt::format("entries {}", fmt::join(entries, " "));
  return fmt::format("{}: tensors {}, symbols {}, constraints {}, {}", descriptor->name, descriptor->tensor_count,
                     descriptor->symbol_count, descriptor->constraint_count, code);
}

}  // namespace strew::cli
