// A call reads the arrays, looks its kernel up by their dtypes, dims and strides in the site of the process, and runs it; only a miss builds an op.
// A Function is called in one of two ways. Called as an object it is quick and never explains: what it cannot do as it stands, such as adding lists or
// updates of another dtype, it answers with NotImplemented, and nothing is written. Function.run() raises what is wrong.
//
// Tensors: `out`, then the inputs in binding order; the rows of a look-up come last. `out` None makes a new array, of the dims and dtype that the op gives its result. Tested by
// tests/python/numpy_test.py and arrays_test.py.
#include "bindings/python/native/function.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/python/native/arrays.h"
#include "bindings/python/native/calls.h"
#include "bindings/python/native/errors.h"
#include "strew/strew.h"

namespace strew::python {
namespace {

/// The forms of strew/forms.h that Python's functions need. Extra inputs follow the others.
enum class Form : uint8_t {
  scatter_rows,
  scatter_elements,
  scatter_nd,
  scatter_at,
  tensor_scatter,
  sddmm,
  gather,
  gather_elements
};
constexpr const char* kForms[] = {"scatter_rows", "scatter_elements", "scatter_nd",     "scatter_at", "tensor_scatter",
                                  "sddmm",        "gather",           "gather_elements"};
bool is_gather(Form form) {
  switch (form) {
    case Form::gather:
    case Form::gather_elements:
      return true;
    case Form::scatter_rows:
    case Form::scatter_elements:
    case Form::scatter_nd:
    case Form::scatter_at:
    case Form::tensor_scatter:
    case Form::sddmm:
      return false;
  }
  return false;
}

/// What a scatter's result holds before the updates, as far as it says how many tensors there are.
enum class Init : uint8_t { copy, in_place, fill };

/// A second pair of a scatter: the array for its result is then the first input, and its updates come after the others. Only run() takes these.
enum class Second : uint8_t {
  none,
  arg,    ///< the positions that won (strew_op_builder_return_arg); the updates are their numbers
  other,  ///< what the field "expr" makes; in place
};
constexpr const char* kSeconds[] = {"", "arg", "other"};

struct Field {
  std::string key, value;
};

/// The type of a result that was made before: that of a new one for inputs of the same types.
struct ResultType {
  uint8_t dtype = 0;
  std::vector<int64_t> dims;
};

/// The order in which the products of sddmm are added.
constexpr int32_t kSddmmLanes = 8;

/// What does not change after the object is made, but for `results`.
struct Definition {
  Form form = Form::scatter_rows;
  Init init = Init::copy;
  int64_t axis = 0;
  bool circular = false;
  bool same_dtype = false;  ///< called as an object, it takes updates of the result's dtype only
  bool broadcasts = false;  ///< of scatter_rows and scatter_elements: updates are broadcast to the dims that the form gives them
  bool flat = false;        ///< called as an object, it takes operands of one dim only
  bool along = false;       ///< called as an object, it takes indices with the operand's dims, but for the axis
  std::string fill;         ///< init fill or a policy that fills: the value without its dtype
  std::vector<Field> fields;
  std::vector<std::string> extras;  ///< kinds
  size_t index_tensors = 1;         ///< of scatter_at; those after the first are the last inputs
  Second second = Second::none;
  std::string look_up;  ///< not empty: updates are rows of a table, which the last input has the numbers of; the policy for these
  uint64_t variant = 0;
  std::map<std::string, ResultType, std::less<>> results;  ///< by Key
  std::string last_key;
  ResultType last_result;
  std::unordered_map<std::string, strew_kernel_ref*> kernels;  ///< of run_many

  Definition() = default;
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;
  ~Definition() {
    for (const auto& each : kernels) strew_kernel_release(each.second);
  }

