#include "bindings/onnxruntime/groups.h"

#include <algorithm>

#include "bindings/onnxruntime/claims.h"

namespace strew::ort {
namespace {

template <class T, auto kFree>
struct Frees {
  void operator()(T* pointer) const { kFree(pointer); }
};
using OwnedParts = std::unique_ptr<strew_parts, Frees<strew_parts, strew_parts_free>>;
using OwnedOp = std::unique_ptr<strew_op, Frees<strew_op, strew_op_free>>;

OwnedProgram owned(strew_program* program) { return {program, strew_program_free}; }

/// Is it no failure? A failure's text is kept.
bool went_well(strew_status status, std::string* why) {
  if (status == nullptr) return true;
  *why = strew_status_message(status);
  strew_status_free(status);
  return false;
}

/// Elements of a slot; -1: an extent is open.
int64_t bytes_of(const strew_slot& slot) {
  int64_t count = 1;
  for (int32_t d = 0; d < slot.rank; ++d) {
    if (slot.dims[d] == STREW_OPEN) return -1;
    count *= slot.dims[d];
  }
  return count * strew_dtype_bits(static_cast<strew_dtype>(slot.dtype)) / 8;
}

/// Does a kernel of a group have to copy a tensor that, as a node of its own, it would update in place, and which is larger than what the group saves?
bool copies_much(const strew_op* op) {
  const std::string_view text = strew_op_text(op);
  if (text.find(".scatter(") == std::string_view::npos || text.find(" init=fill") != std::string_view::npos) return false;
  int64_t operand = 0, updates = 0;
  for (size_t i = 0; i < strew_op_slot_count(op); ++i) {
    strew_slot slot = STREW_SLOT_INIT;
    std::string ignored;
    if (!went_well(strew_op_slot(op, i, &slot), &ignored)) return true;
    if (slot.role != STREW_RESULT && slot.role != STREW_UPDATES) continue;
    const int64_t bytes = bytes_of(slot);
    if (bytes < 0) return true;
    (slot.role == STREW_RESULT ? operand : updates) += bytes;
  }
  return operand > updates;
}

/// Is it a gather of so few elements that ONNX Runtime takes no longer?
bool is_small(const strew_op* op) {
  strew_slot result = STREW_SLOT_INIT;
  std::string ignored;
  if (std::string_view(strew_op_text(op)).find(".scatter(") != std::string_view::npos || !went_well(strew_op_slot(op, 0, &result), &ignored))
    return false;
  const int64_t bytes = bytes_of(result);
  return bytes >= 0 && bytes < kLeastGatheredBytes;
}

bool is_worth_it(const strew_program* program) {
  bool all_small = true;
  for (size_t k = 0; k < strew_program_kernel_count(program); ++k) {
    strew_op* made = nullptr;
    std::string ignored;
    if (!went_well(strew_program_kernel_op(program, k, &made), &ignored)) return false;
    const OwnedOp op(made);
    if (copies_much(made)) return false;
    all_small = all_small && is_small(made);
  }
  return !all_small;
}

/// A group as a node of a session.
struct GroupCompute : abi::NodeComputeInfo {
  Session* session;
  OwnedProgram program;
  std::vector<size_t> inputs, outputs;  ///< per input and output of the program: its number at the node
  std::string name;
};

/// Where outputs are asked for while a program runs.
struct Outputs {
  const GroupCompute* compute;
  abi::KernelContext* context;
  abi::Status* failed = nullptr;
};
void* make_output(void* context, size_t output, const int64_t* dims, int32_t rank) {
  auto& outputs = *static_cast<Outputs*>(context);
  abi::Value* value = nullptr;
  void* data = nullptr;
  if (outputs.failed != nullptr) return nullptr;
  outputs.failed = api().KernelContext_GetOutput(outputs.context, outputs.compute->outputs[output], dims, static_cast<size_t>(rank), &value);
  if (outputs.failed == nullptr) outputs.failed = api().GetTensorMutableData(value, &data);
  return data;
}

abi::Status* run(const GroupCompute& compute, abi::KernelContext* context) {
  std::vector<strew_tensor> tensors(compute.inputs.size());
  std::vector<const strew_tensor*> inputs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const abi::Value* value = nullptr;
    STREW_ORT_TRY(api().KernelContext_GetInput(context, compute.inputs[i], &value));
    if (value == nullptr) return failure("strew: " + compute.name + ": an input is missing");
    STREW_ORT_TRY(view_of(value, true, &tensors[i]));
    inputs.push_back(&tensors[i]);
  }
  const Calling calling(context, compute.session->pool);
  strew_request request = compute.session->runtime->request();
  request.threads = compute.session->runtime->threads();
  Outputs outputs{&compute, context};
  const strew_status status = strew_program_run_with(compute.program.get(), compute.session->runtime->get(), &request, inputs.data(), nullptr,
                                                     inputs.size(), make_output, &outputs);
  if (status == nullptr) return outputs.failed;
  if (outputs.failed != nullptr) {
    strew_status_free(status);
    return outputs.failed;
  }
  return from_strew(status, abi::ErrorCode::invalid_argument, compute.name);
}

/// The names of a program's inputs or outputs.
template <class Count, class Get>
std::vector<std::string> port_names(const strew_program* program, const Count& count, const Get& get) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count(program); ++i) {
    strew_port port = STREW_PORT_INIT;
    std::string ignored;
    out.emplace_back(went_well(get(program, i, &port), &ignored) ? port.name : "");
  }
  return out;
}

