// Reading arrays, making and finishing results. What an object is follows from its type, which is looked at once.
// Tested by tests/python/arrays_test.py.
#include "bindings/python/native/arrays.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "bindings/python/native/dtypes.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/numpy.h"

namespace strew::python {
namespace {

/// DLPackExchangeAPI of DLPack 1.3 (dlpack.h): what a type's capsule __dlpack_c_exchange_api__ holds.
struct ExchangeApi {
  uint32_t major, minor;
  const ExchangeApi* previous;
  int (*allocate)(dlpack::Tensor* prototype, dlpack::Managed** out, void* context, void (*fail)(void*, const char*, const char*));
  int (*managed_from)(void* object, dlpack::Managed** out);
  int (*to_object)(dlpack::Managed* tensor, void** out);
  int (*tensor_from)(void* object, dlpack::Tensor* out);  ///< borrows
  int (*stream)(int32_t device_type, int32_t device, void** out);
};

struct KnownType {
  Host host = Host::other;
  const ExchangeApi* exchange = nullptr;
};

/// The table of a type's that has the functions of major version 1; null, without an exception, if there is none.
const ExchangeApi* exchange_of(PyTypeObject* type) {
  const Ref capsule(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
  const void* found = nullptr;
  if (capsule && PyCapsule_CheckExact(capsule.get())) found = PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api");
  PyErr_Clear();
  const auto* api = static_cast<const ExchangeApi*>(found);
  while (api != nullptr && api->major != dlpack::kMajor) api = api->previous;
  return api != nullptr && api->tensor_from != nullptr ? api : nullptr;
}

/// Whether the type, or one that it derives from, is the class `name` of a module that begins with `package`.
bool derives_from(PyTypeObject* type, std::string_view package, std::string_view name) {
  PyObject* const order = type->tp_mro;
  for (Py_ssize_t i = 0; order != nullptr && i < PyTuple_GET_SIZE(order); ++i) {
    PyObject* const each = PyTuple_GET_ITEM(order, i);
    const Ref module(PyObject_GetAttrString(each, "__module__"));
    const char* const text = module && PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : nullptr;
    PyErr_Clear();
    const std::string_view own = reinterpret_cast<PyTypeObject*>(each)->tp_name;
    const std::string_view last = own.substr(own.rfind('.') + 1);
    if (text != nullptr && std::string_view(text).substr(0, package.size()) == package && last == name) return true;
  }
  return false;
}

KnownType look_at(PyTypeObject* type) {
  if (derives_from(type, "numpy", "ndarray")) return {Host::numpy, nullptr};
  if (derives_from(type, "torch", "Tensor")) return {Host::torch, exchange_of(type)};
  if (derives_from(type, "jax", "ArrayImpl")) return {Host::jax, nullptr};
  return {Host::other, exchange_of(type)};
}

/// What is known of the type. The table keeps a type, so that no other one gets its address.
KnownType known(PyTypeObject* type) {
  static auto& table = *new std::unordered_map<PyTypeObject*, KnownType>();
  static PyTypeObject* last_type = nullptr;
  static KnownType last;
  if (type == last_type) return last;
  auto found = table.find(type);
  if (found == table.end()) {
    constexpr size_t kMost = 1000;  // programs make classes while they run
    const KnownType looked_at = look_at(type);
    if (table.size() >= kMost) return looked_at;
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    found = table.emplace(type, looked_at).first;
  }
  last_type = type;
  return last = found->second;
}

bool fail(PyObject* exception, const char* what, const std::string& message) {
  PyErr_SetString(exception, (std::string(what) + ": " + message).c_str());
  return false;
}

/// Puts `what` before the message of the exception that is set, and makes it one of this class.
bool prefix_exception(PyObject* exception, const char* what) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Ref text(value != nullptr ? PyObject_Str(value) : nullptr);
  const char* const message = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  fail(exception, what, message != nullptr ? message : "no array that strew can read");
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return false;
}

/// The dtype of an element as the buffer protocol writes it; -1 if strew has none.
int dtype_of_format(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return STREW_U8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  if (format[0] == '\0' || format[1] != '\0') return -1;
  const auto of_size = [bytes](int one, int two, int four, int eight) {
    return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : bytes == 8 ? eight : -1;
  };
  if (is_complex) return *format == 'f' ? STREW_COMPLEX64 : *format == 'd' ? STREW_COMPLEX128 : -1;
  if (*format == '?') return STREW_BOOL;
  if (*format == 'e') return STREW_F16;
  if (*format == 'f') return STREW_F32;
  if (*format == 'd') return STREW_F64;
  if (std::strchr("bhilqn", *format) != nullptr) return of_size(STREW_I8, STREW_I16, STREW_I32, STREW_I64);
  if (std::strchr("BHILQN", *format) != nullptr) return of_size(STREW_U8, STREW_U16, STREW_U32, STREW_U64);
  return -1;
}

/// The dtype whose name the object's dtype.name is; -1 if strew has none.
int dtype_by_name(PyObject* object, std::string* name = nullptr) {
  const Ref dtype(PyObject_GetAttrString(object, "dtype"));
  const Ref text(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  const char* const characters = text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8(text.get()) : nullptr;
  PyErr_Clear();
  if (characters == nullptr) return -1;
  if (name != nullptr) *name = characters;
  const DTypeNames* const found = dtype_named(characters);
  return found != nullptr ? found->dtype : -1;
}

/// A tuple of integers. False with an exception.
bool read_numbers(PyObject* tuple, std::array<int64_t, kMaxRank>& out, int32_t& count) {
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > kMaxRank) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple of at most 64 integers");
    return false;
  }
  count = static_cast<int32_t>(PyTuple_GET_SIZE(tuple));
  for (int32_t i = 0; i < count; ++i) {
    out[static_cast<size_t>(i)] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    if (out[static_cast<size_t>(i)] == -1 && PyErr_Occurred() != nullptr) return false;
  }
  return true;
}

/// An attribute of a module that lives as long as the process. Null with an exception.
PyObject* of_module(const char* module, const char* name) {
  const Ref imported(PyImport_ImportModule(module));
  return imported ? PyObject_GetAttrString(imported.get(), name) : nullptr;
}

}  // namespace

