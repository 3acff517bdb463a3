// A call reads one array per slot of the op and runs the kernel: nothing is looked up. Inputs are given in binding order or by the names of their slots,
// results as `out`. Tested by tests/python/kernel_test.py.
#include "bindings/python/native/kernel.h"

#include <structmember.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/python/native/arrays.h"
#include "bindings/python/native/calls.h"
#include "bindings/python/native/errors.h"

namespace strew::python {
namespace {

struct Slot {
  strew_slot slot;
  std::string name;  ///< as an argument: "indices", "updates", or with a number where there are several, "updates1"
};

struct State {
  strew_kernel_ref* kernel = nullptr;
  strew_op* op = nullptr;
  std::vector<Slot> slots;
  size_t results = 0;
  bool in_place = false;  ///< the result's buffer is the operand's, which is no input

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    strew_kernel_release(kernel);
    strew_op_free(op);
  }
  size_t inputs() const { return slots.size() - results; }
};

struct KernelObject {
  PyObject_HEAD vectorcallfunc call;
  State* state;
  PyObject* how;
};

State& state_of(PyObject* self) { return *reinterpret_cast<KernelObject*>(self)->state; }

/// The arguments of one call, by slot; null where none was given.
struct Arguments {
  std::vector<PyObject*> by_slot;
  PyObject* out = Py_None;
};

bool give_named(const State& state, PyObject* name, PyObject* value, Arguments& to) {
  const char* const text = PyUnicode_AsUTF8(name);
  if (text == nullptr) return false;
  if (std::string_view(text) == "out") return to.out = value, true;
  for (size_t i = state.results; i < state.slots.size(); ++i) {
    if (state.slots[i].name != text) continue;
    if (to.by_slot[i] == nullptr) return to.by_slot[i] = value, true;
    PyErr_Format(PyExc_TypeError, "%s: given twice", text);
    return false;
  }
  std::string names;
  for (size_t i = state.results; i < state.slots.size(); ++i) names += state.slots[i].name + ", ";
  PyErr_Format(PyExc_TypeError, "%s: no tensor of this kernel has that name, which has %sand out", text, names.c_str());
  return false;
}

bool take_arguments(const State& state, PyObject* const* given, size_t count, PyObject* names, Arguments& to) {
  to.by_slot.assign(state.slots.size(), nullptr);
  if (count > state.inputs()) {
    PyErr_Format(PyExc_TypeError, "expected %zu inputs, got %zu", state.inputs(), count);
    return false;
  }
  for (size_t i = 0; i < count; ++i) to.by_slot[state.results + i] = given[i];
  const Py_ssize_t named = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    if (!give_named(state, PyTuple_GET_ITEM(names, i), given[count + static_cast<size_t>(i)], to)) return false;
  for (size_t i = state.results; i < state.slots.size(); ++i)
    if (to.by_slot[i] == nullptr) {
      PyErr_Format(PyExc_TypeError, "%s: missing", state.slots[i].name.c_str());
      return false;
    }
  return true;
}

/// Takes `out` apart: one array, or a sequence of as many as there are results.
bool take_out(const State& state, Arguments& arguments, Ref& kept) {
  if (arguments.out == Py_None) return true;
  if (state.results == 1 && PyTuple_Check(arguments.out) == 0 && PyList_Check(arguments.out) == 0) {
    arguments.by_slot[0] = arguments.out;
    return true;
  }
  kept = Ref(PySequence_Tuple(arguments.out));  // the caller's list may change while the kernel runs
  if (!kept) {
    PyErr_SetString(PyExc_TypeError, "out: expected an array per result");
    return false;
  }
  if (PyTuple_GET_SIZE(kept.get()) != static_cast<Py_ssize_t>(state.results)) {
    PyErr_Format(PyExc_ValueError, "out: %zd arrays, expected %zu", PyTuple_GET_SIZE(kept.get()), state.results);
    return false;
  }
  for (size_t i = 0; i < state.results; ++i) arguments.by_slot[i] = PyTuple_GET_ITEM(kept.get(), static_cast<Py_ssize_t>(i));
  return true;
}

/// Makes the results that the caller did not give. An operand that is overwritten in place has to be given.
bool make_results(const State& state, std::vector<Array>& arrays, const Arguments& arguments, std::vector<Ref>& made) {
  if (arguments.out != Py_None) return true;
  std::vector<strew_tensor> inputs;
  if (state.in_place) {
    PyErr_SetString(PyExc_TypeError, "out: missing, and this kernel writes in place: expected the array to write into");
    return false;
  }
  for (size_t i = state.results; i < state.slots.size(); ++i) inputs.push_back(arrays[i].tensor);
  const Array& first = arrays[state.results];
  for (size_t i = 0; i < state.results; ++i) {
    const strew_slot& slot = state.slots[i].slot;
    std::array<int64_t, kMaxRank> dims;
    if (const strew_status status = strew_op_result_dims(state.op, i, inputs.data(), inputs.size(), dims.data(), slot.rank))
      return raise(status), false;
    made.push_back(first.new_like(arguments.by_slot[state.results], slot.dtype, dims.data(), slot.rank));
    if (!made.back() || !arrays[i].read(made.back().get(), "result")) return false;
  }
  return true;
}

strew_status run(const State& state, const std::vector<Array>& arrays, strew_bad_index& bad_index) {
  std::vector<strew_tensor> tensors;
  tensors.reserve(arrays.size());
  for (const Array& each : arrays) tensors.push_back(each.tensor);
  const strew_call_options options = options_of_call(bad_index);
  Unlocked unlocked;
  if (!is_quick(std::span(arrays).subspan(state.results))) unlocked.begin();
  return strew_kernel_run(state.kernel, tensors.data(), tensors.size(), &options);
}

PyObject* answer(const State& state, const std::vector<Array>& arrays, const Arguments& arguments, std::vector<Ref>& made) {
  if (arguments.out != Py_None) {
    for (size_t i = 0; i < state.results; ++i)
      if (!was_written(arguments.by_slot[i], arrays[i].host)) return nullptr;
    return Py_NewRef(arguments.out);
  }
  const Host host = arrays[state.results].host;
  if (state.results == 1) return as_host(std::move(made[0]), host).release();
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(state.results)));
  for (size_t i = 0; tuple && i < state.results; ++i) {
    PyObject* const each = as_host(std::move(made[i]), host).release();
    if (each == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), each);
  }
  return tuple.release();
}