std::vector<std::string> input_names(const strew_program* program) {
  return port_names(program, strew_program_input_count, strew_program_input);
}
std::vector<std::string> output_names(const strew_program* program) {
  return port_names(program, strew_program_output_count, strew_program_output);
}

abi::Status* places_of(const std::vector<std::string>& names, const std::vector<const abi::ValueInfo*>& infos, std::vector<size_t>* out) {
  std::vector<std::string> all(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) STREW_ORT_TRY(name_of(infos[i], &all[i]));
  for (const std::string& name : names) {
    const auto found = std::find(all.begin(), all.end(), name);
    if (found == all.end()) return failure("strew: the node of a group has no '" + name + "', which its program reads or makes");
    out->push_back(static_cast<size_t>(found - all.begin()));
  }
  return nullptr;
}

}  // namespace

abi::Status* results_of(const std::vector<const abi::Node*>& nodes, std::set<std::string>* out) {
  for (const abi::Node* const node : nodes) {
    std::vector<const abi::ValueInfo*> results;
    STREW_ORT_TRY(outputs_of(node, &results));
    for (const abi::ValueInfo* const info : results) {
      std::string name;
      STREW_ORT_TRY(name_of(info, &name));
      if (!name.empty()) out->insert(name);
    }
  }
  return nullptr;
}

abi::Status* program_of(const abi::Graph* graph, const OwnedProgram& found, OwnedProgram* out) {
  std::vector<const abi::ValueInfo*> outputs;
  STREW_ORT_TRY(read_list(api().Graph_GetNumOutputs, api().Graph_GetOutputs, graph, &outputs));
  const std::vector<std::string> made = output_names(found.get());
  std::vector<std::string> wanted(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) STREW_ORT_TRY(name_of(outputs[o], &wanted[o]));
  const auto is_made = [&](const std::string& name) { return std::find(made.begin(), made.end(), name) != made.end(); };
  if (made.size() == wanted.size() && std::all_of(wanted.begin(), wanted.end(), is_made)) {
    *out = found;
    return nullptr;
  }
  std::vector<const abi::Node*> nodes;
  STREW_ORT_TRY(read_list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph, &nodes));
  Model model;
  STREW_ORT_TRY(write_part(graph, nodes, wanted, &model));
  strew_program* read = nullptr;
  std::string why;
  if (!went_well(strew_program_read(model.bytes.data(), model.bytes.size(), "group.onnx", nullptr, &read), &why)) return failure("strew: " + why);
  *out = owned(read);
  return nullptr;
}

