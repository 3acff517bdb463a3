// Compares inputs with their types. A pointer has no shape, so a tensor given for one may have more or fewer dims of
// extent 1 than the type, anywhere, if all other extents agree in order. Tested by tests/unit/compiler/program/program_test.cc and
// tests/unit/compiler/program/symbols_test.cc.
#include "compiler/program/program_input.h"

#include <map>

#include "compiler/op/dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

bool fits(int64_t extent, int64_t wanted) { return wanted == kDynamic || wanted == extent; }

bool same_shape(const std::vector<int64_t>& dims, const std::vector<int64_t>& wanted) {
  if (dims.size() != wanted.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!fits(dims[d], wanted[d])) return false;
  return true;
}

/// The dims `wanted` with the extents of a tensor of dims `dims`; `fit` says whether they agree.
std::vector<int64_t> without_units(const std::vector<int64_t>& dims, const std::vector<int64_t>& wanted, bool& fit) {
  std::vector<int64_t> out;
  size_t i = 0;
  fit = true;
  for (size_t j = 0; j < wanted.size(); ++j) {
    const size_t left = wanted.size() - j;
    while (i < dims.size() && dims[i] == 1 && dims.size() - i > left) ++i;
    if (wanted[j] == 1 && (dims.size() - i < left || dims[i] != 1)) {
      out.push_back(1);
      continue;
    }
    if (i == dims.size() || !fits(dims[i], wanted[j])) {
      fit = false;
      return out;
    }
    out.push_back(dims[i++]);
  }
  while (i < dims.size() && dims[i] == 1) ++i;
  fit = i == dims.size();
  return out;
}

}  // namespace

Status fit_input(Tensor& tensor, const ProgramInput& input, size_t number, std::span<const std::string> symbols) {
  if (tensor.dtype == input.type.dtype) {
    if (same_shape(tensor.dims, input.type.dims)) return {};
    bool fit = false;
    std::vector<int64_t> dims = input.memory ? without_units(tensor.dims, input.type.dims, fit) : std::vector<int64_t>();
    if (fit) {
      tensor.dims = std::move(dims);
      return {};
    }
  }
  return invalid_argument("input {} ({}): it is {}{}, expected {}", number, input.name, tensor.dtype, tensor.dims,
                          type_text(input.type, symbols));
}

Status check_symbols(const Program& imported, std::span<const std::unique_ptr<Tensor>> inputs) {
  struct Known {
    std::string where;
    int64_t extent;
  };
  std::map<std::string, Known> known;
  for (const Value& value : imported.values()) {
    const auto number = static_cast<size_t>(value.index);
    if (value.kind != ValueKind::input || value.symbols.empty() || number >= inputs.size() || inputs[number] == nullptr) continue;
    const std::vector<int64_t>& dims = inputs[number]->dims;
    for (size_t d = 0; d < dims.size() && dims.size() == value.symbols.size(); ++d) {
      const std::string& symbol = value.symbols[d];
      if (symbol.empty() || value.type.dims[d] != kDynamic) continue;
      const std::string where =
          "dim " + std::to_string(d) + " of input " + std::to_string(number) + " (" + imported.input(number).name + ")";
      const auto [found, is_new] = known.try_emplace(symbol, Known{where, dims[d]});
      if (is_new || found->second.extent == dims[d]) continue;
      return invalid_argument("extent {}: {} is {}, expected {}, which {} is: the file gives both this name", symbol, where,
                              dims[d], found->second.extent, found->second.where);
    }
  }
  return {};
}

}  // namespace strew::inline v0
