// See header.h. Parameters are named after the tensors of the descriptor: "updates 0" is `updates`, or `updates_0` where there are several.
// Extents that only the call knows and that must be equal are one parameter.
#include "library/header.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

#include "library/names.h"
#include "strew/dtype.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

/// The C type of an element; void where C has none.
const char* c_type(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return "int8_t";
    case DType::u8:
      return "uint8_t";
    case DType::i16:
      return "int16_t";
    case DType::u16:
      return "uint16_t";
    case DType::i32:
      return "int32_t";
    case DType::u32:
      return "uint32_t";
    case DType::i64:
      return "int64_t";
    case DType::u64:
      return "uint64_t";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case STREW_EACH_DTYPE(BOOL):
    case STREW_EACH_DTYPE(PACKED_INTEGER):
    case STREW_EACH_DTYPE(SMALL_FLOAT):
    case STREW_EACH_DTYPE(HALF_FLOAT):
    case STREW_EACH_DTYPE(COMPLEX):
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return "void";
}

std::shared_ptr<const strew_kernel> descriptor_of(const Compiled& kernel) {
  return materialise(kernel.descriptor, [](const std::string&) { return nullptr; });
}

/// A program's functions: its tensors have known dims.
class ProgramFunctions {
 public:
  ProgramFunctions(const HeaderProgram& program, size_t number) : program_(program), number_(number) {
    std::map<std::string, int> used = {{"context", 1}, {"tensors", 1}};
    for (const CallerTensor& tensor : program.steps->tensors) {
      std::string name = parameter_name(tensor.name);
      if (const int before = used[name]++; before > 0) name += "_" + std::to_string(before + 1);
      names_.push_back(std::move(name));
    }
  }

  std::string text() const { return comment("") + by_tensors() + by_pointers(); }
  std::string cpp_text() const {
    std::string parameters, arguments;
    for (size_t i = 0; i < names_.size(); ++i) {
      const DType dtype = tensor(i).type.dtype;
      const std::string dtype_name = dtype == DType::boolean ? "boolean" : std::string(name(dtype));
      parameters += std::string(i == 0 ? "" : ", ") + (is_written(i) ? "ResultView" : "InputView") + "<DType::" + dtype_name +
                    ", " + std::to_string(tensor(i).type.rank()) + "> " + names_[i];
      arguments += ", " + names_[i];
    }
    return comment("  ") + "  Status " + program_.name + "(" + parameters + ") const { return run_program(" +
           std::to_string(number_) + arguments + "); }\n";
  }

 private:
  const CallerTensor& tensor(size_t i) const { return program_.steps->tensors[i]; }
  bool is_written(size_t i) const { return tensor(i).use != TensorUse::input; }

