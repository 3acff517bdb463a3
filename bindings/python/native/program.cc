// Programs: files with scatters and gathers, whole or kernel by kernel. Results are memory of strew's that NumPy's arrays keep. Tested by
// tests/python/kernel_test.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/runtime/dlpack.h"
#include "bindings/python/native/arrays.h"
#include "bindings/python/native/calls.h"
#include "bindings/python/native/check.h"
#include "bindings/python/native/runtime.h"
#include "strew/strew.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

/// Memory of a result, for as long as an array refers to it.
class Memory {
 public:
  explicit Memory(DLManagedTensorVersioned* given) : tensor_(given) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { dlpack::release(tensor_); }

  /// Bytes, which the caller views as elements.
  nb::dict interface() const {
    const dlpack::Tensor& tensor = dlpack::managed(tensor_)->tensor;
    nb::dict out;
    out["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset, false);
    out["shape"] = nb::make_tuple(bytes());
    out["typestr"] = "|u1";
    out["version"] = 3;
    return out;
  }
  nb::tuple dims() const {
    const dlpack::Tensor& tensor = dlpack::managed(tensor_)->tensor;
    return dims_of(tensor.dims, tensor.rank);
  }

 private:
  int64_t bytes() const {
    const dlpack::Tensor& tensor = dlpack::managed(tensor_)->tensor;
    int64_t count = tensor.dtype.bits / 8 * tensor.dtype.lanes;
    for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.dims[d];
    return count;
  }
  DLManagedTensorVersioned* tensor_;
};

class Parts;

class Program {
 public:
  explicit Program(strew_program* owned) : program_(owned) {}
  Program(const std::string& path, const nb::dict& how) {
    const std::optional<std::string> oob = text_in(how, "oob"), order = text_in(how, "order");
    const std::optional<std::string> accumulate = text_in(how, "accumulate");
    strew_import_options options = STREW_IMPORT_OPTIONS_INIT;
    if (how.contains("check_undefined")) options.check_undefined = nb::cast<bool>(how["check_undefined"]) ? 1 : 0;
    options.oob = or_null(oob);
    options.order = or_null(order);
    options.accumulate = or_null(accumulate);
    strew_status status = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      status = strew_program_open(path.c_str(), &options, &program_);
    }
    check(status);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { strew_program_free(program_); }

  /// The program between values of these names.
  Program* cut(const std::vector<std::string>& from, const std::vector<std::string>& to) const {
    const auto pointers = [](const std::vector<std::string>& names) {
      std::vector<const char*> out;
      for (const std::string& name : names) out.push_back(name.c_str());
      return out;
    };
    const std::vector<const char*> starts = pointers(from), ends = pointers(to);
    strew_program* out = nullptr;
    check(strew_program_cut_between(program_, starts.data(), starts.size(), ends.data(), ends.size(), &out));
    return new Program(out);
  }
  Parts* parts(const nb::dict& how, const nb::object& runnable) const;

  /// (name, text of the op) of each kernel.
  nb::list kernels() const {
    nb::list list;
    for (size_t i = 0; i < strew_program_kernel_count(program_); ++i) {
      strew_op* op = nullptr;
      check(strew_program_kernel_op(program_, i, &op));
      list.append(nb::make_tuple(strew_program_kernel_name(program_, i), strew_op_text(op)));
      strew_op_free(op);
    }
    return list;
  }

  /// (name, dtype, dims, optional) of each input or output; an open extent as None.
  nb::list ports(bool inputs) const {
    nb::list list;
    const size_t count = inputs ? strew_program_input_count(program_) : strew_program_output_count(program_);
    for (size_t i = 0; i < count; ++i) {
      strew_port port = STREW_PORT_INIT;
      check(inputs ? strew_program_input(program_, i, &port) : strew_program_output(program_, i, &port));
      list.append(nb::make_tuple(port.name, strew_dtype_name(static_cast<strew_dtype>(port.dtype)), dims_of(port.dims, port.rank),
                                 port.is_optional != 0));
    }
    return list;
  }

  /// Runs the program on arrays in the order of its inputs, None for one that is left out. The results' memory.
  nb::list run(const nb::list& inputs, const std::optional<std::string>& compile) const {
    std::vector<Array> arrays(inputs.size());
    const std::vector<const strew_tensor*> tensors = read(inputs, "input ", arrays);
    std::vector<DLManagedTensorVersioned*> outputs(strew_program_output_count(program_));
    strew_request request = STREW_REQUEST_INIT;
    request.compile = compile_mode(or_null(compile));
    strew_status status = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      status = strew_program_run(program_, strew_runtime_process(), &request, tensors.data(), tensors.size(), outputs.data(),
                                 outputs.size());
    }
    check(status);
    nb::list list;
    for (DLManagedTensorVersioned* const each : outputs) list.append(nb::cast(new Memory(each), nb::rv_policy::take_ownership));
    return list;
  }