Host host_of(PyObject* object) { return known(Py_TYPE(object)).host; }

bool Array::read(PyObject* object, const char* what) {
  if (!read_any(object, what)) return false;
  return is_aligned() || fail(PyExc_ValueError, what, "the elements are not aligned; pass a copy (array.copy())");
}

bool Array::read_any(PyObject* object, const char* what) {
  const KnownType type = known(Py_TYPE(object));
  host = type.host;
  if (type.exchange != nullptr) return read_exchange(object, type.exchange, what);
  if (type.host == Host::numpy && read_numpy(object, what)) return true;
  if (PyErr_Occurred() != nullptr) return false;
  if (read_buffer(object, what)) return true;
  if (PyErr_Occurred() != nullptr) return false;
  if (type.host == Host::numpy) return read_interface(object, what);
  if (PyObject_HasAttrString(object, "__dlpack__") != 0) return read_capsule(object, what);
  if (PyObject_HasAttrString(object, "__array_interface__") != 0) return read_interface(object, what);
  return fail(PyExc_TypeError, what,
              std::string("a ") + Py_TYPE(object)->tp_name +
                  ", expected an array: of NumPy, PyTorch or JAX, or with the buffer protocol or __dlpack__");
}

bool Array::read_result(PyObject* object, const char* what) {
  const Host of = host_of(object);
  if (of == Host::jax)
    return fail(PyExc_ValueError, what, "a jax array, which never changes; use the function that returns a new array");
  if (of == Host::torch) {
    static PyObject* const name = PyUnicode_InternFromString("requires_grad");
    const Ref requires_grad(PyObject_GetAttr(object, name));
    if (!requires_grad) return false;
    if (requires_grad.get() == Py_True)
      return fail(
          PyExc_ValueError, what,
          "a tensor that requires grad, and autograd would not see the write; write into tensor.detach() if that is meant");
  }
  if (!read(object, what)) return false;
  if (tensor.read_only != 0) return fail(PyExc_ValueError, what, "the array is read-only");
  return true;
}

/// Reads strides in bytes. Elements of an array whose strides are no multiples of their size cannot be a tensor's.
bool Array::take_strides(const int64_t* bytes, const char* what) {
  const int64_t size = strew_dtype_bits(static_cast<strew_dtype>(tensor.dtype)) / 8;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    if (bytes[d] % size != 0 && tensor.dims[d] > 1)
      return fail(PyExc_ValueError, what,
                  "stride " + std::to_string(d) + " is " + std::to_string(bytes[d]) +
                      " bytes, expected a multiple of the element's " + std::to_string(size) +
                      "; pass a copy (numpy.ascontiguousarray)");
    strides_[static_cast<size_t>(d)] = bytes[d] / size;
  }
  tensor.strides = strides_.data();
  return true;
}