  /// The file's name as a parameter of C.
  static std::string parameter_name(const std::string& name) {
    std::string out;
    for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
    return is_identifier(out) && !is_reserved(out) ? out : "p_" + out;
  }
  std::string comment(const std::string& indent) const {
    std::string out = indent + "/* " + program_.name + ", a program of " + std::to_string(program_.steps->steps.size()) +
                      " steps\n" + indent + " *\n";
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::string does = tensor(i).use == TensorUse::input    ? "is read"
                               : tensor(i).use == TensorUse::output ? "is written"
                                                                    : "is read, and becomes " + tensor(i).updated;
      out += indent + " *   " + names_[i] + "  " + type_text(tensor(i).type, {}) + "  " + does + "\n";
    }
    return out + indent + " *\n" + indent +
           " * All are row-major. What is written must not overlap other tensors; after a failure it may hold anything.\n" +
           indent + " */\n";
  }
  std::string by_tensors() const {
    std::string out = "static inline strew_status " + program_.name + "(const strew_context* context";
    for (const std::string& name : names_) out += ", const strew_tensor* " + name;
    out += ") {\n  const strew_tensor tensors[" + std::to_string(names_.size()) + "] = {";
    for (size_t i = 0; i < names_.size(); ++i) out += (i == 0 ? "*" : ", *") + names_[i];
    return out + "};\n" + call();
  }
  std::string by_pointers() const {
    std::string out = "static inline strew_status " + program_.name + "_at(const strew_context* context";
    for (size_t i = 0; i < names_.size(); ++i)
      out += std::string(", ") + (is_written(i) ? "" : "const ") + c_type(tensor(i).type.dtype) + "* " + names_[i];
    out += ") {\n";
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::vector<int64_t>& dims = tensor(i).type.dims;
      if (dims.empty()) continue;
      out += "  static const int64_t " + dims_name(i) + "[" + std::to_string(dims.size()) + "] = {";
      for (size_t d = 0; d < dims.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(dims[d]);
      out += "};\n";
    }
    out += "  const strew_tensor tensors[" + std::to_string(names_.size()) + "] = {\n";
    for (size_t i = 0; i < names_.size(); ++i) {
      const TensorType& type = tensor(i).type;
      out += "      {(void*)" + names_[i] + ", " + (type.dims.empty() ? "NULL" : dims_name(i)) + ", NULL, " +
             std::to_string(type.rank()) + ", " + std::to_string(static_cast<int>(type.dtype)) + " /* " +
             std::string(name(type.dtype)) + " */, " + (is_written(i) ? "0" : "1") + ", {0}},\n";
    }
    return out + "  };\n" + call();
  }
  /// No parameter begins so.
  static std::string dims_name(size_t i) { return "strew_dims_" + std::to_string(i); }
  std::string call() const {
    return "  return strew_context_run_program(context, " + std::to_string(number_) + ", tensors, " +
           std::to_string(names_.size()) + ", NULL);\n}\n\n";
  }

  const HeaderProgram& program_;
  const size_t number_;
  std::vector<std::string> names_;
};

/// One kernel's functions.
class Functions {
 public:
  Functions(const HeaderKernel& kernel, size_t number)
      : kernel_(kernel), number_(number), descriptor_(descriptor_of(*kernel.baseline)) {
    name_tensors();
    name_extents();
  }

  std::string text() const { return comment("") + by_tensors() + by_pointers(); }
  std::string cpp_text() const { return comment("  ") + by_views(); }

 private:
  const strew_tensor_rule& tensor(size_t i) const { return descriptor_->tensors[i]; }
  size_t count() const { return descriptor_->tensor_count; }
  DType dtype(size_t i) const { return static_cast<DType>(tensor(i).dtype); }
  bool is_result(size_t i) const { return tensor(i).role == STREW_RESULT; }

  void name_tensors() {
    for (size_t i = 0; i < count(); ++i) {
      std::string name = tensor(i).name;
      const auto same_role = [&](size_t j) { return tensor(j).role == tensor(i).role; };
      size_t of_role = 0;
      for (size_t j = 0; j < count(); ++j) of_role += same_role(j) ? 1 : 0;
      const size_t space = name.find(' ');
      if (space != std::string::npos)
        name = of_role == 1 ? name.substr(0, space) : name.substr(0, space) + "_" + name.substr(space + 1);
      names_.push_back(name);
    }
  }

  /// Parameters for open extents and strides.
  void name_extents() {
    using Place = std::pair<size_t, uint32_t>;
    std::map<Place, Place> first;  // the earliest dim that must have the same extent
    const auto root = [&](Place place) {
      while (first.count(place) != 0) place = first[place];
      return place;
    };
    for (uint32_t c = 0; c < descriptor_->constraint_count; ++c) {
      const strew_constraint& rule = descriptor_->constraints[c];
      if (rule.kind != STREW_EQUAL) continue;
      const Place a = root({rule.tensor, rule.dim}), b = root({rule.other, rule.other_dim});
      if (a != b) first[std::max(a, b)] = std::min(a, b);
    }
    for (size_t i = 0; i < count(); ++i) {
      dims_.emplace_back();
      strides_.emplace_back();
      for (uint32_t d = 0; d < tensor(i).rank; ++d) {
        const Place place = root({i, d});
        const int64_t known = tensor(place.first).dims[place.second];
        const int64_t own = tensor(i).dims[d];
        if (own != STREW_OPEN)
          dims_[i].push_back(std::to_string(own));
        else if (known != STREW_OPEN)
          dims_[i].push_back(std::to_string(known));
        else
          dims_[i].push_back(parameter(names_[place.first] + "_dim" + std::to_string(place.second)));
        if (tensor(i).strides == nullptr) continue;
        const int64_t stride = tensor(i).strides[d];
        strides_[i].push_back(stride == STREW_OPEN ? parameter(names_[i] + "_stride" + std::to_string(d))
                                                   : std::to_string(stride));
      }
    }
  }
  std::string parameter(const std::string& name) {
    if (std::find(parameters_.begin(), parameters_.end(), name) == parameters_.end()) parameters_.push_back(name);
    return name;
  }

