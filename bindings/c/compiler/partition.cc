// Parts of programs in the C interface: what a host hands over of a graph that strew does not run whole. Tested by tests/c_api.
#include "strew/partition.h"

#include <algorithm>

#include "bindings/c/compiler/handles.h"

struct strew_parts {
  const strew_program* program = nullptr;
  std::vector<strew::Part> parts;
};

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

namespace {

/// Texts of the caller's, none of which may be null.
Expected<std::vector<std::string>> texts_of(const char* field, const char* const* texts, size_t count) {
  std::vector<std::string> out;
  if (count != 0) STREW_TRY(check_not_null(texts, field));
  for (size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return invalid_argument(std::string(field) + "[" + std::to_string(i) + "]: null, expected a name");
    out.emplace_back(texts[i]);
  }
  return out;
}

Expected<PartitionOptions> options_of(const strew_partition_options* given) {
  constexpr strew_partition_options kDefaults = STREW_PARTITION_OPTIONS_INIT;
  STREW_ASSIGN(const strew_partition_options known, known_fields(given, kDefaults, "options"));
  PartitionOptions out;
  out.needs_kernel = known.needs_kernel != 0;
  out.join = known.join != 0;
  out.kernels_only = known.kernels_only != 0;
  out.strings = known.strings != 0;
  out.least_operations = known.least_operations;
  if (known.runnable != nullptr)
    out.runnable = [known](const Program& program, int value) {
      return known.runnable(known.context, value, program.value(value).name.c_str()) != 0;
    };
  return out;
}

}  // namespace

size_t strew_program_node_count(const strew_program* program) {
  return program != nullptr ? program->imported().nodes().size() : 0;
}
strew_status strew_program_node(const strew_program* program, size_t number, strew_node* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    const Program& imported = program->imported();
    STREW_TRY(check_number(number, imported.nodes().size()));
    const FileNode& node = imported.nodes()[number];
    strew_node given{sizeof(strew_node),    node.number,           node.region,           -1,
                     node.location.c_str(), node.arguments.data(), node.arguments.size(), node.results.data(),
                     node.results.size()};
    for (const int v : node.results) {
      const bool is_new = std::find(node.arguments.begin(), node.arguments.end(), v) == node.arguments.end();
      if (v >= 0 && is_new && imported.value(v).kind == ValueKind::opaque) given.opaque = imported.value(v).index;
    }
    return give_struct(out, given, "out");
  });
}

const char* strew_program_value_name(const strew_program* program, int32_t value) {
  const bool exists = program != nullptr && value >= 0 && static_cast<size_t>(value) < program->imported().values().size();
  return exists ? program->imported().value(value).name.c_str() : nullptr;
}

strew_status strew_program_parts(const strew_program* program, const strew_partition_options* options, strew_parts** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const PartitionOptions wanted, options_of(options));
    STREW_ASSIGN(std::vector<Part> parts, partitions(program->imported(), wanted));
    *out = new strew_parts{program, std::move(parts)};
    return {};
  });
}
void strew_parts_free(strew_parts* parts) { delete parts; }
size_t strew_parts_count(const strew_parts* parts) { return parts != nullptr ? parts->parts.size() : 0; }

strew_status strew_parts_get(const strew_parts* parts, size_t number, strew_part* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(parts, "parts"));
    STREW_TRY(check_number(number, parts->parts.size()));
    const Part& part = parts->parts[number];
    return give_struct(
        out,
        strew_part{sizeof(strew_part), part.region, part.inputs.data(), part.inputs.size(), part.outputs.data(),
                   part.outputs.size(), part.nodes.data(), part.nodes.size(), part.kernels.size(), part.computes.size()},
        "out");
  });
}

strew_status strew_parts_program(const strew_parts* parts, size_t number, strew_program** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(parts, "parts"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_TRY(check_number(number, parts->parts.size()));
    STREW_ASSIGN(Program cut, cut_part(parts->program->imported(), parts->parts[number]));
    *out = new strew_program{RunnableProgram(std::move(cut))};
    return {};
  });
}

strew_status strew_program_cut_between(const strew_program* program, const char* const* from, size_t from_count,
                                       const char* const* to, size_t to_count, strew_program** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(program, "program"));
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const std::vector<std::string> starts, texts_of("from", from, from_count));
    STREW_ASSIGN(const std::vector<std::string> ends, texts_of("to", to, to_count));
    STREW_ASSIGN(Program made, cut(program->imported(), starts, ends));
    *out = new strew_program{RunnableProgram(std::move(made))};
    return {};
  });
}