PyObject* call(PyObject* self, PyObject* const* given, size_t flags, PyObject* names) {
  const State& state = state_of(self);
  Arguments arguments;
  Ref kept;
  if (!take_arguments(state, given, static_cast<size_t>(PyVectorcall_NARGS(flags)), names, arguments)) return nullptr;
  if (!take_out(state, arguments, kept)) return nullptr;
  std::vector<Array> arrays(state.slots.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    PyObject* const each = arguments.by_slot[i];
    if (each == nullptr) continue;
    if (!(i < state.results ? arrays[i].read_result(each, "out") : arrays[i].read(each, state.slots[i].name.c_str())))
      return nullptr;
  }
  std::vector<Ref> made;
  if (!make_results(state, arrays, arguments, made)) return nullptr;
  strew_bad_index bad_index = STREW_BAD_INDEX_INIT;
  if (const strew_status status = run(state, arrays, bad_index)) return raise(status, &bad_index);
  return answer(state, arrays, arguments, made);
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete reinterpret_cast<KernelObject*>(self)->state;
  Py_XDECREF(reinterpret_cast<KernelObject*>(self)->how);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_text(PyObject* self, void*) { return PyUnicode_FromString(strew_op_text(state_of(self).op)); }
PyObject* get_threads(PyObject* self, void*) { return PyLong_FromLong(strew_kernel_threads(state_of(self).kernel)); }
PyObject* text_or_none(const char* text) { return text != nullptr ? PyUnicode_FromString(text) : Py_NewRef(Py_None); }
PyObject* get_symbol(PyObject* self, void*) { return text_or_none(strew_kernel_symbol(state_of(self).kernel)); }
PyObject* get_schedule(PyObject* self, void*) { return text_or_none(strew_kernel_schedule(state_of(self).kernel)); }
PyObject* get_target(PyObject* self, void*) { return text_or_none(strew_kernel_target(state_of(self).kernel)); }
PyObject* get_backend(PyObject* self, void*) { return text_or_none(strew_kernel_backend(state_of(self).kernel)); }
PyObject* get_stand_in(PyObject* self, void*) { return PyBool_FromLong(strew_kernel_is_stand_in(state_of(self).kernel)); }
PyObject* get_plan(PyObject* self, void*) {
  strew_text* text = nullptr;
  if (const strew_status status = strew_kernel_plan_text(state_of(self).kernel, &text)) return raise(status);
  PyObject* const made = PyUnicode_FromString(strew_text_chars(text));
  strew_text_free(text);
  return made;
}
PyObject* get_how(PyObject* self, void*) { return PyDict_Copy(reinterpret_cast<KernelObject*>(self)->how); }
PyObject* get_build_seconds(PyObject* self, void*) {
  return PyFloat_FromDouble(static_cast<double>(strew_kernel_build_nanoseconds(state_of(self).kernel)) * 1e-9);
}
PyObject* get_names(PyObject* self, void*) {
  const State& state = state_of(self);
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(state.inputs())));
  for (size_t i = 0; tuple && i < state.inputs(); ++i) {
    PyObject* const name = PyUnicode_FromString(state.slots[state.results + i].name.c_str());
    if (name == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), name);
  }
  return tuple.release();
}
PyObject* describe(PyObject* self) { return PyUnicode_FromFormat("strew.kernel('%s')", strew_op_text(state_of(self).op)); }
/// Pickled as its text and how it was asked for.
PyObject* reduce(PyObject* self, PyObject*) {
  const Ref module(PyImport_ImportModule("strew._kernels"));
  const Ref restore(module ? PyObject_GetAttrString(module.get(), "_restore_kernel") : nullptr);
  return restore
             ? Py_BuildValue("O(sO)", restore.get(), strew_op_text(state_of(self).op), reinterpret_cast<KernelObject*>(self)->how)
             : nullptr;
}