  std::string shape(size_t i) const {
    std::string text = std::string(tensor(i).dtype_name) + "[";
    for (size_t d = 0; d < dims_[i].size(); ++d) text += (d == 0 ? "" : ", ") + dims_[i][d];
    text += "]";
    if (!strides_[i].empty()) {
      text += " with strides {";
      for (size_t d = 0; d < strides_[i].size(); ++d) text += (d == 0 ? "" : ", ") + strides_[i][d];
      text += "}";
    }
    return text;
  }
  std::string role(size_t i) const {
    switch (tensor(i).role) {
      case STREW_RESULT:
        return descriptor_->init_kind == STREW_IN_PLACE && descriptor_->is_gather == 0 ? "is read and written" : "is written";
      case STREW_INDICES:
        return checks(i) ? "is read; an index out of bounds is an error, and then nothing is written" : "is read";
      case STREW_OPERAND:
      case STREW_UPDATES:
      case STREW_EXTRA:
        break;
    }
    return "is read";
  }
  /// Is an index that is out of bounds in tensor i an error?
  bool checks(size_t i) const {
    for (uint32_t s = 0; s < descriptor_->source_count; ++s) {
      const strew_index_source& source = descriptor_->sources[s];
      for (uint32_t k = 0; source.checks_first != 0 && k < source.component_count; ++k)
        if (source.components[k].tensor == i) return true;
    }
    return false;
  }
  std::string comment(const std::string& indent) const {
    std::string text = "/* " + kernel_.name + "\n *\n";
    for (size_t i = 0; i < count(); ++i) {
      text += " *   " + names_[i] + "  " + shape(i) + "  " + role(i) + "\n";
      if (tensor(i).may_be >= 0)
        text += " *     may be the same buffer as " + names_[static_cast<size_t>(tensor(i).may_be)] + "\n";
    }
    text +=
        " *\n * Extents and strides are numbers of elements. Results must not overlap other tensors, unless it says so above.\n "
        "* Op: ";
    text += print(*kernel_.baseline->op) + "\n * Variants:";
    for (const std::string& variant : kernel_.variants) text += " " + variant;
    text += "\n */\n";
    for (size_t line = 0; !indent.empty() && line < text.size(); line = text.find('\n', line) + 1) text.insert(line, indent);
    return text;
  }

  std::string by_views() const {
    std::string parameters, arguments;
    for (size_t i = 0; i < count(); ++i) {
      const std::string dtype_name = dtype(i) == DType::boolean ? "boolean" : tensor(i).dtype_name;
      parameters += std::string(i == 0 ? "" : ", ") + (is_result(i) ? "ResultView" : "InputView") + "<DType::" + dtype_name +
                    ", " + std::to_string(tensor(i).rank) + "> " + names_[i];
      arguments += ", " + names_[i];
    }
    return "  Status " + kernel_.name + "(" + parameters + ") const { return run(" + std::to_string(number_) + arguments +
           "); }\n";
  }
  std::string by_tensors() const {
    std::string text = "static inline strew_status " + kernel_.name + "(const strew_context* context";
    for (size_t i = 0; i < count(); ++i) text += ", const strew_tensor* " + names_[i];
    text += ") {\n  const strew_tensor tensors[" + std::to_string(count()) + "] = {";
    for (size_t i = 0; i < count(); ++i) text += (i == 0 ? "*" : ", *") + names_[i];
    return text + "};\n  return strew_context_run(context, " + std::to_string(number_) + ", tensors, " + std::to_string(count()) +
           ", NULL);\n}\n";
  }