  bool takes_operand() const { return is_gather(form) || init == Init::copy; }
  size_t first_indices() const { return takes_operand() || second != Second::none ? 1 : 0; }
  size_t first_extra() const { return first_indices() + 1 + (is_gather(form) ? 0U : 1U) + (second != Second::none ? 1U : 0U); }
  size_t first_index() const { return first_extra() + extras.size(); }  ///< of the further index tensors
  /// Of sddmm: indices without elements, two tables, and ids for each.
  size_t inputs() const { return form == Form::sddmm ? 5 : first_index() + index_tensors - 1 + (look_up.empty() ? 0U : 1U); }
};

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  Definition* definition;
};

constexpr size_t kMostInputs = 8;

/// The arrays of one call: the result first.
struct Arrays {
  std::array<Array, kMostInputs + 1> all;
  size_t count = 0;

  Array& result() { return all[0]; }
  Array& input(size_t number) { return all[number + 1]; }
};

/// The roles of a call's tensors.
const strew_tensor& operand_of(const Definition& what, Arrays& arrays) {
  return (what.takes_operand() ? arrays.input(0) : arrays.result()).tensor;
}
Array& indices_of(const Definition& what, Arrays& arrays) { return arrays.input(what.first_indices()); }
Array& updates_of(const Definition& what, Arrays& arrays) { return arrays.input(what.first_indices() + 1); }

/// An op may not take a row of a table that has none, so only the call says how many rows there are.
class OpenRows {
 public:
  explicit OpenRows(const strew_tensor& table) : open_(table) {
    std::copy_n(table.dims, table.rank, extents_.data());
    if (table.rank > 0) extents_[0] = STREW_OPEN;
    open_.dims = extents_.data();
  }
  OpenRows(const OpenRows&) = delete;
  OpenRows& operator=(const OpenRows&) = delete;
  const strew_tensor* get() const { return &open_; }