namespace {

/// The nodes of a part and what others read of them. False: not all that the part stands for is there.
bool read_part(const strew_program* program, const Model& model, const strew_part& part, std::vector<const abi::Node*>* nodes,
               std::vector<std::string>* outputs) {
  std::string ignored;
  if (part.region >= 0) return false;
  for (size_t n = 0; n < part.node_count; ++n) {
    strew_node node = STREW_NODE_INIT;
    if (!went_well(strew_program_node(program, static_cast<size_t>(part.nodes[n]), &node), &ignored)) return false;
    if (const abi::Node* const each = model.nodes[static_cast<size_t>(node.number)]) nodes->push_back(each);
  }
  for (size_t o = 0; o < part.output_count; ++o) outputs->emplace_back(strew_program_value_name(program, part.outputs[o]));
  return true;
}

}  // namespace

abi::Status* find_groups(const abi::Graph* graph, std::vector<Group>* out, std::string* why) {
  Model model;
  STREW_ORT_TRY(write_model(graph, &model));
  if (!model.has_operators) return nullptr;
  strew_program* read = nullptr;
  if (!went_well(strew_program_read(model.bytes.data(), model.bytes.size(), "graph.onnx", nullptr, &read), why)) return nullptr;
  const OwnedProgram program = owned(read);
  strew_partition_options options = STREW_PARTITION_OPTIONS_INIT;
  options.kernels_only = 1;
  strew_parts* found = nullptr;
  if (!went_well(strew_program_parts(read, &options, &found), why)) return nullptr;
  const OwnedParts parts(found);
  for (size_t p = 0; p < strew_parts_count(found); ++p) {
    strew_part part = STREW_PART_INIT;
    Group group;
    std::vector<std::string> outputs;
    if (!went_well(strew_parts_get(found, p, &part), why) || !read_part(read, model, part, &group.nodes, &outputs) || group.nodes.size() < 2)
      continue;
    // The part's program may do again what nodes outside of the group do, too. The group's own reads what these make.
    Model own;
    STREW_ORT_TRY(write_part(graph, group.nodes, outputs, &own));
    if (!own.has_operators) continue;
    strew_program* made = nullptr;
    if (!went_well(strew_program_read(own.bytes.data(), own.bytes.size(), "group.onnx", nullptr, &made), why)) continue;
    group.program = owned(made);
    if (is_worth_it(made)) out->push_back(std::move(group));
  }
  return nullptr;
}

abi::Status* make_compute(Session* session, OwnedProgram program, const abi::Node* fused, abi::NodeComputeInfo** out) {
  auto made = std::make_unique<GroupCompute>();
  static_cast<abi::NodeComputeInfo&>(*made) = {};
  made->ort_version_supported = abi::kVersion;
  made->session = session;
  NodeText text;
  STREW_ORT_TRY(read_node(fused, &text));
  made->name = "group '" + text.name + "'";
  std::vector<const abi::ValueInfo*> inputs, outputs;
  STREW_ORT_TRY(inputs_of(fused, &inputs));
  STREW_ORT_TRY(outputs_of(fused, &outputs));
  STREW_ORT_TRY(places_of(input_names(program.get()), inputs, &made->inputs));
  STREW_ORT_TRY(places_of(output_names(program.get()), outputs, &made->outputs));
  made->program = std::move(program);
  made->CreateState = [](abi::NodeComputeInfo* info, abi::NodeComputeContext*, void** state) -> abi::Status* {
    *state = info;
    return nullptr;
  };
  made->Compute = [](abi::NodeComputeInfo* info, void*, abi::KernelContext* context) {
    return guarded([&] { return run(*static_cast<GroupCompute*>(info), context); });
  };
  made->ReleaseState = [](abi::NodeComputeInfo*, void*) {};
  *out = made.release();
  return nullptr;
}

void release_compute(abi::NodeComputeInfo* info) { delete static_cast<GroupCompute*>(info); }

}  // namespace strew::ort
