// The functions of the mock host's tables that read values, types, graphs and nodes, and make nodes. Used by main.cc.
#include <algorithm>
#include <cstring>

#include "tests/onnxruntime/mock_host/mock.h"

namespace strew::mock {
namespace {

template <class Owner, class T, std::vector<const T*> Owner::*kList>
abi::Status* count_of(const Owner* owner, size_t* out) {
  *out = (owner->*kList).size();
  return nullptr;
}

template <class Owner, class T, std::vector<const T*> Owner::*kList>
abi::Status* list_of(const Owner* owner, const T** out, size_t count) {
  if (count != (owner->*kList).size()) fail("a list of another length is asked for");
  std::copy((owner->*kList).begin(), (owner->*kList).end(), out);
  return nullptr;
}

template <class Owner, std::string Owner::*kText>
abi::Status* text_of(const Owner* owner, const char** out) {
  *out = (owner->*kText).c_str();
  return nullptr;
}

abi::Status* read_attribute(const abi::Attribute* attribute, abi::AttributeType type, void* out, size_t bytes,
                            size_t* out_bytes) {
  if (type != attribute->type) return base().GetApi(1)->CreateStatus(abi::ErrorCode::invalid_argument, "another type");
  const bool is_text = type == abi::AttributeType::text;
  *out_bytes = is_text ? attribute->text.size() + 1 : sizeof attribute->number;
  if (out == nullptr || bytes < *out_bytes) return base().GetApi(1)->CreateStatus(abi::ErrorCode::invalid_argument, "no room");
  std::memcpy(out, is_text ? attribute->text.c_str() : reinterpret_cast<const char*>(&attribute->number), *out_bytes);
  return nullptr;
}

abi::Status* create_attribute(const char* name, const void* data, int size, abi::AttributeType type, abi::Attribute** out) {
  auto made = std::make_unique<abi::Attribute>();
  made->name = name;
  made->type = type;
  if (type == abi::AttributeType::number) {
    std::memcpy(&made->number, data, sizeof made->number);
  } else if (type == abi::AttributeType::text) {
    made->text.assign(static_cast<const char*>(data), static_cast<size_t>(size));
  } else {
    fail("an attribute that is neither a number nor a text is made");
  }
  count_alive(1);
  *out = made.release();
  return nullptr;
}

abi::Status* create_node(const char* type, const char* domain, const char* name, const char* const* inputs, size_t input_count,
                         const char* const* outputs, size_t output_count, abi::Attribute** attributes, size_t attribute_count,
                         abi::Node** out) {
  auto made = std::make_unique<abi::Node>();
  made->name = name;
  made->type = type;
  made->domain = domain;
  made->version = 1;
  made->input_names.assign(inputs, inputs + input_count);
  made->output_names.assign(outputs, outputs + output_count);
  for (size_t i = 0; i < attribute_count; ++i) made->attributes.push_back(*attributes[i]);
  *out = made.release();
  return nullptr;
}

void add_types(abi::Api& api) {
  api.GetValueInfoName = text_of<abi::ValueInfo, &abi::ValueInfo::name>;
  api.GetValueInfoTypeInfo = [](const abi::ValueInfo* info, const abi::TypeInfo** out) -> abi::Status* {
    *out = &info->type;
    return nullptr;
  };
  api.CastTypeInfoToTensorInfo = [](const abi::TypeInfo* type, const abi::TensorInfo** out) -> abi::Status* {
    *out = &type->tensor;
    return nullptr;
  };
  api.GetTensorElementType = [](const abi::TensorInfo* tensor, abi::ElementType* out) -> abi::Status* {
    *out = tensor->element;
    return nullptr;
  };
  api.TensorTypeAndShape_HasShape = [](const abi::TensorInfo*) { return true; };
  api.GetDimensionsCount = [](const abi::TensorInfo* tensor, size_t* out) -> abi::Status* {
    *out = tensor->dims.size();
    return nullptr;
  };
  api.GetDimensions = [](const abi::TensorInfo* tensor, int64_t* out, size_t count) -> abi::Status* {
    if (count != tensor->dims.size()) fail("dims of another rank are asked for");
    std::copy(tensor->dims.begin(), tensor->dims.end(), out);
    return nullptr;
  };
  api.GetSymbolicDimensions = [](const abi::TensorInfo* tensor, const char** out, size_t count) -> abi::Status* {
    for (size_t d = 0; d < count; ++d) out[d] = tensor->symbols[d].c_str();
    return nullptr;
  };
}

void add_value_infos(abi::Api& api) {
  api.ValueInfo_GetValueNumConsumers = [](const abi::ValueInfo* info, size_t* out) -> abi::Status* {
    *out = info->readers;
    return nullptr;
  };
  api.ValueInfo_GetInitializerValue = [](const abi::ValueInfo* info, const abi::Value** out) -> abi::Status* {
    *out = info->initializer ? &*info->initializer : nullptr;
    return nullptr;
  };
  api.ValueInfo_IsGraphOutput = [](const abi::ValueInfo* info, bool* out) -> abi::Status* {
    *out = info->is_output;
    return nullptr;
  };
  api.ValueInfo_IsConstantInitializer = [](const abi::ValueInfo* info, bool* out) -> abi::Status* {
    *out = info->initializer.has_value();
    return nullptr;
  };
  api.ValueInfo_IsFromOuterScope = [](const abi::ValueInfo*, bool* out) -> abi::Status* {
    *out = false;
    return nullptr;
  };
}

void add_graph_lists(abi::Api& api) {
  using abi::Graph, abi::Node, abi::ValueInfo;
  api.Graph_GetNumInputs = count_of<Graph, ValueInfo, &Graph::inputs>;
  api.Graph_GetInputs = list_of<Graph, ValueInfo, &Graph::inputs>;
  api.Graph_GetNumOutputs = count_of<Graph, ValueInfo, &Graph::outputs>;
  api.Graph_GetOutputs = list_of<Graph, ValueInfo, &Graph::outputs>;
  api.Graph_GetNumInitializers = count_of<Graph, ValueInfo, &Graph::initializers>;
  api.Graph_GetInitializers = list_of<Graph, ValueInfo, &Graph::initializers>;
  api.Graph_GetNumNodes = count_of<Graph, Node, &Graph::nodes>;
  api.Graph_GetNodes = list_of<Graph, Node, &Graph::nodes>;
  api.Graph_GetOnnxIRVersion = [](const Graph*, int64_t* out) -> abi::Status* {
    *out = 10;
    return nullptr;
  };
  api.Graph_GetNumOperatorSets = [](const Graph*, size_t* out) -> abi::Status* {
    *out = 1;
    return nullptr;
  };
  api.Graph_GetOperatorSets = [](const Graph*, const char** domains, int64_t* versions, size_t) -> abi::Status* {
    domains[0] = "";
    versions[0] = 18;
    return nullptr;
  };
  api.Graph_GetParentNode = [](const Graph*, const Node** out) -> abi::Status* {
    *out = nullptr;
    return nullptr;
  };
}

void add_nodes(abi::Api& api) {
  using abi::Node, abi::ValueInfo;
  api.Node_GetName = text_of<Node, &Node::name>;
  api.Node_GetOperatorType = text_of<Node, &Node::type>;
  api.Node_GetDomain = text_of<Node, &Node::domain>;
  api.Node_GetEpName = [](const Node*, const char** name) -> abi::Status* {
    *name = "";
    return nullptr;
  };
  api.Node_GetSinceVersion = [](const Node* node, int* out) -> abi::Status* {
    *out = node->version;
    return nullptr;
  };
  api.Node_GetNumInputs = count_of<Node, ValueInfo, &Node::inputs>;
  api.Node_GetInputs = list_of<Node, ValueInfo, &Node::inputs>;
  api.Node_GetNumOutputs = count_of<Node, ValueInfo, &Node::outputs>;
  api.Node_GetOutputs = list_of<Node, ValueInfo, &Node::outputs>;
  const auto none = [](const Node*, size_t* out) -> abi::Status* {
    *out = 0;
    return nullptr;
  };
  api.Node_GetNumImplicitInputs = none;
  api.Node_GetNumSubgraphs = none;
}

void add_attributes(abi::Api& api) {
  using abi::Attribute, abi::Node;
  api.Node_GetNumAttributes = [](const Node* node, size_t* out) -> abi::Status* {
    *out = node->attributes.size();
    return nullptr;
  };
  api.Node_GetAttributes = [](const Node* node, const Attribute** out, size_t count) -> abi::Status* {
    for (size_t i = 0; i < count; ++i) out[i] = &node->attributes[i];
    return nullptr;
  };
  api.Node_GetAttributeByName = [](const Node* node, const char* name, const Attribute** out) -> abi::Status* {
    const auto found =
        std::find_if(node->attributes.begin(), node->attributes.end(), [&](const Attribute& each) { return each.name == name; });
    *out = found == node->attributes.end() ? nullptr : &*found;
    return nullptr;
  };
  api.OpAttr_GetType = [](const Attribute* attribute, abi::AttributeType* out) -> abi::Status* {
    *out = attribute->type;
    return nullptr;
  };
  api.OpAttr_GetName = text_of<Attribute, &Attribute::name>;
  api.ReadOpAttr = read_attribute;
  api.CreateOpAttr = create_attribute;
  api.ReleaseOpAttr = [](Attribute* attribute) {
    if (attribute != nullptr) count_alive(-1);
    delete attribute;
  };
  api.GetModelEditorApi = []() -> const abi::ModelEditorApi* {
    static const abi::ModelEditorApi editor{{}, create_node};
    return &editor;
  };
}

}  // namespace

void add_values(abi::Api& api) {
  api.GetTensorMutableData = [](abi::Value* value, void** out) -> abi::Status* {
    *out = value->data->data();
    return nullptr;
  };
  api.GetTensorData = [](const abi::Value* value, const void** out) -> abi::Status* {
    *out = value->data->data();
    return nullptr;
  };
  api.GetTensorSizeInBytes = [](const abi::Value* value, size_t* out) -> abi::Status* {
    *out = value->data->size();
    return nullptr;
  };
  api.GetTensorElementTypeAndShapeDataReference = [](const abi::Value* value, abi::ElementType* element, const int64_t** dims,
                                                     size_t* rank) -> abi::Status* {
    *element = value->element;
    *dims = value->dims.data();
    *rank = value->dims.size();
    return nullptr;
  };
}

void add_graphs(abi::Api& api) {
  add_types(api);
  add_value_infos(api);
  add_graph_lists(api);
  add_nodes(api);
  add_attributes(api);
}

}  // namespace strew::mock