 private:
  std::array<int64_t, kMaxRank> extents_;
  strew_tensor open_;
};

strew_status sddmm_of(Arrays& arrays, strew_op_builder** out) {
  const OpenRows lhs(arrays.input(1).tensor), rhs(arrays.input(2).tensor);
  return strew_op_builder_sddmm(lhs.get(), &arrays.input(3).tensor, rhs.get(), &arrays.input(4).tensor, kSddmmLanes, out);
}

strew_status builder_of(const Definition& what, Arrays& arrays, const strew_tensor& operand, const strew_tensor& updates,
                        strew_op_builder** out) {
  const strew_tensor& indices = indices_of(what, arrays).tensor;
  switch (what.form) {
    case Form::scatter_at: {
      std::vector<strew_tensor> all = {indices};
      for (size_t k = 1; k < what.index_tensors; ++k) all.push_back(arrays.input(what.first_index() + k - 1).tensor);
      return strew_op_builder_scatter_at(&operand, all.data(), all.size(), &updates, out);
    }
    case Form::scatter_rows:
      return strew_op_builder_scatter_rows(&operand, &indices, &updates, out);
    case Form::scatter_elements:
      return strew_op_builder_scatter_elements(&operand, &indices, &updates, what.axis, out);
    case Form::gather_elements:
      return strew_op_builder_gather_elements(&operand, &indices, what.axis, out);
    case Form::scatter_nd:
      return strew_op_builder_scatter_nd(&operand, &indices, &updates, out);
    case Form::gather:
      return strew_op_builder_gather(&operand, &indices, what.axis, 0, out);
    case Form::tensor_scatter:
      return strew_op_builder_tensor_scatter(&operand, &indices, &updates, what.axis, what.circular ? 1 : 0, out);
    case Form::sddmm:
      return sddmm_of(arrays, out);
  }
  return nullptr;
}

using OwnedBuilder = std::unique_ptr<strew_op_builder, void (*)(strew_op_builder*)>;

/// Makes the scatter's builder, for updates that are the rows of `table` with these numbers.
strew_status look_up(const Definition& what, Arrays& arrays, const strew_tensor& operand, const strew_tensor& table,
                     strew_op_builder** out) {
  const strew_tensor& rows = arrays.input(what.inputs() - 1).tensor;
  const OpenRows open(table);
  strew_op_builder* made = nullptr;
  strew_status status = strew_op_builder_gather_rows(open.get(), &rows, &made);
  const OwnedBuilder gather(made, strew_op_builder_free);
  if (status == nullptr) status = strew_op_builder_set(made, "oob", what.look_up.c_str());
  if (status != nullptr) return status;
  std::array<int64_t, size_t{2} * kMaxRank> dims;
  int64_t* end = std::copy_n(rows.dims, rows.rank, dims.data());
  if (table.rank > 0) end = std::copy_n(table.dims + 1, table.rank - 1, end);
  strew_tensor updates{};
  updates.dims = dims.data();
  updates.rank = static_cast<int32_t>(end - dims.data());
  updates.dtype = table.dtype;
  status = builder_of(what, arrays, operand, updates, out);
  return status == nullptr ? strew_op_builder_look_up(*out, STREW_UPDATES, 0, made) : status;
}

/// Builds the op of these tensors. Without a result, the op derives its type.
strew_status build(const Definition& what, Arrays& arrays, bool has_result, strew_op** out) {
  const strew_tensor& operand = operand_of(what, arrays);
  const strew_tensor& updates = (is_gather(what.form) ? indices_of(what, arrays) : updates_of(what, arrays)).tensor;
  strew_op_builder* made = nullptr;
  strew_status status =
      what.look_up.empty() ? builder_of(what, arrays, operand, updates, &made) : look_up(what, arrays, operand, updates, &made);
  const OwnedBuilder builder(made, strew_op_builder_free);
  if (status == nullptr && what.second == Second::other) {
    status = strew_op_builder_tensor(made, STREW_OPERAND, &arrays.input(0).tensor);
    if (status == nullptr) status = strew_op_builder_tensor(made, STREW_UPDATES, &arrays.input(what.first_extra() - 1).tensor);
  }
  for (const Field& field : what.fields)
    if (status == nullptr) status = strew_op_builder_set(made, field.key.c_str(), field.value.c_str());
  if (status == nullptr && what.init == Init::fill) status = strew_op_builder_set(made, "init", "fill");
  if (status == nullptr && !what.fill.empty()) {
    const std::string value = what.fill + ":" + strew_dtype_name(static_cast<strew_dtype>(operand.dtype));
    status = strew_op_builder_set(made, "fill", value.c_str());
  }
  for (size_t i = 0; i < what.extras.size() && status == nullptr; ++i)
    status = strew_op_builder_extra(made, what.extras[i].c_str(), &arrays.input(what.first_extra() + i).tensor);
  if (status == nullptr && has_result && what.init != Init::in_place && what.form != Form::sddmm)
    status = strew_op_builder_tensor(made, STREW_RESULT, &arrays.result().tensor);
  if (status == nullptr && what.second == Second::arg) status = strew_op_builder_return_arg(made);
  if (status == nullptr) status = strew_op_builder_build(made, out);
  return status;
}

/// What a site calls when it has no kernel: from here on, the call lets other Python threads run.
struct Miss {
  const Definition* what;
  Arrays* arrays;
  Unlocked* unlocked;
};
strew_status make_op(void* context, strew_op** out) {
  const Miss& miss = *static_cast<Miss*>(context);
  miss.unlocked->begin();
  return build(*miss.what, *miss.arrays, true, out);
}

/// The site of the process, for all functions: each has a variant of its own. It is never destroyed, as the runtime of the process is not.
strew_site* site() {
  static strew_site* const made = [] {
    strew_site* out = nullptr;
    strew_status_free(strew_site_create(strew_runtime_process(), &out));
    return out;
  }();
  return made;
}

strew_status run(const Definition& what, Arrays& arrays, strew_bad_index& bad_index) {
  std::array<strew_tensor, kMostInputs + 1> tensors;
  for (size_t i = 0; i < arrays.count; ++i) tensors[i] = arrays.all[i].tensor;
  Unlocked unlocked;
  Miss miss{&what, &arrays, &unlocked};
  const strew_call_options options = options_of_call(bad_index);
  const strew_request request = request_of_functions();
  if (!is_quick({&arrays.input(0), arrays.count - 1})) unlocked.begin();
  return strew_site_run_tensors(site(), tensors.data(), arrays.count, make_op, &miss, what.variant, &request, &options);
}

/// The dims of the updates: as NumPy says, those of operand[indices]; along an axis, those of the indices.
bool broadcast_updates(const Definition& what, Arrays& arrays) {
  const strew_tensor& operand = operand_of(what, arrays);
  const strew_tensor& indices = indices_of(what, arrays).tensor;
  std::array<int64_t, kMaxRank> dims;
  if (what.form == Form::scatter_elements) return updates_of(what, arrays).broadcast(indices.dims, indices.rank);
  if (operand.rank == 0 || indices.rank + operand.rank - 1 > kMaxRank) return false;
  int rank = 0;
  for (int d = 0; d < indices.rank; ++d) dims[static_cast<size_t>(rank++)] = indices.dims[d];
  for (int d = 1; d < operand.rank; ++d) dims[static_cast<size_t>(rank++)] = operand.dims[d];
  Array& updates = updates_of(what, arrays);
  if (updates.tensor.rank == rank && std::equal(dims.begin(), dims.begin() + rank, updates.tensor.dims)) return true;
  return updates.broadcast(dims.data(), rank);
}

/// The inputs' dtypes and dims in a row of numbers.
class Key {
 public:
  explicit Key(const Arrays& arrays) {
    for (size_t i = 1; i < arrays.count; ++i) {
      const strew_tensor& each = arrays.all[i].tensor;
      if (count_ + static_cast<size_t>(each.rank) + 1 > numbers_.size()) {
        count_ = 0;
        return;
      }
      numbers_[count_++] = int64_t{each.dtype} << 8 | each.rank;
      std::copy(each.dims, each.dims + each.rank, numbers_.begin() + static_cast<std::ptrdiff_t>(count_));
      count_ += static_cast<size_t>(each.rank);
    }
  }
  bool fits() const { return count_ != 0; }
  /// Tensors of few dims only have a key.
  std::string_view text() const { return {reinterpret_cast<const char*>(numbers_.data()), count_ * sizeof numbers_[0]}; }

