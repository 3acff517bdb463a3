// Splicing in the C interface. Tested by tests/c_api/splice.c.
#include "strew/splice.h"

#include <string>
#include <utility>
#include <vector>

#include "bindings/c/compiler/handles.h"

struct strew_spliced {
  explicit strew_spliced(strew::Spliced given) : spliced(std::move(given)) {
    for (const strew::SplicedCall& call : spliced.calls) {
      std::vector<const char*>& texts = operations.emplace_back();
      for (const std::string& each : call.operations) texts.push_back(each.c_str());
    }
  }
  strew_spliced(const strew_spliced&) = delete;
  strew_spliced& operator=(const strew_spliced&) = delete;

  const strew::Spliced spliced;
  std::vector<std::vector<const char*>> operations;  ///< per call
};

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_splice(const char* text, size_t size, const char* name, const strew_splice_options* options,
                          strew_spliced** out) {
  return guarded([&]() -> Status {
    if (size != 0) STREW_TRY(check_not_null(text, "text"));
    STREW_TRY(check_not_null(name, "name"));
    STREW_TRY(check_not_null(out, "out"));
    constexpr strew_splice_options kDefaults = STREW_SPLICE_OPTIONS_INIT;
    STREW_ASSIGN(const strew_splice_options known, known_fields(options, kDefaults, "options"));
    const SpliceOptions wanted{known.fused != 0 ? SpliceLevel::fused : SpliceLevel::operators, known.own_numerics != 0,
                               known.any_size != 0};
    STREW_ASSIGN(Spliced spliced, splice({text, size}, name, wanted));
    *out = new strew_spliced(std::move(spliced));
    return {};
  });
}
void strew_spliced_free(strew_spliced* spliced) { delete spliced; }

const char* strew_spliced_text(const strew_spliced* spliced) {
  return spliced != nullptr ? spliced->spliced.text.c_str() : nullptr;
}
size_t strew_spliced_length(const strew_spliced* spliced) { return spliced != nullptr ? spliced->spliced.text.size() : 0; }

size_t strew_spliced_call_count(const strew_spliced* spliced) { return spliced != nullptr ? spliced->spliced.calls.size() : 0; }
strew_status strew_spliced_call(const strew_spliced* spliced, size_t number, strew_call_of_part* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(spliced, "spliced"));
    STREW_TRY(check_number(number, spliced->spliced.calls.size()));
    const SplicedCall& call = spliced->spliced.calls[number];
    const std::vector<const char*>& operations = spliced->operations[number];
    return give_struct(out,
                       strew_call_of_part{sizeof(strew_call_of_part), call.name.c_str(), call.location.c_str(), operations.data(),
                                          operations.size()},
                       "out");
  });
}

size_t strew_spliced_kept_count(const strew_spliced* spliced) { return spliced != nullptr ? spliced->spliced.kept.size() : 0; }
strew_status strew_spliced_kept(const strew_spliced* spliced, size_t number, strew_kept_operation* out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(spliced, "spliced"));
    STREW_TRY(check_number(number, spliced->spliced.kept.size()));
    const KeptOperation& kept = spliced->spliced.kept[number];
    return give_struct(
        out,
        strew_kept_operation{sizeof(strew_kept_operation), kept.operation.c_str(), kept.location.c_str(), kept.reason.c_str()},
        "out");
  });
}
