#include "bindings/onnxruntime/context.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "bindings/onnxruntime/kernels.h"

namespace strew::ort {
namespace {

constexpr const char *kType = "EPContext", *kDomain = "com.microsoft";
/// What a context begins with, and the number of its format: another number says that strew reads the rest in another way.
constexpr std::string_view kMagic = "strew context ";
constexpr uint64_t kFormat = 1;
enum class Form : uint8_t { group, expansion };
/// The digits of the checksum, with which a context ends. No context ends with a zero byte, which readers of texts would drop.
constexpr size_t kDigits = 16;

/// FNV-1a of 64 bits, in digits: so that a damaged file is told from one that was written so.
std::string checksum(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, kDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(sum));
  return digits.data();
}

/// Numbers are 8 bytes, texts and lists have their length before them.
class Out {
 public:
  void number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void flags(const std::vector<bool>& values) {
    number(values.size());
    for (const bool value : values) bytes_ += static_cast<char>(value);
  }
  std::string finish() && { return bytes_ + checksum(bytes_); }

 private:
  std::string bytes_{kMagic};
};

/// False: the bytes end before, or say what a writer does not write.
class In {
 public:
  explicit In(std::string_view bytes) : left_(bytes) {}
  bool number(uint64_t* out) {
    if (left_.size() < sizeof *out) return false;
    std::memcpy(out, left_.data(), sizeof *out);
    left_.remove_prefix(sizeof *out);
    return true;
  }
  /// A length of what takes at least `bytes` an element.
  bool length(size_t bytes, size_t* out) {
    uint64_t value = 0;
    if (!number(&value) || value > left_.size() / bytes) return false;
    *out = static_cast<size_t>(value);
    return true;
  }
  bool text(std::string* out) {
    size_t size = 0;
    if (!length(1, &size)) return false;
    *out = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }
  bool flags(std::vector<bool>* out) {
    size_t size = 0;
    if (!length(1, &size) || size > Dims::kMost) return false;
    for (const char c : left_.substr(0, size)) {
      if (c != 0 && c != 1) return false;
      out->push_back(c == 1);
    }
    left_.remove_prefix(size);
    return true;
  }
  bool numbers(std::vector<size_t>* out) {
    size_t size = 0;
    if (!length(sizeof(uint64_t), &size)) return false;
    out->resize(size);
    for (size_t& each : *out)
      if (!number(&each)) return false;
    return true;
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};
static_assert(sizeof(size_t) == sizeof(uint64_t));

std::string write(const Context& context) {
  Out out;
  out.number(kFormat);
  out.text(strew_version());
  out.number(static_cast<uint64_t>(std::holds_alternative<GroupContext>(context) ? Form::group : Form::expansion));
  if (const auto* const group = std::get_if<GroupContext>(&context)) {
    out.text(group->model);
    out.number(group->inputs.size());
    for (const Binding& binding : group->inputs) {
      out.number(static_cast<uint64_t>(binding.kind));
      out.number(binding.number);
      out.flags(binding.repeats);
    }
    out.number(group->outputs.size());
    for (const size_t number : group->outputs) out.number(number);
  } else {
    const auto& expansion = std::get<ExpansionContext>(context);
    out.flags(expansion.repeats);
    out.number(expansion.from);
    out.number(expansion.shape);
  }
  return std::move(out).finish();
}

bool read_group(In& in, GroupContext* out) {
  size_t count = 0;
  if (!in.text(&out->model) || !in.length(3 * sizeof(uint64_t), &count)) return false;
  out->inputs.resize(count);
  for (Binding& binding : out->inputs) {
    uint64_t kind = 0;
    if (!in.number(&kind) || kind > static_cast<uint64_t>(Binding::Kind::shape) || !in.number(&binding.number) ||
        !in.flags(&binding.repeats))
      return false;
    binding.kind = static_cast<Binding::Kind>(kind);
  }
  return in.numbers(&out->outputs);
}

bool read_expansion(In& in, ExpansionContext* out) {
  return in.flags(&out->repeats) && in.number(&out->from) && in.number(&out->shape);
}

/// What is wrong with the bytes; "": nothing.
std::string read(std::string_view bytes, Context* out) {
  const std::string damaged = "ep_cache_context is damaged: compile the model again";
  if (!bytes.starts_with(kMagic)) return "ep_cache_context is not one that strew has written: compile the model again";
  In head(bytes.substr(kMagic.size()));
  uint64_t format = 0, form = 0;
  std::string version;
  if (!head.number(&format) || !head.text(&version)) return damaged;
  if (format != kFormat)
    return "ep_cache_context has format " + std::to_string(format) + ", which strew " + version +
           " has written, expected format " + std::to_string(kFormat) + ": compile the model again with strew " + strew_version();
  if (bytes.size() < kMagic.size() + kDigits) return damaged;
  const std::string_view content = bytes.substr(0, bytes.size() - kDigits);
  if (checksum(content) != bytes.substr(content.size())) return damaged;
  In in(content.substr(kMagic.size()));
  bool is_read = in.number(&format) && in.text(&version) && in.number(&form);
  if (is_read && form == static_cast<uint64_t>(Form::group))
    is_read = read_group(in, &out->emplace<GroupContext>());
  else if (is_read && form == static_cast<uint64_t>(Form::expansion))
    is_read = read_expansion(in, &out->emplace<ExpansionContext>());
  else
    is_read = false;
  return is_read && in.is_at_end() ? "" : damaged;
}

/// For each of the values, its number among the others with the same name; kUnread: it has none there.
abi::Status* numbers_in(const std::vector<const abi::ValueInfo*>& values, const std::vector<const abi::ValueInfo*>& others,
                        std::vector<size_t>* out) {
  std::vector<std::string> names(others.size());
  for (size_t i = 0; i < others.size(); ++i) STREW_ORT_TRY(name_of(others[i], &names[i]));
  for (const abi::ValueInfo* const value : values) {
    std::string name;
    STREW_ORT_TRY(name_of(value, &name));
    const auto found = std::find(names.begin(), names.end(), name);
    out->push_back(name.empty() || found == names.end() ? kUnread : static_cast<size_t>(found - names.begin()));
  }
  return nullptr;
}

/// Puts the numbers of one node in the place of those of another. What is wrong; "": nothing.
std::string translate(const std::vector<size_t>& inputs, const std::vector<size_t>& outputs, Context* context) {
  std::string wrong;
  const auto translate_input = [&](size_t* number) {
    const bool is_there = *number < inputs.size() && inputs[*number] != kUnread;
    if (!is_there && wrong.empty()) wrong = "it has no input " + std::to_string(*number) + ", which its context reads";
    if (is_there) *number = inputs[*number];
  };
  if (auto* const group = std::get_if<GroupContext>(context)) {
    for (Binding& binding : group->inputs) translate_input(&binding.number);
    for (size_t& number : group->outputs) {
      if (number >= outputs.size()) return "it has no output " + std::to_string(number) + ", which its context makes";
      number = outputs[number];
    }
  } else {
    translate_input(&std::get<ExpansionContext>(*context).from);
    translate_input(&std::get<ExpansionContext>(*context).shape);
  }
  return wrong;
}

/// The attributes of a node while it is made, which copies them.
class MadeAttributes {
 public:
  MadeAttributes() = default;
  MadeAttributes(const MadeAttributes&) = delete;
  MadeAttributes& operator=(const MadeAttributes&) = delete;
  ~MadeAttributes() {
    for (abi::Attribute* const each : all_) api().ReleaseOpAttr(each);
  }
  abi::Status* add(const char* name, int64_t value) {
    return api().CreateOpAttr(name, &value, 1, abi::AttributeType::number, &all_.emplace_back());
  }
  abi::Status* add(const char* name, const std::string& value) {
    if (value.size() > INT32_MAX) return failure("strew: a context of 2 GB or more has no room in a model");
    return api().CreateOpAttr(name, value.data(), static_cast<int>(value.size()), abi::AttributeType::text, &all_.emplace_back());
  }
  std::vector<abi::Attribute*>& all() { return all_; }

