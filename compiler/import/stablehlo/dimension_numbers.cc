// Grammar: kind '<' [key '=' value {',' key '=' value} [',']] '>', where a value is an integer or '[' integers ']'. Keys come in any order. A key
// that is absent is an empty list or 0: StableHLO omits those when it prints. verify() checks the values. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include "compiler/import/stablehlo/dimension_numbers.h"

#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/op/dimension_lists.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// `field`: the attribute's name. T: Scatter or Gather.
template <class T>
Expected<DimensionNumbers> dims_from(mlir::Attribute attribute, std::string_view field, llvm::StringRef kind) {
  if (!attribute) return invalid_argument("attribute '{}' is missing", field);
  const auto whole = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
  const auto found = whole ? whole.getAs<mlir::DictionaryAttr>(kind) : mlir::DictionaryAttr();
  if (!found)
    return invalid_argument("attribute '{}', expected #stablehlo.{}<...> (the old dictionary of tensors is not read)", field,
                            kind.str());
  const auto refuse = [&](const std::string& what) { return invalid_argument("#stablehlo.{}: {}", kind.str(), what); };
  DimensionNumbers numbers;
  for (const mlir::NamedAttribute each : found) {
    const std::string key = each.getName().str();
    const auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(each.getValue());
    const auto* row = llvm::find_if(kDimensionLists, [&](const DimensionList& d) { return d.name<T>() == key; });
    if (row != std::end(kDimensionLists)) {
      if (!list) return refuse(fmt::format("'{}': expected '['", key));
      numbers.*row->list = list.asArrayRef().vec();
    } else if (key == "index_vector_dim") {
      if (list) return refuse("'index_vector_dim': expected an integer");
      numbers.index_vector_dim = llvm::cast<mlir::IntegerAttr>(each.getValue()).getInt();
    } else {
      std::string names;
      for (const DimensionList& d : kDimensionLists) names += fmt::format("{}, ", d.name<T>());
      return refuse(fmt::format("'{}' is unknown, expected {}index_vector_dim", key.substr(0, 80), names));
    }
  }
  return numbers;
}

}  // namespace

bool holds_dimension_numbers(llvm::StringRef text) {
  return (text.consume_front("scatter") || text.consume_front("gather") || text.consume_front("dot")) &&
         text.ltrim().starts_with("<");
}

mlir::Attribute parse_dimension_numbers(mlir::DialectAsmParser& parser) {
  mlir::Builder& builder = parser.getBuilder();
  mlir::NamedAttrList numbers;
  llvm::StringRef kind, key;
  const auto fail = [&](llvm::SMLoc place) { return parser.emitError(place) << "#stablehlo." << kind << ": '" << key << "'"; };
  const auto value = [&]() -> mlir::ParseResult {
    int64_t number = 0;
    if (const mlir::OptionalParseResult found = parser.parseOptionalInteger(number); found.has_value()) {
      numbers.append(key, builder.getI64IntegerAttr(number));
      return *found;
    }
    if (mlir::failed(parser.parseOptionalLSquare())) return fail(parser.getCurrentLocation()) << ": expected an integer or '['";
    llvm::SmallVector<int64_t> list;
    const auto item = [&]() -> mlir::ParseResult { return parser.parseInteger(list.emplace_back()); };
    if (mlir::failed(parser.parseOptionalRSquare()) && (parser.parseCommaSeparatedList(item) || parser.parseRSquare()))
      return mlir::failure();
    numbers.append(key, builder.getDenseI64ArrayAttr(list));
    return mlir::success();
  };
  if (parser.parseKeyword(&kind) || parser.parseLess()) return {};
  bool is_more = true;
  while (mlir::failed(parser.parseOptionalGreater())) {
    const llvm::SMLoc place = parser.getCurrentLocation();
    if (!is_more) return (void)(parser.emitError(place) << "expected ',' or '>'"), mlir::Attribute();
    if (parser.parseKeyword(&key)) return {};
    if (numbers.get(key)) return (void)(fail(place) << " is given twice"), mlir::Attribute();
    if (parser.parseEqual() || value()) return {};
    is_more = mlir::succeeded(parser.parseOptionalComma());
  }
  return builder.getDictionaryAttr(builder.getNamedAttr(kind, numbers.getDictionary(parser.getContext())));
}

Expected<DimensionNumbers> scatter_dims_from(mlir::Attribute attribute) {
  return dims_from<Scatter>(attribute, "scatter_dimension_numbers", "scatter");
}

Expected<DimensionNumbers> gather_dims_from(mlir::Attribute attribute) {
  return dims_from<Gather>(attribute, "dimension_numbers", "gather");
}

}  // namespace strew::inline v0