/// Counts the elements, and leaves out strides that say no more than "row-major": calls of such tensors share kernels.
void Array::finish() {
  elements = 1;
  bool is_plain = true;
  for (int32_t d = tensor.rank; d-- > 0;) {
    if (tensor.strides != nullptr && tensor.dims[d] != 1 && tensor.strides[d] != elements) is_plain = false;
    elements *= tensor.dims[d];
  }
  if (is_plain || elements == 0) tensor.strides = nullptr;
}

/// The address must be a multiple of the element's size, half of that for complex elements.
bool Array::is_aligned() const {
  const int bytes = strew_dtype_bits(static_cast<strew_dtype>(tensor.dtype)) / 8;
  const bool is_complex = tensor.dtype == STREW_COMPLEX64 || tensor.dtype == STREW_COMPLEX128;
  const auto needed = static_cast<uintptr_t>(is_complex ? bytes / 2 : bytes);
  return elements == 0 || (reinterpret_cast<uintptr_t>(tensor.data) & (needed - 1)) == 0;
}

/// False without an exception if the array has to be read otherwise.
bool Array::read_numpy(PyObject* object, const char* what) {
  NumpyArray array;
  if (!view_numpy(object, array) || array.rank > kMaxRank) return false;
  // Another thread may change the array's shape while the kernel runs, so that the dims are copied, as the strides are.
  std::copy(array.dims, array.dims + array.rank, dims_.begin());
  tensor = {
      array.data, dims_.data(), nullptr, array.rank, static_cast<uint8_t>(array.dtype), static_cast<uint8_t>(array.read_only),
      {}};
  if (!take_strides(array.byte_strides, what)) return false;
  finish();
  return true;
}

/// False without an exception if the object gives no buffer; false with one if its elements are not strew's.
bool Array::read_buffer(PyObject* object, const char* what) {
  if (PyObject_CheckBuffer(object) == 0) return false;
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  has_buffer_ = true;
  if (buffer_.suboffsets != nullptr) return fail(PyExc_ValueError, what, "a buffer with suboffsets, expected strides alone");
  const int dtype = dtype_of_format(buffer_.format, buffer_.itemsize);
  if (dtype < 0) {
    const char first = buffer_.format[0];
    if (first == '>' || first == '!')
      return fail(PyExc_ValueError, what,
                  "the elements are big-endian; pass a copy in native order (array.astype(array.dtype.newbyteorder('=')))");
    return fail(PyExc_TypeError, what, std::string("elements of format '") + buffer_.format + "', of which strew has no dtype");
  }
  if (buffer_.ndim > kMaxRank)
    return fail(PyExc_ValueError, what, "rank " + std::to_string(buffer_.ndim) + ", expected at most 64");
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  tensor = {buffer_.buf,
            reinterpret_cast<const int64_t*>(buffer_.shape),
            nullptr,
            buffer_.ndim,
            static_cast<uint8_t>(dtype),
            static_cast<uint8_t>(buffer_.readonly != 0),
            {}};
  if (buffer_.strides != nullptr && !take_strides(reinterpret_cast<const int64_t*>(buffer_.strides), what)) return false;
  finish();
  return true;
}

/// Arrays whose dtypes the buffer protocol cannot describe, such as those of ml_dtypes.
bool Array::read_interface(PyObject* object, const char* what) {
  std::string name = "?";
  const int dtype = dtype_by_name(object, &name);
  if (dtype < 0)
    return fail(PyExc_TypeError, what, "elements of dtype " + name + ", of which strew has none with the same layout");
  const Ref interface(PyObject_GetAttrString(object, "__array_interface__"));
  if (!interface || !PyDict_Check(interface.get())) return prefix_exception(PyExc_TypeError, what);
  PyObject* const data = PyDict_GetItemString(interface.get(), "data");
  PyObject* const shape = PyDict_GetItemString(interface.get(), "shape");
  PyObject* const strides = PyDict_GetItemString(interface.get(), "strides");
  if (data == nullptr || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2 || shape == nullptr)
    return fail(PyExc_TypeError, what, "__array_interface__ without an address or a shape");
  tensor = {PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)),
            dims_.data(),
            nullptr,
            0,
            static_cast<uint8_t>(dtype),
            static_cast<uint8_t>(PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) != 0),
            {}};
  if (PyErr_Occurred() != nullptr || !read_numbers(shape, dims_, tensor.rank)) return prefix_exception(PyExc_TypeError, what);
  if (strides != nullptr && strides != Py_None) {
    int32_t count = 0;
    std::array<int64_t, kMaxRank> bytes;
    if (!read_numbers(strides, bytes, count) || count != tensor.rank || !take_strides(bytes.data(), what))
      return prefix_exception(PyExc_ValueError, what);
  }
  finish();
  return true;
}