 private:
  std::vector<abi::Attribute*> all_;
};

abi::Status* names_of(const std::vector<const abi::ValueInfo*>& infos, std::vector<std::string>* names,
                      std::vector<const char*>* out) {
  names->resize(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) STREW_ORT_TRY(name_of(infos[i], &(*names)[i]));
  for (const std::string& name : *names) out->push_back(name.c_str());
  return nullptr;
}

}  // namespace

abi::Status* is_context_node(const abi::Node* node, bool* out) {
  NodeText text;
  STREW_ORT_TRY(read_node(node, &text));
  *out = text.type == kType && text.domain == kDomain && NodeReader(node).text("source") == kProviderName;
  return nullptr;
}

abi::Status* read_context(const abi::Node* node, const abi::Node* fused, Context* out) {
  const NodeReader reader(node);
  NodeText text;
  STREW_ORT_TRY(read_node(node, &text));
  const int64_t embed_mode = reader.number("embed_mode").value_or(1);
  if (embed_mode != 1)
    return bad_context(text.name,
                       "embed_mode is " + std::to_string(embed_mode) + ", expected 1: contexts of strew lie in the model");
  const std::optional<std::string> bytes = reader.text("ep_cache_context");
  if (!bytes) return bad_context(text.name, "it has no ep_cache_context");
  std::string wrong = read(*bytes, out);
  if (!wrong.empty()) return bad_context(text.name, wrong);
  std::vector<const abi::ValueInfo*> inputs, outputs, fused_inputs, fused_outputs;
  std::vector<size_t> input_numbers, output_numbers;
  STREW_ORT_TRY(inputs_of(node, &inputs));
  STREW_ORT_TRY(outputs_of(node, &outputs));
  STREW_ORT_TRY(inputs_of(fused, &fused_inputs));
  STREW_ORT_TRY(outputs_of(fused, &fused_outputs));
  STREW_ORT_TRY(numbers_in(inputs, fused_inputs, &input_numbers));
  STREW_ORT_TRY(numbers_in(outputs, fused_outputs, &output_numbers));
  wrong = translate(input_numbers, output_numbers, out);
  return wrong.empty() ? nullptr : bad_context(text.name, wrong);
}

std::string notes_of(const abi::Node* node) { return NodeReader(node).text("notes").value_or(""); }

abi::Status* make_context_node(const abi::Node* fused, const Context& context, const std::string& notes, abi::Node** out) {
  const abi::ModelEditorApi* const editor = api().GetModelEditorApi();
  if (editor == nullptr) return failure("strew: this build of ONNX Runtime makes no nodes, which ep.context_enable wants");
  NodeText text;
  STREW_ORT_TRY(read_node(fused, &text));
  std::vector<const abi::ValueInfo*> inputs, outputs;
  STREW_ORT_TRY(inputs_of(fused, &inputs));
  STREW_ORT_TRY(outputs_of(fused, &outputs));
  std::vector<std::string> input_names, output_names;
  std::vector<const char*> read, made;
  STREW_ORT_TRY(names_of(inputs, &input_names, &read));
  STREW_ORT_TRY(names_of(outputs, &output_names, &made));
  MadeAttributes attributes;
  STREW_ORT_TRY(attributes.add("main_context", 1));
  STREW_ORT_TRY(attributes.add("ep_cache_context", write(context)));
  STREW_ORT_TRY(attributes.add("embed_mode", 1));
  STREW_ORT_TRY(attributes.add("ep_sdk_version", strew_version()));
  STREW_ORT_TRY(attributes.add("source", kProviderName));
  STREW_ORT_TRY(attributes.add("partition_name", text.name));
  STREW_ORT_TRY(attributes.add("notes", notes));
  return editor->CreateNode(kType, kDomain, text.name.c_str(), read.data(), read.size(), made.data(), made.size(),
                            attributes.all().data(), attributes.all().size(), out);
}

abi::Status* bad_context(const std::string& node, const std::string& what) {
  return make_status(abi::ErrorCode::invalid_graph, "strew: node '" + node + "' (EPContext): " + what);
}

}  // namespace strew::ort
