// strew extract: writes each distinct kernel of a file as a .strew file, and kernels.json, which says where each comes from: so that a kernel
// can be studied, tuned or reported without the model. With --data, also random legal inputs and what the reference makes of them.
//
// A kernel's tensors are those of its op: what operations around it compute is an input. Tested by tests/error/model_test.cc.
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "backends/reference/reference.h"
#include "base/pending_file.h"
#include "base/strides.h"
#include "strew/text.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/summary.h"
#include "tools/strew/tensor_file.h"
#include "tune/workload_data.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostDataBytes = int64_t{1} << 30;  ///< of one kernel's tensors

/// A file name that holds the kernel's name as far as file names can, and that no other kernel has.
std::string file_stem(const std::string& name, std::map<std::string, int>& taken) {
  constexpr size_t kLongest = 100;
  std::string out;
  for (const char c : name.substr(0, kLongest)) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    out += is_plain ? c : '_';
  }
  if (out.empty() || out[0] == '.') out = "kernel" + out;
  const int again = taken[out]++;
  return again == 0 ? out : file_stem(out + "_" + std::to_string(again + 1), taken);
}

/// The tensors of a kernel's op, each with the name that the file has for the value.
Json tensors_json(const Program& imported, int number) {
  Json out = Json::array();
  for (const KernelTensor& tensor : kernel_tensors(imported, number))
    out.push_back({{"role", name(tensor.role)},
                   {"value", tensor.value < 0 ? "" : value_name(imported, tensor.value)},
                   {"dtype", name(tensor.type->dtype)},
                   {"dims", dims_json(*tensor.type, tensor.symbols)}});
  return out;
}

/// A copy of what a view shows.
Expected<Tensor> tensor_of(const TensorView& view) {
  STREW_ASSIGN(Tensor out, make_tensor(view.dtype, std::vector<int64_t>(view.dims, view.dims + view.rank)));
  if (view.strides == nullptr) {
    std::memcpy(out.data.data(), view.data, static_cast<size_t>(out.data.size()));
    return out;
  }
  if (bits(view.dtype) < 8)
    return unsupported("a tensor of " + std::string(name(view.dtype)) + " with strides, expected whole bytes");
  const int64_t bytes = bits(view.dtype) / 8, count = out.elements();
  Walk walk(out.dims, {view.strides, out.dims.size()});
  for (int64_t i = 0; i < count; ++i, walk.next())
    std::memcpy(out.data.data() + i * bytes, static_cast<const std::byte*>(view.data) + walk.offset() * bytes,
                static_cast<size_t>(bytes));
  return out;
}

/// Writes inputs and results of the kernel to FOLDER/STEM.input_N.npy and FOLDER/STEM.result_N.npy, in the order in which `strew run
/// STEM.strew` takes them. Returns their names.
Expected<Json> write_data(const VerifiedOp& op, const std::string& folder, const std::string& stem, uint64_t seed) {
  STREW_ASSIGN(const InventedUsage usage, invent_usage(op, {{}, "", "hot", 1, 1}));
  STREW_ASSIGN(const WorkloadData data, WorkloadData::make(op, usage.usage, seed, kMostDataBytes));
  const std::span<const TensorView> views = data.call(0);
  const std::vector<TensorSlot> slots = tensor_slots(op);
  std::vector<Tensor> tensors;
  std::vector<std::string> paths;
  Json inputs = Json::array(), results = Json::array();
  const auto add = [&](const TensorView& view, const char* what, Json& list) -> Status {
    STREW_ASSIGN(Tensor copy, tensor_of(view));
    list.push_back(stem + "." + what + "_" + std::to_string(list.size()) + ".npy");
    paths.push_back(folder + "/" + list.back().get<std::string>());
    tensors.push_back(std::move(copy));
    return {};
  };
  for (size_t i = 0; i < slots.size() && is_in_place(op); ++i)
    if (slots[i].role == Role::result) STREW_TRY(add(views[i], "input", inputs));
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].role != Role::result) STREW_TRY(add(views[i], "input", inputs));
  STREW_TRY(run_reference(op, views, nullptr));
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].role == Role::result) STREW_TRY(add(views[i], "result", results));
  STREW_TRY(write_tensors(tensors, paths));
  return Json{{"inputs", inputs}, {"results", results}, {"usage", print(usage.usage)}};
}

Status write_text(const std::string& path, const std::string& text) {
  STREW_ASSIGN(PendingFile file, PendingFile::create(path, text));
  return file.commit();
}

Expected<Json> extract_group(const Options& options, const Program& imported, const KernelGroup& group, const std::string& stem) {
  const int first = group.kernels[0];
  const ProgramKernel& kernel = imported.kernel(first);
  STREW_TRY(write_text(options.output + "/" + stem + ".strew", group.op + "\n"));
  Json out = {{"file", stem + ".strew"}, {"op", group.op}, {"count", group.kernels.size()}, {"kernels", Json::array()}};
  for (const int number : group.kernels) {
    const ProgramKernel& each = imported.kernel(number);
    out["kernels"].push_back({{"name", each.name}, {"location", each.location}, {"tensors", tensors_json(imported, number)}});
  }
  if (!options.data) return out;
  const Expected<Json> data = write_data(kernel.op, options.output, stem, 1);
  if (data.ok())
    out["data"] = *data;
  else
    out["data"] = {{"missing", data.status().message()}};
  return out;
}

}  // namespace

int extract(const Options& options) {
  const Expected<Program> imported = import_file(options.file, options.import);
  if (!imported.ok()) return fail(imported.status());
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) return fail(Status(Code::io, "-o " + options.output + ": the folder cannot be made: " + error.message()));
  const std::vector<KernelGroup> groups = distinct_kernels(*imported);
  Json json = {{"source", options.file}, {"format", imported->format()}, {"kernels", Json::array()}};
  std::map<std::string, int> taken;
  for (const KernelGroup& group : groups) {
    const std::string stem = file_stem(imported->kernel(group.kernels[0]).name, taken);
    Expected<Json> entry = extract_group(options, *imported, group, stem);
    if (!entry.ok()) return fail(entry.status());
    json["kernels"].push_back(std::move(*entry));
  }
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (const Status status = write_text(options.output + "/kernels.json", text); !status.ok()) return fail(status);
  return fail(print_out(printable(options.output) + ": " + summary_text(*imported, groups.size()) + "; " +
                        std::to_string(groups.size()) + (groups.size() == 1 ? " file" : " files") + " and kernels.json\n"));
}

}  // namespace strew::cli
