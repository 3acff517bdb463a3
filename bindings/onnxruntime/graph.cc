#include "bindings/onnxruntime/graph.h"

#include <algorithm>

namespace strew::ort {

abi::Status* read_node(const abi::Node* node, NodeText* out) {
  const char *name = nullptr, *type = nullptr, *domain = nullptr;
  STREW_ORT_TRY(api().Node_GetName(node, &name));
  STREW_ORT_TRY(api().Node_GetOperatorType(node, &type));
  STREW_ORT_TRY(api().Node_GetDomain(node, &domain));
  STREW_ORT_TRY(api().Node_GetSinceVersion(node, &out->version));
  out->name = name != nullptr ? name : "";
  out->type = type != nullptr ? type : "";
  out->domain = domain != nullptr ? domain : "";
  const char* provider = nullptr;
  STREW_ORT_TRY(api().Node_GetEpName(node, &provider));
  out->provider = provider != nullptr ? provider : "";
  return nullptr;
}

abi::Status* inputs_of(const abi::Node* node, std::vector<const abi::ValueInfo*>* out) {
  return read_list(api().Node_GetNumInputs, api().Node_GetInputs, node, out);
}
abi::Status* outputs_of(const abi::Node* node, std::vector<const abi::ValueInfo*>* out) {
  return read_list(api().Node_GetNumOutputs, api().Node_GetOutputs, node, out);
}

abi::Status* name_of(const abi::ValueInfo* info, std::string* out) {
  const char* name = nullptr;
  if (info != nullptr) STREW_ORT_TRY(api().GetValueInfoName(info, &name));
  *out = name != nullptr ? name : "";
  return nullptr;
}

abi::Status* read_text(const abi::Attribute* attribute, std::string* out) {
  size_t bytes = 0;
  succeeded(api().ReadOpAttr(attribute, abi::AttributeType::text, nullptr, 0, &bytes));  // fails, and says how long it is
  out->assign(bytes, '\0');
  if (bytes > 0) STREW_ORT_TRY(api().ReadOpAttr(attribute, abi::AttributeType::text, out->data(), bytes, &bytes));
  while (!out->empty() && out->back() == '\0') out->pop_back();
  return nullptr;
}

abi::Status* places_of(const std::vector<std::string>& names, const std::vector<const abi::ValueInfo*>& infos,
                       std::vector<size_t>* out) {
  std::vector<std::string> all(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) STREW_ORT_TRY(name_of(infos[i], &all[i]));
  for (const std::string& name : names) {
    const auto found = std::find(all.begin(), all.end(), name);
    if (found == all.end()) return failure("strew: a node of several that were made one has no '" + name + "'");
    out->push_back(static_cast<size_t>(found - all.begin()));
  }
  return nullptr;
}

std::optional<int64_t> NodeReader::number(const char* name) const {
  const abi::Attribute* attribute = nullptr;
  int64_t out = 0;
  size_t bytes = 0;
  if (!succeeded(api().Node_GetAttributeByName(node_, name, &attribute)) || attribute == nullptr) return std::nullopt;
  return succeeded(api().ReadOpAttr(attribute, abi::AttributeType::number, &out, sizeof out, &bytes)) ? std::optional(out)
                                                                                                      : std::nullopt;
}

std::optional<std::string> NodeReader::text(const char* name) const {
  const abi::Attribute* attribute = nullptr;
  std::string out;
  if (!succeeded(api().Node_GetAttributeByName(node_, name, &attribute)) || attribute == nullptr) return std::nullopt;
  return succeeded(read_text(attribute, &out)) ? std::optional(out) : std::nullopt;
}

}  // namespace strew::ort
