// See splice.h. Tested by tests/python/splice_test.py.
#include "bindings/python/native/splice.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "bindings/python/native/check.h"
#include "strew/strew.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

constexpr char kName[] = "module";  ///< what locations and messages call the text

nb::list calls_of(const strew_spliced* spliced) {
  nb::list out;
  for (size_t i = 0; i < strew_spliced_call_count(spliced); ++i) {
    strew_call_of_part call = STREW_CALL_OF_PART_INIT;
    check(strew_spliced_call(spliced, i, &call));
    nb::list operations;
    for (size_t n = 0; n < call.operation_count; ++n) operations.append(call.operations[n]);
    out.append(nb::make_tuple(call.name, call.location, operations));
  }
  return out;
}

nb::list kept_of(const strew_spliced* spliced) {
  nb::list out;
  for (size_t i = 0; i < strew_spliced_kept_count(spliced); ++i) {
    strew_kept_operation kept = STREW_KEPT_OPERATION_INIT;
    check(strew_spliced_kept(spliced, i, &kept));
    out.append(nb::make_tuple(kept.operation, kept.location, kept.reason));
  }
  return out;
}

nb::tuple splice(const std::string& text, bool fused, bool own_numerics, bool any_size) {
  strew_splice_options options = STREW_SPLICE_OPTIONS_INIT;
  options.fused = fused ? 1 : 0;
  options.own_numerics = own_numerics ? 1 : 0;
  options.any_size = any_size ? 1 : 0;
  strew_spliced* made = nullptr;
  strew_status status = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    status = strew_splice(text.data(), text.size(), kName, &options, &made);
  }
  check(status);
  const std::unique_ptr<strew_spliced, void (*)(strew_spliced*)> spliced(made, strew_spliced_free);
  return nb::make_tuple(nb::str(strew_spliced_text(made), strew_spliced_length(made)), calls_of(made), kept_of(made));
}

}  // namespace

void add_splice(nb::module_& module) {
  module.def("splice", splice, nb::arg("text"), nb::arg("fused"), nb::arg("own_numerics"), nb::arg("any_size") = false);
}

}  // namespace strew::python