PyGetSetDef getters[] = {
    {"text", get_text, nullptr, "The canonical text of the op.", nullptr},
    {"threads", get_threads, nullptr, "The most threads that a call uses.", nullptr},
    {"options", get_how, nullptr, "How the kernel was asked for: the arguments of strew.kernel().", nullptr},
    {"inputs", get_names, nullptr, "The names of the inputs, in the order of the arguments.", nullptr},
    {"symbol", get_symbol, nullptr, "The name of the machine code, the same for all ops that share it.", nullptr},
    {"schedule", get_schedule, nullptr, "How it was compiled, as knobs (schedules/README.md).", nullptr},
    {"target", get_target, nullptr, "The CPU that it was compiled for.", nullptr},
    {"backend", get_backend, nullptr, "What made the code: \"llvm\", \"halide\", \"portable\" or \"reference\".", nullptr},
    {"plan", get_plan, nullptr, "What the op does to addresses: loops, strides and index components. For people.", nullptr},
    {"is_stand_in", get_stand_in, nullptr, "Whether it answers only until the compiled kernel takes its place.", nullptr},
    {"build_seconds", get_build_seconds, nullptr, "How long it took to build.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
/// What notebooks show.
PyObject* html(PyObject* self, PyObject*) {
  const Ref module(PyImport_ImportModule("strew._kernels"));
  const Ref function(module ? PyObject_GetAttrString(module.get(), "_kernel_html") : nullptr);
  return function ? PyObject_CallOneArg(function.get(), self) : nullptr;
}

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr}, {"_repr_html_", html, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(KernelObject, call), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(describe)},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("One op, compiled: call it with its inputs, in the order of `inputs` or by these names, and "
                                  "with `out=` for the result.\n\n"
                                  "Without `out`, a new array is returned, or a tuple of them. Made by strew.kernel().")},
    {0, nullptr}};
PyType_Spec spec = {
    "strew.Kernel", sizeof(KernelObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
PyTypeObject* kernel_type = nullptr;

/// "updates 0" is "updates" where it is alone, else "updates0".
std::string argument_name(const std::string& slot, const std::vector<Slot>& all) {
  const size_t space = slot.find(' ');
  if (space == std::string::npos) return slot;
  const std::string role = slot.substr(0, space);
  size_t count = 0;
  for (const Slot& each : all) count += std::string(each.slot.name).rfind(role + " ", 0) == 0 ? 1 : 0;
  const bool is_only = count == 1 && role != "indices";  // "indices" itself is the tensor without a number
  return is_only ? role : role + slot.substr(space + 1);
}

}  // namespace

bool add_kernel_type(PyObject* module) {
  kernel_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return kernel_type != nullptr && PyModule_AddObjectRef(module, "Kernel", reinterpret_cast<PyObject*>(kernel_type)) == 0;
}

PyObject* new_kernel(strew_kernel_ref* kernel, strew_op* op, PyObject* how) {
  auto state = std::make_unique<State>();
  state->kernel = kernel;
  state->op = op;
  state->in_place = std::string_view(strew_op_text(op)).find(" init=in_place") != std::string_view::npos;
  for (size_t i = 0; i < strew_op_slot_count(op); ++i) {
    strew_slot slot = STREW_SLOT_INIT;
    if (const strew_status status = strew_op_slot(op, i, &slot)) return raise(status);
    state->slots.push_back({slot, ""});
    state->results += slot.role == STREW_RESULT ? 1 : 0;
  }
  for (Slot& each : state->slots) each.name = argument_name(each.slot.name, state->slots);
  PyObject* const self = kernel_type->tp_alloc(kernel_type, 0);
  if (self == nullptr) return nullptr;
  auto* const made = reinterpret_cast<KernelObject*>(self);
  made->call = call;
  made->state = state.release();
  made->how = Py_NewRef(how);
  return self;
}

}  // namespace strew::python
