// See registry.h. The registry's image holds, one after another: the strew_library, the kernels, the distances to their variants, the
// programs with what they refer to, the names.
#include "library/registry.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>

#include "runtime/call/library_program.h"
#include "runtime/call/packed_kernel.h"
#include "strew/dtype.h"
#include "strew/library.h"

namespace strew::inline v0 {
namespace {

class RegistryWriter {
 public:
  uint32_t reserve(size_t bytes) {
    while (image_.bytes.size() % alignof(std::max_align_t) != 0) image_.bytes.push_back(0);
    const auto at = static_cast<uint32_t>(image_.bytes.size());
    image_.bytes.resize(at + bytes);
    return at;
  }
  template <class T>
  void put(size_t at, const T& value) {
    std::memcpy(image_.bytes.data() + at, &value, sizeof value);
  }
  template <class T>
  uint32_t append(const T& value) {
    const auto at = static_cast<uint32_t>(image_.bytes.size());
    image_.bytes.resize(at + sizeof value);
    put(at, value);
    return at;
  }
  int32_t text(std::string_view text) {
    const uint32_t at = append('\0');
    image_.bytes.insert(image_.bytes.begin() + at, text.begin(), text.end());
    return static_cast<int32_t>(at);
  }
  uint32_t constant(const std::string& bytes) {
    const uint32_t at = reserve(bytes.size());
    if (!bytes.empty()) std::memcpy(image_.bytes.data() + at, bytes.data(), bytes.size());
    return at;
  }
  void bytes(const std::vector<char>& bytes) { image_.bytes.insert(image_.bytes.end(), bytes.begin(), bytes.end()); }
  void distance(size_t field, std::string symbol) {
    image_.distances.push_back({static_cast<uint32_t>(field), std::move(symbol)});
  }
  DescriptorImage finish() { return std::move(image_); }

 private:
  DescriptorImage image_;
};

/// Writes what programs refer to.
class ProgramWriter {
 public:
  explicit ProgramWriter(RegistryWriter& out) : out_(out) {}

  LibraryProgram write(const RegistryProgram& program) {
    const ProgramSteps& from = *program.steps;
    std::vector<uint32_t> constants;
    for (const std::string& bytes : from.constants) constants.push_back(out_.constant(bytes));
    const std::vector<LibraryTensor> tensors = tensors_of(from);
    std::vector<LibraryStep> steps;
    for (size_t s = 0; s < from.steps.size(); ++s) {
      std::vector<LibraryOperand> operands;
      for (const StepOperand& operand : from.steps[s].operands) operands.push_back(operand_of(operand, constants));
      const Step& step = from.steps[s];
      const bool has_texts = step.kind == StepKind::equal;
      steps.push_back({step.kind, program.kernels[s], static_cast<uint32_t>(operands.size()), list(operands),
                       has_texts ? out_.text(step.what) : 0, has_texts ? out_.text(step.where) : 0});
    }
    const int32_t name = out_.text(program.name);
    return {name,
            static_cast<uint32_t>(tensors.size()),
            list(tensors),
            static_cast<uint32_t>(steps.size()),
            list(steps),
            0,
            from.arena_bytes};
  }

 private:
  std::vector<LibraryTensor> tensors_of(const ProgramSteps& from) {
    std::vector<LibraryTensor> out;
    for (const CallerTensor& tensor : from.tensors) {
      const int32_t name = out_.text(tensor.name);
      out.push_back({name, tensor.use, shape_of(tensor.type), 0, tensor.bytes()});
    }
    return out;
  }
  LibraryOperand operand_of(const StepOperand& operand, const std::vector<uint32_t>& constants) {
    const LibraryShape shape = shape_of(operand.type);
    const bool is_constant = operand.place == StepPlace::constant, is_tensor = operand.place == StepPlace::tensor;
    return {operand.place, is_tensor ? static_cast<uint32_t>(operand.number) : 0U,
            operand.first + (is_constant ? constants[static_cast<size_t>(operand.number)] : 0), shape, 0};
  }
  /// Extents and strides that are equal are written once.
  LibraryShape shape_of(const TensorType& type) {
    const int32_t strides = type.strides.empty() ? 0 : numbers(type.strides);
    return {numbers(type.dims), strides, static_cast<uint16_t>(type.rank()), static_cast<uint8_t>(type.dtype), 0};
  }
  int32_t numbers(const std::vector<int64_t>& list_of) {
    const auto [found, is_new] = numbers_.try_emplace(list_of, 0);
    if (is_new) found->second = list(list_of);
    return found->second;
  }
  template <class T>
  int32_t list(const std::vector<T>& items) {
    const uint32_t at = out_.reserve(items.size() * sizeof(T));
    for (size_t i = 0; i < items.size(); ++i) out_.put(at + i * sizeof(T), items[i]);
    return static_cast<int32_t>(at);
  }