  /// The same into arrays in the order of the outputs. One that is an input is updated in place where the program allows it.
  void run_into(const nb::list& inputs, const nb::list& outputs, const std::optional<std::string>& compile) const {
    std::vector<Array> arrays(inputs.size()), results(outputs.size());
    const std::vector<const strew_tensor*> tensors = read(inputs, "input ", arrays);
    static_cast<void>(read(outputs, "output ", results));
    std::vector<strew_tensor> into;
    for (const Array& each : results) into.push_back(each.tensor);
    std::vector<uint8_t> may_overwrite(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      for (const strew_tensor& each : into)
        if (tensors[i] != nullptr && tensors[i]->data == each.data) may_overwrite[i] = 1;
    strew_request request = STREW_REQUEST_INIT;
    request.compile = compile_mode(or_null(compile));
    strew_status status = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      status = strew_program_run_into(program_, strew_runtime_process(), &request, tensors.data(), may_overwrite.data(),
                                      tensors.size(), into.data(), into.size());
    }
    check(status);
  }

 private:
  /// The arrays of the list as tensors; null: None.
  static std::vector<const strew_tensor*> read(const nb::list& list, const char* what, std::vector<Array>& arrays) {
    std::vector<const strew_tensor*> tensors(arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      const nb::object each = list[i];
      if (each.is_none()) continue;
      if (!arrays[i].read(each.ptr(), (what + std::to_string(i)).c_str())) throw nb::python_error();
      tensors[i] = &arrays[i].tensor;
    }
    return tensors;
  }

  strew_program* program_ = nullptr;
};

/// The parts of a program, which lives as long.
class Parts {
 public:
  Parts(const strew_program* program, strew_parts* owned) : program_(program), parts_(owned) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { strew_parts_free(parts_); }

  /// (inputs, outputs, nodes, number of kernels, number of other operations) of each: names of values, and (number, location) of nodes.
  nb::list describe() const {
    nb::list out;
    for (size_t i = 0; i < strew_parts_count(parts_); ++i) {
      strew_part part = STREW_PART_INIT;
      check(strew_parts_get(parts_, i, &part));
      nb::list nodes;
      for (size_t n = 0; n < part.node_count; ++n) {
        strew_node node = STREW_NODE_INIT;
        check(strew_program_node(program_, static_cast<size_t>(part.nodes[n]), &node));
        nodes.append(nb::make_tuple(node.number, node.location));
      }
      out.append(nb::make_tuple(names(part.inputs, part.input_count), names(part.outputs, part.output_count), nodes,
                                part.kernel_count, part.compute_count));
    }
    return out;
  }
  Program* program(size_t number) const {
    strew_program* out = nullptr;
    check(strew_parts_program(parts_, number, &out));
    return new Program(out);
  }

 private:
  nb::list names(const int32_t* values, size_t count) const {
    nb::list out;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = strew_program_value_name(program_, values[i]);
      out.append(name.empty() ? "value_" + std::to_string(values[i]) : name);
    }
    return out;
  }
  const strew_program* program_;
  strew_parts* parts_;
};

/// What the caller's function says of a value. Its exception ends the search.
struct Runnable {
  nb::object function;
  std::exception_ptr failure;
};
int32_t is_runnable(void* context, int32_t value, const char* name) {
  auto& runnable = *static_cast<Runnable*>(context);
  if (runnable.failure) return 0;
  try {
    const std::string known = name[0] == 0 ? "value_" + std::to_string(value) : name;
    return nb::cast<bool>(runnable.function(known)) ? 1 : 0;
  } catch (...) {
    runnable.failure = std::current_exception();
    return 0;
  }
}

Parts* Program::parts(const nb::dict& how, const nb::object& runnable) const {
  strew_partition_options options = STREW_PARTITION_OPTIONS_INIT;
  options.needs_kernel = nb::cast<bool>(how["needs_kernel"]) ? 1 : 0;
  options.join = nb::cast<bool>(how["join"]) ? 1 : 0;
  options.least_operations = nb::cast<int64_t>(how["least_operations"]);
  Runnable asked{runnable, nullptr};
  if (!runnable.is_none()) {
    options.runnable = is_runnable;
    options.context = &asked;
  }
  strew_parts* out = nullptr;
  const strew_status status = strew_program_parts(program_, &options, &out);
  std::unique_ptr<Parts> parts = status == nullptr ? std::make_unique<Parts>(program_, out) : nullptr;
  if (asked.failure) {
    strew_status_free(status);
    std::rethrow_exception(asked.failure);
  }
  check(status);
  return parts.release();
}

}  // namespace

void add_programs(nb::module_& module) {
  nb::class_<Memory>(module, "Memory").def_prop_ro("__array_interface__", &Memory::interface).def_prop_ro("dims", &Memory::dims);
  nb::class_<Program>(module, "Program")
      .def(nb::init<const std::string&, const nb::dict&>(), nb::arg("path"), nb::arg("how"))
      .def("kernels", &Program::kernels)
      .def("cut", &Program::cut)
      .def("parts", &Program::parts, nb::arg("how"), nb::arg("runnable").none(), nb::keep_alive<0, 1>())
      .def("ports", &Program::ports)
      .def("run", &Program::run, nb::arg("inputs"), nb::arg("compile").none())
      .def("run_into", &Program::run_into, nb::arg("inputs"), nb::arg("outputs"), nb::arg("compile").none());
  nb::class_<Parts>(module, "Parts").def("describe", &Parts::describe).def("program", &Parts::program, nb::arg("number"));
}

}  // namespace strew::python