/// By the type's table of C functions for DLPack. The DLTensor borrows from the object.
bool Array::read_exchange(PyObject* object, const void* api, const char* what) {
  dlpack::Tensor borrowed{};
  if (static_cast<const ExchangeApi*>(api)->tensor_from(object, &borrowed) != 0) return prefix_exception(PyExc_ValueError, what);
  if (const strew_status status = strew_tensor_from_dltensor(&borrowed, &tensor)) {
    raise(status);
    return prefix_exception(PyExc_ValueError, what);
  }
  exchange_dtype_ = borrowed.dtype;
  if (tensor.data == nullptr) {
    finish();
    if (elements != 0) return fail(PyExc_ValueError, what, "a tensor without memory (fake or meta)");
  }
  finish();
  return true;
}

/// By __dlpack__(). What keeps the memory is the capsule.
bool Array::read_capsule(PyObject* object, const char* what) {
  kept_ = Ref(PyObject_CallMethod(object, "__dlpack__", nullptr));
  if (!kept_) return prefix_exception(PyExc_ValueError, what);
  strew_status status = nullptr;
  if (PyCapsule_IsValid(kept_.get(), "dltensor") != 0) {
    const auto* const managed = static_cast<const dlpack::Tensor*>(PyCapsule_GetPointer(kept_.get(), "dltensor"));
    status = strew_tensor_from_dltensor(managed, &tensor);  // the first member of a DLManagedTensor
    tensor.read_only = 1;                                   // it does not say, and JAX's must not be written
  } else if (PyCapsule_IsValid(kept_.get(), "dltensor_versioned") != 0) {
    status = strew_tensor_from_dlpack(
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(kept_.get(), "dltensor_versioned")), &tensor);
  } else {
    return fail(PyExc_TypeError, what, "__dlpack__() returned something else than a DLPack capsule");
  }
  if (status != nullptr) {
    raise(status);
    return prefix_exception(PyExc_ValueError, what);
  }
  finish();
  return true;
}

bool Array::read_list(PyObject* list) {
  static PyObject* const asarray = of_module("numpy", "asarray");
  if (asarray != nullptr) kept_ = Ref(PyObject_CallOneArg(asarray, list));
  if (kept_ && read_buffer(kept_.get(), "indices") && tensor.dtype == STREW_I64) return true;
  PyErr_Clear();
  return false;
}

bool Array::read_number(PyObject* number, int dtype) {
  const auto store = [&]<class T>(T value) {
    std::memcpy(number_.data(), &value, sizeof value);
    tensor = {number_.data(), nullptr, nullptr, 0, static_cast<uint8_t>(dtype), 1, {}};
    elements = 1;
    return true;
  };
  if (PyFloat_CheckExact(number) != 0) {
    const double value = PyFloat_AS_DOUBLE(number);
    if (dtype == STREW_F64) return store(value);
    return dtype == STREW_F32 && static_cast<double>(static_cast<float>(value)) == value && store(static_cast<float>(value));
  }
  if (PyLong_CheckExact(number) == 0) return false;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0) return false;
  const auto store_if_exact = [&]<class T>(T as) {
    constexpr long long kExactInFloats = 1 << 24;
    if (!std::is_integral_v<T>) return value >= -kExactInFloats && value <= kExactInFloats && store(as);
    return static_cast<long long>(as) == value && !(std::is_unsigned_v<T> && value < 0) && store(as);
  };
  switch (dtype) {
    case STREW_I8:
      return store_if_exact(static_cast<int8_t>(value));
    case STREW_U8:
      return store_if_exact(static_cast<uint8_t>(value));
    case STREW_I16:
      return store_if_exact(static_cast<int16_t>(value));
    case STREW_U16:
      return store_if_exact(static_cast<uint16_t>(value));
    case STREW_I32:
      return store_if_exact(static_cast<int32_t>(value));
    case STREW_U32:
      return store_if_exact(static_cast<uint32_t>(value));
    case STREW_I64:
      return store_if_exact(static_cast<int64_t>(value));
    case STREW_U64:
      return store_if_exact(static_cast<uint64_t>(value));
    case STREW_F32:
      return store_if_exact(static_cast<float>(value));
    case STREW_F64:
      return store_if_exact(static_cast<double>(value));
    default:
      return false;  // the others are left to NumPy
  }
}