  RegistryWriter& out_;
  std::map<std::vector<int64_t>, int32_t> numbers_;
};

}  // namespace

Expected<DescriptorImage> make_registry(const std::string& library, const std::vector<RegistryKernel>& kernels,
                                        const std::vector<RegistryProgram>& programs) {
  size_t constants = 0;
  for (const RegistryProgram& program : programs)
    for (const std::string& bytes : program.steps->constants) constants += bytes.size();
  constexpr size_t kMostConstants = size_t{1} << 30;
  if (constants > kMostConstants)
    return unsupported("programs: their constants are " + std::to_string(constants) + " bytes, expected at most " +
                       std::to_string(kMostConstants) + "; larger ones can be inputs of the programs");
  RegistryWriter out;
  const uint32_t root = out.reserve(sizeof(strew_library));
  const uint32_t list = out.reserve(kernels.size() * sizeof(LibraryKernel));
  std::vector<LibraryKernel> written;
  for (const RegistryKernel& kernel : kernels) {
    const uint32_t variants = out.reserve(kernel.variants.size() * sizeof(int32_t));
    for (size_t v = 0; v < kernel.variants.size(); ++v)
      out.distance(variants + v * sizeof(int32_t), kernel.variants[v] + kPackedSuffix);
    written.push_back({0, static_cast<uint32_t>(kernel.variants.size()), static_cast<int32_t>(variants)});
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    written[k].name = out.text(kernels[k].name);
    out.put(list + k * sizeof(LibraryKernel), written[k]);
  }
  ProgramWriter writer(out);
  const uint32_t program_list = out.reserve(programs.size() * sizeof(LibraryProgram));
  for (size_t p = 0; p < programs.size(); ++p) out.put(program_list + p * sizeof(LibraryProgram), writer.write(programs[p]));
  const int32_t name = out.text(library);
  out.put(root, strew_library{STREW_LIBRARY_MAGIC, STREW_LIBRARY_VERSION, STREW_ABI_VERSION,
                              static_cast<uint32_t>(kernels.size()), name, static_cast<int32_t>(list),
                              static_cast<uint32_t>(programs.size()), static_cast<int32_t>(program_list)});
  return out.finish();
}

DescriptorImage pack(const DescriptorImage& descriptor, const std::vector<std::string>& parts) {
  RegistryWriter out;
  out.append(PackedKernel{static_cast<uint32_t>(descriptor.bytes.size()), static_cast<uint32_t>(descriptor.pointers.size()),
                          static_cast<uint32_t>(descriptor.externals.size())});
  for (const DescriptorImage::Pointer& pointer : descriptor.pointers) out.append(PackedKernel::Pointer{pointer.at, pointer.to});
  for (const DescriptorImage::External& external : descriptor.externals) {
    const bool is_part = std::find(parts.begin(), parts.end(), external.symbol) != parts.end();
    const uint32_t at = out.append(PackedKernel::External{external.at, is_part ? 1U : 0U, 0});
    out.distance(at + offsetof(PackedKernel::External, distance), external.symbol + (is_part ? kPackedSuffix : ""));
  }
  out.bytes(descriptor.bytes);
  return out.finish();
}

}  // namespace strew::inline v0