  std::string by_pointers() const {
    std::string text = "static inline strew_status " + kernel_.name + "_at(const strew_context* context";
    for (size_t i = 0; i < count(); ++i)
      text += std::string(", ") + (is_result(i) ? "" : "const ") + c_type(dtype(i)) + "* " + names_[i];
    for (const std::string& parameter : parameters_) text += ", int64_t " + parameter;
    text += ") {\n" + at_once();
    for (size_t i = 0; i < count(); ++i) {
      if (!dims_[i].empty()) text += list(names_[i] + "_dims", dims_[i]);
      if (!strides_[i].empty()) text += list(names_[i] + "_strides", strides_[i]);
    }
    text += "  const strew_tensor tensors[" + std::to_string(count()) + "] = {\n";
    for (size_t i = 0; i < count(); ++i) {
      text += "      {(void*)" + names_[i] + ", " + (dims_[i].empty() ? "NULL" : names_[i] + "_dims") + ", " +
              (strides_[i].empty() ? "NULL" : names_[i] + "_strides") + ", " + std::to_string(dims_[i].size()) + ", " +
              std::to_string(tensor(i).dtype) + " /* " + tensor(i).dtype_name + " */, " + (is_result(i) ? "0" : "1") +
              ", {0}},\n";
    }
    return text + "  };\n  return strew_context_run(context, " + std::to_string(number_) + ", tensors, " +
           std::to_string(count()) + ", NULL);\n}\n\n";
  }
  /// The call by addresses and symbols alone, for kernels that can be called so.
  std::string at_once() const {
    const strew_kernel& kernel = *descriptor_;
    if (kernel.part_count != 0 || !kernel_.variants_agree) return {};
    for (uint32_t c = 0; c < kernel.constraint_count; ++c)
      if (kernel.constraints[c].kind != STREW_EQUAL) return {};
    std::vector<std::string> data(kernel.data_count, "NULL"), numbers;
    for (size_t i = 0; i < count(); ++i) data[tensor(i).data] = "(void*)" + names_[i];
    for (uint32_t s = 0; s < kernel.symbol_count; ++s) {
      const strew_symbol& symbol = kernel.symbols[s];
      if (symbol.is_stride != 0) return {};
      numbers.push_back(dims_[symbol.tensor][symbol.dim]);
    }
    std::string text = "  void* const data[" + std::to_string(data.size()) + "] = {";
    for (size_t i = 0; i < data.size(); ++i) text += (i == 0 ? "" : ", ") + data[i];
    text += "};\n";
    if (!numbers.empty()) text += list("numbers", numbers);
    return text + "  if (strew_context_run_at(context, " + std::to_string(number_) + ", data, " +
           (numbers.empty() ? "NULL" : "numbers") + ")) return NULL;\n";
  }
  static std::string list(const std::string& name, const std::vector<std::string>& values) {
    // Constants need not be stored by every call.
    const bool is_constant = std::all_of(values.begin(), values.end(), [](const std::string& value) {
      return std::all_of(value.begin(), value.end(), [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
    });
    std::string text = std::string(is_constant ? "  static const" : "  const") + " int64_t " + name + "[" +
                       std::to_string(values.size()) + "] = {";
    for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + values[i];
    return text + "};\n";
  }

  const HeaderKernel& kernel_;
  const size_t number_;
  const std::shared_ptr<const strew_kernel> descriptor_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> dims_, strides_;  ///< per tensor, the texts of its extents and strides
  std::vector<std::string> parameters_;
};

}  // namespace

bool same_arguments(const Compiled& a, const Compiled& b) {
  const std::shared_ptr<const strew_kernel> first = descriptor_of(a), second = descriptor_of(b);
  const auto same_symbol = [](const strew_symbol& x, const strew_symbol& y) {
    return x.tensor == y.tensor && x.dim == y.dim && x.is_stride == y.is_stride;
  };
  const auto same_place = [](const strew_tensor_rule& x, const strew_tensor_rule& y) { return x.data == y.data; };
  return first->data_count == second->data_count &&
         std::equal(first->symbols, first->symbols + first->symbol_count, second->symbols, second->symbols + second->symbol_count,
                    same_symbol) &&
         std::equal(first->tensors, first->tensors + first->tensor_count, second->tensors, second->tensors + second->tensor_count,
                    same_place);
}

namespace {

/// `text` with every @NAME@ replaced by the library's name and every @UPPER@ by its name in capitals.
std::string filled(std::string text, const std::string& library) {
  std::string upper = library;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [hole, value] : {std::pair<std::string, std::string>("@NAME@", library), {"@UPPER@", upper}})
    for (size_t at = text.find(hole); at != std::string::npos; at = text.find(hole, at + value.size()))
      text.replace(at, hole.size(), value);
  return text;
}

constexpr const char* kBegin = R"(/* Kernels of the library @NAME@, made by `strew library`; do not edit. C99.
 *
 * Link lib@NAME@.a and libstrew_rt. A context chooses the variants for the CPU at run time and is used by any number of threads. The functions
 * NAME take tensors and check them; the functions NAME_at take pointers to row-major buffers (or buffers with the given strides) and the extents
 * that the kernel leaves open, and do not look for buffers that overlap. Both return null, or a failure with a message; if a call fails, nothing
 * is written.
 */
#ifndef @UPPER@_H
#define @UPPER@_H

#include <strew/library.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the library exports: its registry, if that has this version. */
const strew_library* @NAME@_query(uint32_t version);
/* The registry: names, descriptors and CPU requirements of all kernels. Null if the library was made by another version of strew than this
 * header. */
static inline const strew_library* @NAME@(void) { return @NAME@_query(STREW_LIBRARY_VERSION); }

/* strew_context_open() for this library. */
static inline strew_status @NAME@_open(const strew_context_options* options, strew_context** out) {
  return strew_context_open(@NAME@(), options, out);
}

)";
constexpr const char* kNumbers = R"(/* Numbers for strew_context_run() and strew_context_kernel(). */
enum {
)";
constexpr const char* kEnd = R"(#ifdef __cplusplus
}
#endif