 private:
  std::array<int64_t, 32> numbers_;
  size_t count_ = 0;
};

/// The type that the op gives its result, which is the only place that knows. Null with a status.
const ResultType* result_type(Definition& what, Arrays& arrays, strew_status& status) {
  const Key key(arrays);
  if (key.fits() && key.text() == what.last_key) return &what.last_result;
  const auto found = key.fits() ? what.results.find(key.text()) : what.results.end();
  if (found == what.results.end()) {
    strew_op* op = nullptr;
    status = build(what, arrays, false, &op);
    const std::unique_ptr<strew_op, void (*)(strew_op*)> owned(op, strew_op_free);
    strew_slot slot = STREW_SLOT_INIT;
    if (status == nullptr) status = strew_op_slot(op, 0, &slot);
    if (status != nullptr) return nullptr;
    constexpr size_t kMost = 4096;
    if (what.results.size() >= kMost) what.results.clear();
    what.last_result = {slot.dtype, {slot.dims, slot.dims + slot.rank}};
    if (key.fits()) what.results.emplace(key.text(), what.last_result);
  } else {
    what.last_result = found->second;
  }
  what.last_key = key.text();
  return &what.last_result;
}

/// How a call goes on after a step.
enum class Step : uint8_t { on, other_way, raised };

/// A step that failed with an exception: called as an object, a function leaves the explanation to the other way.
Step failed(bool explains) {
  if (explains) return Step::raised;
  PyErr_Clear();
  return Step::other_way;
}

Step read_inputs(const Definition& what, Arrays& arrays, PyObject* out, PyObject* const* inputs, bool explains) {
  static constexpr const char* kInputs[] = {"operand", "indices", "updates", "second updates"};
  const auto name_of = [&](size_t input, size_t role) {
    if (input < what.first_extra()) return kInputs[role];
    if (input < what.first_index()) return "extra";
    return input < what.first_index() + what.index_tensors - 1 ? "indices" : "rows";
  };
  const size_t first = 1 - what.first_indices();
  arrays.count = 1 + what.inputs();
  if (out != Py_None && !arrays.result().read_result(out, "out")) return failed(explains);
  for (size_t i = 0; i < what.inputs(); ++i) {
    const size_t role = first + i;
    if (what.second != Second::none && role == 0) {
      if (!arrays.input(i).read_result(inputs[i], "second result")) return failed(explains);
      continue;
    }
    if (!explains && host_of(inputs[i]) == Host::other) {
      // Lists of indices, and numbers that a scatter in place broadcasts, need no more than a conversion.
      const bool is_read =
          role == 1 ? PyList_CheckExact(inputs[i]) != 0 && arrays.input(i).read_list(inputs[i])
                    : role == 2 && what.broadcasts && arrays.input(i).read_number(inputs[i], arrays.result().tensor.dtype);
      if (!is_read) return Step::other_way;
      continue;
    }
    if (!arrays.input(i).read(inputs[i], name_of(i, role))) return failed(explains);
  }
  return Step::on;
}

/// Makes the result.
Step make_result(Definition& what, Arrays& arrays, PyObject* like, Ref& made, bool explains) {
  strew_status status = nullptr;
  const ResultType* const type = result_type(what, arrays, status);
  if (type == nullptr) {
    if (explains)
      raise(status);
    else
      strew_status_free(status);
    return explains ? Step::raised : Step::other_way;
  }
  made = arrays.input(0).new_like(like, type->dtype, type->dims.data(), static_cast<int>(type->dims.size()));
  if (!made || !arrays.result().read(made.get(), "result")) return Step::raised;
  return Step::on;
}

/// Whether the tensors are those that the function takes when it is called as an object.
bool takes(const Definition& what, Arrays& arrays) {
  const strew_tensor& operand = operand_of(what, arrays);
  const strew_tensor& indices = indices_of(what, arrays).tensor;
  if (indices.dtype == STREW_BOOL || (what.flat && operand.rank != 1)) return false;
  if (what.same_dtype && updates_of(what, arrays).tensor.dtype != operand.dtype) return false;
  if (!what.along) return true;
  const int64_t axis = what.axis < 0 ? what.axis + operand.rank : what.axis;
  if (operand.rank != indices.rank || axis < 0 || axis >= operand.rank) return false;
  for (int32_t d = 0; d < operand.rank; ++d)
    if (d != axis && operand.dims[d] != indices.dims[d]) return false;
  return true;
}

Step call(Definition& what, PyObject* out, PyObject* const* inputs, bool explains, Ref& answer) {
  Arrays arrays;
  if (const Step step = read_inputs(what, arrays, out, inputs, explains); step != Step::on) return step;
  if (out == Py_None && !what.takes_operand()) {
    PyErr_SetString(PyExc_TypeError, "out: None, expected the array to write into");
    return Step::raised;
  }
  if (!explains && !takes(what, arrays)) return Step::other_way;
  if (what.broadcasts && !broadcast_updates(what, arrays)) {
    PyErr_SetString(PyExc_ValueError, "updates: these dims cannot be broadcast to those of operand[indices]");
    return failed(explains);
  }
  Ref made;
  if (out == Py_None) {
    if (const Step step = make_result(what, arrays, inputs[0], made, explains); step != Step::on) return step;
  }
  strew_bad_index bad_index = STREW_BAD_INDEX_INIT;
  if (const strew_status status = run(what, arrays, bad_index)) {
    const strew_code code = strew_status_code(status);
    if (!explains && (code == STREW_CODE_INVALID_ARGUMENT || code == STREW_CODE_UNSUPPORTED)) {
      strew_status_free(status);
      return Step::other_way;
    }
    raise(status, &bad_index);
    return Step::raised;
  }
  if (out == Py_None) {
    answer = as_host(std::move(made), arrays.input(0).host);
    return answer ? Step::on : Step::raised;
  }
  if (!was_written(out, arrays.result().host)) return Step::raised;
  answer = Ref::borrowed(out);
  return Step::on;
}

bool count_is_right(const Definition& what, Py_ssize_t count, PyObject* names) {
  if (names == nullptr && count == static_cast<Py_ssize_t>(what.inputs()) + 1) return true;
  PyErr_Format(PyExc_TypeError, "expected out and %zu inputs, positional, got %zd arguments", what.inputs(), count);
  return false;
}

PyObject* call_quickly(PyObject* self, PyObject* const* arguments, size_t flags, PyObject* names) {
  Definition& what = *reinterpret_cast<FunctionObject*>(self)->definition;
  if (!count_is_right(what, PyVectorcall_NARGS(flags), names)) return nullptr;
  Ref answer;
  switch (call(what, arguments[0], arguments + 1, false, answer)) {
    case Step::on:
      return answer.release();
    case Step::other_way:
      return Py_NewRef(Py_NotImplemented);
    case Step::raised:
      break;
  }
  return nullptr;
}

PyObject* call_and_explain(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Definition& what = *reinterpret_cast<FunctionObject*>(self)->definition;
  if (!count_is_right(what, count, nullptr)) return nullptr;
  Ref answer;
  return call(what, arguments[0], arguments + 1, true, answer) == Step::on ? answer.release() : nullptr;
}

/// The kernel for these tensors; made once. Null with a status.
strew_kernel_ref* kernel_of(Definition& what, Arrays& arrays, strew_status& status) {
  std::string key;
  for (size_t i = 0; i < arrays.count; ++i) {
    const strew_tensor& each = arrays.all[i].tensor;
    const auto bytes = static_cast<size_t>(each.rank) * sizeof(int64_t);
    key.push_back(static_cast<char>(each.dtype));
    key.push_back(static_cast<char>(each.strides != nullptr ? -1 - each.rank : each.rank));
    if (bytes != 0) key.append(reinterpret_cast<const char*>(each.dims), bytes);
    if (bytes != 0 && each.strides != nullptr) key.append(reinterpret_cast<const char*>(each.strides), bytes);
  }
  const auto found = what.kernels.find(key);
  if (found != what.kernels.end()) return found->second;
  strew_op* op = nullptr;
  status = build(what, arrays, true, &op);
  const std::unique_ptr<strew_op, void (*)(strew_op*)> owned_op(op, strew_op_free);
  const strew_request request = request_of_functions();
  strew_kernel_ref* kernel = nullptr;
  if (status == nullptr) {
    Unlocked unlocked;
    unlocked.begin();
    strew_prepared* prepared = nullptr;
    status = strew_prepare(op, &request, &prepared);
    const std::unique_ptr<strew_prepared, void (*)(strew_prepared*)> owned(prepared, strew_prepared_free);
    if (status == nullptr) status = strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel);
  }
  if (status != nullptr) return nullptr;
  const auto [at, is_new] = what.kernels.emplace(std::move(key), kernel);
  if (!is_new) strew_kernel_release(kernel);  // another thread was faster
  return at->second;
}