bool Array::broadcast(const int64_t* dims, int rank) {
  if (rank < tensor.rank || rank > kMaxRank) return false;
  const int added = rank - tensor.rank;
  std::array<int64_t, kMaxRank> strides;
  int64_t stride = 1;
  for (int d = tensor.rank; d-- > 0;) {
    const int64_t own = tensor.dims[d];
    const int to = added + d;
    if (own != dims[to] && own != 1) return false;
    strides[static_cast<size_t>(to)] = own == 1 ? 0 : tensor.strides != nullptr ? tensor.strides[d] : stride;
    stride *= own;
  }
  for (int d = 0; d < added; ++d) strides[static_cast<size_t>(d)] = 0;
  std::copy(dims, dims + rank, dims_.begin());
  std::copy(strides.begin(), strides.begin() + rank, strides_.begin());
  tensor.dims = dims_.data();
  tensor.strides = strides_.data();
  tensor.rank = rank;
  finish();
  return true;
}

namespace {

/// By torch.empty or numpy.empty, which cost more than the arrays' own functions, but make all dtypes.
Ref new_by_empty(bool is_torch, PyObject* dtype, const int64_t* dims, int rank) {
  const Ref shape(PyTuple_New(rank));
  if (!shape) return {};
  for (int d = 0; d < rank; ++d) {
    PyObject* const extent = PyLong_FromLongLong(dims[d]);
    if (extent == nullptr) return {};
    PyTuple_SET_ITEM(shape.get(), d, extent);
  }
  const Ref empty(of_module(is_torch ? "torch" : "numpy", "empty"));
  if (!empty) return {};
  PyObject* const arguments[] = {shape.get(), dtype};
  static PyObject* const names = Py_BuildValue("(s)", "dtype");
  return Ref(PyObject_Vectorcall(empty.get(), arguments, 1, names));
}

/// The dtype object of the host that has strew's dtype. Null with an exception.
Ref dtype_object(bool is_torch, int dtype) {
  const DTypeNames* const names = names_of(dtype);
  const char* const name = names == nullptr ? nullptr : is_torch ? names->torch : names->numpy;
  if (name == nullptr) {
    PyErr_Format(PyExc_TypeError, "result: dtype %s, which %s does not have", strew_dtype_name(static_cast<strew_dtype>(dtype)),
                 is_torch ? "torch" : "numpy");
    return {};
  }
  return Ref(is_torch ? of_module("torch", name) : PyUnicode_FromString(name));
}

void set_exchange_error(void*, const char* kind, const char* message) {
  PyErr_SetString(std::strcmp(kind, "MemoryError") == 0 ? PyExc_MemoryError : PyExc_RuntimeError, message);
}

/// By the table of the type: PyTorch's costs less than torch.empty. Null with an exception, or without one if the table lacks the functions.
Ref new_by_exchange(const ExchangeApi& api, dlpack::DataType dtype, const int64_t* dims, int rank) {
  if (api.allocate == nullptr || api.to_object == nullptr) return {};
  dlpack::Tensor prototype{nullptr, dlpack::kCpu, 0, rank, dtype, const_cast<int64_t*>(dims), nullptr, 0};
  dlpack::Managed* made = nullptr;
  if (api.allocate(&prototype, &made, nullptr, set_exchange_error) != 0) return {};
  void* object = nullptr;
  if (api.to_object(made, &object) != 0) return {};
  return Ref(static_cast<PyObject*>(object));
}

}  // namespace

Ref Array::new_like(PyObject* object, int dtype, const int64_t* dims, int rank) const {
  const bool is_torch = host == Host::torch;
  const bool same_dtype = dtype == tensor.dtype;
  if (!is_torch) {
    Ref made = new_numpy(host == Host::numpy && same_dtype ? object : nullptr, dtype, dims, rank);
    if (made || PyErr_Occurred() != nullptr) return made;
  } else if (same_dtype) {
    const ExchangeApi* const api = known(Py_TYPE(object)).exchange;
    Ref made = api != nullptr ? new_by_exchange(*api, exchange_dtype_, dims, rank) : Ref();
    if (made || PyErr_Occurred() != nullptr) return made;
  }
  const Ref type = dtype_object(is_torch, dtype);
  return type ? new_by_empty(is_torch, type.get(), dims, rank) : Ref();
}

bool was_written(PyObject* object, Host host) {
  if (host != Host::torch) return true;
  static PyObject* const increment = of_module("torch._C", "_increment_version");
  if (increment == nullptr) return false;
  const Ref one(PyTuple_Pack(1, object));
  const Ref done(one ? PyObject_CallOneArg(increment, one.get()) : nullptr);
  return static_cast<bool>(done);
}

Ref as_host(Ref numpy_array, Host host) {
  if (host != Host::jax || !numpy_array) return numpy_array;
  static PyObject* const asarray = of_module("jax.numpy", "asarray");
  return asarray != nullptr ? Ref(PyObject_CallOneArg(asarray, numpy_array.get())) : Ref();
}

}  // namespace strew::python