#endif
)";
constexpr const char* kCppBegin = R"(// Kernels of the library @NAME@, made by `strew library`; do not edit. C++20.
//
//   const auto kernels = strew::open_library<strew::kernels::@NAME@>();
//
// Link lib@NAME@.a and libstrew_rt. Functions check their arguments, and return a failure with a message; if a call fails, nothing is written.
#pragma once

#include <strew/library.hpp>

#include "@NAME@.h"

namespace strew::inline v0::kernels {

class @NAME@ : public KernelLibrary {
 public:
  using KernelLibrary::KernelLibrary;
  static const strew_library* registry() { return ::@NAME@(); }

)";
constexpr const char* kCppEnd = R"(};

}  // namespace strew::inline v0::kernels
)";

}  // namespace

std::string make_header(const std::string& library, const std::vector<HeaderKernel>& kernels,
                        const std::vector<HeaderProgram>& programs) {
  std::string text = filled(kBegin, library);
  std::string numbers;
  for (size_t k = 0; k < kernels.size(); ++k)
    if (!kernels[k].is_step) numbers += filled("  @UPPER@_", library) + kernels[k].name + " = " + std::to_string(k) + ",\n";
  if (!numbers.empty()) text += filled(kNumbers, library) + numbers + "};\n\n";
  if (!programs.empty()) {
    text += "/* Numbers for strew_context_run_program(). */\nenum {\n";
    for (size_t p = 0; p < programs.size(); ++p)
      text += filled("  @UPPER@_", library) + programs[p].name + " = " + std::to_string(p) + ",\n";
    text += "};\n\n";
  }
  for (size_t k = 0; k < kernels.size(); ++k)
    if (!kernels[k].is_step) text += Functions(kernels[k], k).text();
  for (size_t p = 0; p < programs.size(); ++p) text += ProgramFunctions(programs[p], p).text();
  return text + kEnd;
}

std::string make_cpp_header(const std::string& library, const std::vector<HeaderKernel>& kernels,
                            const std::vector<HeaderProgram>& programs) {
  std::string text = filled(kCppBegin, library);
  for (size_t k = 0; k < kernels.size(); ++k)
    if (!kernels[k].is_step) text += Functions(kernels[k], k).cpp_text() + "\n";
  for (size_t p = 0; p < programs.size(); ++p) text += ProgramFunctions(programs[p], p).cpp_text() + "\n";
  return text + kCppEnd;
}

}  // namespace strew::inline v0