/// The items of a list or tuple of arrays, which may change while a kernel runs.
struct Items {
  explicit Items(PyObject* given) : tuple(PySequence_Tuple(given)) {}
  size_t count() const { return tuple ? static_cast<size_t>(PyTuple_GET_SIZE(tuple.get())) : 0; }
  PyObject* at(size_t i) const { return PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i)); }
  Ref tuple;
};

bool same_type(const strew_tensor& a, const strew_tensor& b) {
  if (a.dtype != b.dtype || a.rank != b.rank || (a.strides == nullptr) != (b.strides == nullptr)) return false;
  return std::equal(a.dims, a.dims + a.rank, b.dims) &&
         (a.strides == nullptr || std::equal(a.strides, a.strides + a.rank, b.strides));
}

/// run_many(results, indices, updates): calls in place that share their indices, as one. False if it takes another way to run them: arrays of
/// another type than the first, or no arrays.
PyObject* call_many(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Definition& what = *reinterpret_cast<FunctionObject*>(self)->definition;
  if (count != 3 || what.inputs() != 2) return PyErr_Format(PyExc_TypeError, "expected results, indices and updates");
  const Items results(arguments[0]);
  const Items updates(arguments[2]);
  if (!results.tuple || !updates.tuple) return nullptr;
  const auto other_way = [] { return PyErr_Clear(), Py_NewRef(Py_False); };
  const size_t calls = results.count();
  if (calls != updates.count() || calls == 0) return other_way();
  const auto arrays = std::make_unique<Arrays[]>(calls);
  std::vector<void*> data;
  for (size_t c = 0; c < calls; ++c) {
    PyObject* const inputs[] = {arguments[1], updates.at(c)};
    if (read_inputs(what, arrays[c], results.at(c), inputs, false) != Step::on || !takes(what, arrays[c])) return other_way();
    for (size_t i = 0; i < arrays[c].count; ++i) {
      if (!same_type(arrays[c].all[i].tensor, arrays[0].all[i].tensor)) return other_way();
      data.push_back(arrays[c].all[i].tensor.data);
    }
  }
  strew_status status = nullptr;
  const strew_kernel_ref* const kernel = kernel_of(what, arrays[0], status);
  if (kernel == nullptr) return strew_status_free(status), other_way();
  strew_bad_index bad_index = STREW_BAD_INDEX_INIT;
  {
    const std::array<strew_tensor, 3> shapes = {arrays[0].all[0].tensor, arrays[0].all[1].tensor, arrays[0].all[2].tensor};
    const strew_call_options options = options_of_call(bad_index);
    Unlocked unlocked;
    unlocked.begin();
    status = strew_kernel_run_many(kernel, shapes.data(), shapes.size(), data.data(), calls, &options);
  }
  if (status != nullptr) return raise(status, &bad_index);
  for (size_t c = 0; c < calls; ++c)
    if (!was_written(results.at(c), arrays[c].result().host)) return nullptr;
  return Py_NewRef(Py_True);
}

template <size_t N>
int number_of(const char* text, const char* const (&names)[N]) {
  for (size_t i = 0; i < N; ++i)
    if (std::strcmp(text, names[i]) == 0) return static_cast<int>(i);
  return -1;
}

bool read_fields(PyObject* dict, Definition& what) {
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &key, &value) != 0) {
    const char* const name = PyUnicode_AsUTF8(key);
    const char* const text = name != nullptr ? PyUnicode_AsUTF8(value) : nullptr;
    if (text == nullptr) return false;
    what.fields.push_back({name, text});
    if (what.fields.back().key == "init") what.init = what.fields.back().value == "in_place" ? Init::in_place : Init::copy;
  }
  return true;
}

/// Function(form, fields, *, axis, circular, fill, extras, same_dtype, broadcasts, flat, along, look_up, index_tensors, second)
PyObject* make(PyTypeObject* type, PyObject* positional, PyObject* named) {
  static const char* const kNames[] = {"form",       "fields", "axis",  "circular", "fill",          "extras", "same_dtype",
                                       "broadcasts", "flat",   "along", "look_up",  "index_tensors", "second", nullptr};
  const char *form = nullptr, *fill = "", *look_up = "", *second = "";
  PyObject *fields = nullptr, *extras = nullptr;
  long long axis = 0;
  Py_ssize_t index_tensors = 1;
  int circular = 0, same_dtype = 0, broadcasts = 0, flat = 0, along = 0;
  if (PyArg_ParseTupleAndKeywords(positional, named, "sO!|$LpsO!ppppsns", const_cast<char**>(kNames), &form, &PyDict_Type,
                                  &fields, &axis, &circular, &fill, &PyTuple_Type, &extras, &same_dtype, &broadcasts, &flat,
                                  &along, &look_up, &index_tensors, &second) == 0)
    return nullptr;
  const int number = number_of(form, kForms);
  if (number < 0) return PyErr_Format(PyExc_ValueError, "form: '%s', expected one of those of strew/forms.h", form);
  auto what = std::make_unique<Definition>();
  what->form = static_cast<Form>(number);
  what->axis = axis;
  what->circular = circular != 0;
  what->fill = fill;
  what->same_dtype = same_dtype != 0;
  what->broadcasts = broadcasts != 0;
  what->flat = flat != 0;
  what->along = along != 0;
  what->look_up = look_up;
  if (index_tensors < 1 || (index_tensors > 1 && what->form != Form::scatter_at))
    return PyErr_Format(PyExc_ValueError, "index_tensors: %zd, expected 1, or more for form 'scatter_at'", index_tensors);
  what->index_tensors = static_cast<size_t>(index_tensors);
  if (!what->look_up.empty() && is_gather(what->form))
    return PyErr_Format(PyExc_ValueError, "look_up: '%s', expected none for form '%s', which has no updates", look_up, form);
  if (!read_fields(fields, *what)) return nullptr;
  if ((!what->fill.empty() && !is_gather(what->form)) || what->form == Form::sddmm) what->init = Init::fill;
  const int wanted = number_of(second, kSeconds);
  if (wanted < 0) return PyErr_Format(PyExc_ValueError, "second: '%s', expected '', 'arg' or 'other'", second);
  what->second = static_cast<Second>(wanted);
  if (what->second != Second::none && (is_gather(what->form) || what->init == Init::copy))
    return PyErr_Format(PyExc_ValueError, "second: '%s', expected '' for form '%s' unless it fills or is in place", second, form);
  for (Py_ssize_t i = 0; extras != nullptr && i < PyTuple_GET_SIZE(extras); ++i) {
    const char* const kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(extras, i));
    if (kind == nullptr) return nullptr;
    what->extras.emplace_back(kind);
  }
  if (what->inputs() > kMostInputs) return PyErr_Format(PyExc_ValueError, "extras: more than %zu inputs", kMostInputs);
  static uint64_t variants = 0;
  what->variant = ++variants;
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  reinterpret_cast<FunctionObject*>(self)->call = call_quickly;
  reinterpret_cast<FunctionObject*>(self)->definition = what.release();
  return self;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete reinterpret_cast<FunctionObject*>(self)->definition;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_and_explain)), METH_FASTCALL,
     "run($self, out, /, *inputs)\n--\n\nCalls the function, and raises what is wrong with the arguments."},
    {"run_many", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_many)), METH_FASTCALL,
     "run_many($self, results, indices, updates, /)\n--\n\nCalls in place that share their indices, as one job. False "
     "if they have to run one by one."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("An operation of one form with its fields set, on arrays of any shape. Returns out, the new "
                                  "array, or NotImplemented.")},
    {0, nullptr}};
PyType_Spec spec = {"strew._native.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

bool add_function_type(PyObject* module) {
  const Ref type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "Function", type.get()) == 0;
}

}  // namespace strew::python
