// See programs.h. Calls find their programs in a table of open addressing without a lock; a program is added under a mutex, and a table that is half full is followed
// by one of twice the size. Tables and programs are never freed, because a call may be reading them.
#include "bindings/jax/programs.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "bindings/jax/dtypes.h"
#include "bindings/jax/runtime.h"

namespace strew::jax {
namespace {

/// Tensors of a call up to which nothing is allocated.
constexpr size_t kFew = 16;
/// Bytes of inputs and outputs up to which a program is bound (strew_program_bind), which takes as much memory for a moment. For larger ones the time that a run takes
/// to find out what to call does not count.
constexpr int64_t kMostBound = int64_t{64} << 20;

/// So many elements; those of a small call on the stack.
template <class T>
class Few {
 public:
  explicit Few(size_t count) : count_(count) {
    if (count > kFew) many_.resize(count);
  }
  T* data() { return count_ > kFew ? many_.data() : few_.data(); }
  std::span<T> all() { return {data(), count_}; }

 private:
  const size_t count_;
  std::array<T, kFew> few_;
  std::vector<T> many_;
};

bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

std::string type_text(XLA_FFI_DataType dtype, std::span<const int64_t> dims) {
  std::string text = std::string(xla_name(dtype)) + "[";
  for (size_t d = 0; d < dims.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(dims[d]);
  return text + "]";
}

/// The attributes are sorted by name.
constexpr size_t kIdentity = 0, kName = 1, kProgram = 2;
constexpr std::array<std::string_view, 3> kNames = {"identity", "name", "program"};
constexpr std::array kTypes = {XLA_FFI_AttrType_SCALAR, XLA_FFI_AttrType_STRING, XLA_FFI_AttrType_STRING};

std::string_view text_of(const XLA_FFI_ByteSpan& span) { return {span.ptr, span.len}; }
std::string_view string_of(const XLA_FFI_CallFrame& frame, size_t attribute) {
  return text_of(*static_cast<const XLA_FFI_ByteSpan*>(frame.attrs.attrs[attribute]));
}
/// The call, in messages.
std::string where(const XLA_FFI_CallFrame& frame) { return "custom call of '" + std::string(string_of(frame, kName)) + "'"; }

strew_tensor tensor_of(const strew_port& port, void* data, bool is_input) {
  return {data, port.dims, nullptr, port.rank, port.dtype, static_cast<uint8_t>(is_input ? 1 : 0), {0, 0}};
}

}  // namespace

Program::~Program() {
  for (const Way* way = ways_.load(); way != nullptr;) {
    const std::unique_ptr<const Way> owned(way);
    way = owned->next;
    strew_bound_program_free(owned->bound);
  }
  strew_program_free(program_);
}

strew_status Program::read(int64_t identity, std::string_view name, std::string_view text, std::unique_ptr<Program>* out) {
  std::unique_ptr<Program> made(new Program(identity, text));
  if (const strew_status status = made->look(name); status != nullptr) return status;
  *out = std::move(made);
  return nullptr;
}

strew_status Program::look(std::string_view name) {
  // The ending says the format.
  const std::string file = std::string(name) + ".mlir";
  if (const strew_status status = strew_program_read(text_.data(), text_.size(), file.c_str(), nullptr, &program_)) return status;
  const auto add = [](const strew_port& port, std::vector<Port>* to) {
    int64_t bytes = strew_dtype_bits(static_cast<strew_dtype>(port.dtype)) / 8;
    for (int32_t d = 0; d < port.rank; ++d) bytes *= port.dims[d];
    to->push_back({xla_dtype(port.dtype),
                   strew_dtype_name(static_cast<strew_dtype>(port.dtype)),
                   {port.dims, port.dims + port.rank},
                   bytes,
                   port.name});
  };
  for (size_t i = 0; i < strew_program_input_count(program_); ++i) {
    strew_port port = STREW_PORT_INIT;
    if (const strew_status status = strew_program_input(program_, i, &port)) return status;
    add(port, &inputs_);
  }
  for (size_t o = 0; o < strew_program_output_count(program_); ++o) {
    strew_port port = STREW_PORT_INIT;
    if (const strew_status status = strew_program_output(program_, o, &port)) return status;
    add(port, &outputs_);
  }
  return nullptr;
}

bool Program::has_seen(std::string_view text) const {
  return seen_.load(std::memory_order_relaxed) == text.data() && text.size() == text_.size();
}
bool Program::has_text(std::string_view text) const {
  if (text != text_) return false;
  seen_.store(text.data(), std::memory_order_relaxed);
  return true;
}

Failure Program::check(const XLA_FFI_CallFrame& frame) const {
  const auto bad = [&](const std::string& what) {
    return failure(frame.api, XLA_FFI_Error_Code_INVALID_ARGUMENT, "strew: " + where(frame) + ": " + what);
  };
  const auto check_all = [&](const char* what, int64_t count, void** buffers, const std::vector<Port>& ports) -> Failure {
    if (count != static_cast<int64_t>(ports.size()))
      return bad(std::to_string(count) + " " + what + "s, expected " + std::to_string(ports.size()) +
                 ", as many as the program has");
    for (size_t i = 0; i < ports.size(); ++i) {
      const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(buffers[i]);
      const Port& port = ports[i];
      if (port.dtype == XLA_FFI_DataType_INVALID)
        return bad(std::string(what) + " " + std::to_string(i) + " is of " + port.strew_dtype +
                   ", expected a dtype whose elements XLA keeps as strew does");
      const std::span<const int64_t> dims(buffer.dims, static_cast<size_t>(buffer.rank));
      if (buffer.dtype == port.dtype && std::equal(dims.begin(), dims.end(), port.dims.begin(), port.dims.end())) continue;
      return bad(std::string(what) + " " + std::to_string(i) + " is " + type_text(buffer.dtype, dims) + ", expected " +
                 type_text(port.dtype, port.dims) + ", as '" + port.name + "' of the program is");
    }
    return nullptr;
  };
  if (Failure const failed = check_all("operand", frame.args.size, frame.args.args, inputs_)) return failed;
  return check_all("result", frame.rets.size, frame.rets.rets, outputs_);
}

const Way* Program::find(std::span<void* const> data, bool* is_shared, std::span<int32_t> in_place) const {
  *is_shared = false;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    in_place[o] = -1;
    const Port& output = outputs_[o];
    for (size_t t = 0; t < inputs_.size() + o; ++t) {
      const Port& other = t < inputs_.size() ? inputs_[t] : outputs_[t - inputs_.size()];
      if (!overlap(data[inputs_.size() + o], output.bytes, data[t], other.bytes)) continue;
      const bool is_same = data[inputs_.size() + o] == data[t] && output.dtype == other.dtype && output.dims == other.dims;
      if (t < inputs_.size() && is_same && in_place[o] < 0)
        in_place[o] = static_cast<int32_t>(t);
      else
        *is_shared = true;
    }
  }
  for (const Way* way = ways_.load(std::memory_order_acquire); way != nullptr; way = way->next)
    if (way->is_shared == *is_shared && std::equal(in_place.begin(), in_place.end(), way->in_place.begin())) return way;
  return nullptr;
}

strew_status Program::add_way(std::span<const int32_t> in_place, bool is_shared, const Way** out) const {
  auto made = std::make_unique<Way>();
  made->in_place.assign(in_place.begin(), in_place.end());
  made->is_shared = is_shared;
  int64_t bytes = 0;
  for (const Port& port : inputs_) bytes += port.bytes;
  for (const Port& port : outputs_) bytes += port.bytes;
  if (!is_shared && bytes <= kMostBound) {
    strew_runtime* runtime = nullptr;
    if (const strew_status status = find_runtime(&runtime)) return status;
    const strew_status status =
        strew_program_bind(program_, runtime, nullptr, made->in_place.data(), made->in_place.size(), &made->bound);
    if (status != nullptr && strew_status_code(status) != STREW_CODE_UNSUPPORTED) return status;
    strew_status_free(status);
  }
  made->next = ways_.load(std::memory_order_acquire);
  while (!ways_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel)) {
  }
  *out = made.release();
  return nullptr;
}

strew_status Program::run_into(const Way& way, std::span<void* const> data) const {
  std::vector<strew_tensor> inputs, outputs;
  std::vector<const strew_tensor*> pointers;
  std::vector<uint8_t> may_overwrite(inputs_.size(), 0);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    strew_port port = STREW_PORT_INIT;
    if (const strew_status status = strew_program_input(program_, i, &port)) return status;
    inputs.push_back(tensor_of(port, data[i], true));
  }
  for (size_t o = 0; o < outputs_.size(); ++o) {
    strew_port port = STREW_PORT_INIT;
    if (const strew_status status = strew_program_output(program_, o, &port)) return status;
    outputs.push_back(tensor_of(port, data[inputs_.size() + o], false));
    if (way.is_shared || way.in_place[o] < 0) continue;
    const auto updated = static_cast<size_t>(way.in_place[o]);
    may_overwrite[updated] = 1;
    inputs[updated].read_only = 0;
  }
  for (const strew_tensor& input : inputs) pointers.push_back(&input);
  strew_runtime* runtime = nullptr;
  if (const strew_status status = find_runtime(&runtime)) return status;
  return strew_program_run_into(program_, runtime, nullptr, pointers.data(), may_overwrite.data(), pointers.size(),
                                outputs.data(), outputs.size());
}

Failure Program::run(const XLA_FFI_CallFrame& frame) const {
  if (Failure const failed = check(frame)) return failed;
  Few<void*> data(inputs_.size() + outputs_.size());
  Few<int32_t> in_place(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) data.data()[i] = static_cast<const XLA_FFI_Buffer*>(frame.args.args[i])->data;
  for (size_t o = 0; o < outputs_.size(); ++o)
    data.data()[inputs_.size() + o] = static_cast<const XLA_FFI_Buffer*>(frame.rets.rets[o])->data;
  bool is_shared = false;
  const Calling calling(frame);
  const Way* way = find(data.all(), &is_shared, in_place.all());
  strew_status status = way == nullptr ? add_way(in_place.all(), is_shared, &way) : nullptr;
  if (status == nullptr)
    status =
        way->bound != nullptr ? strew_bound_program_run(way->bound, data.data(), data.all().size()) : run_into(*way, data.all());
  return status == nullptr ? nullptr : from_strew(frame.api, status, where(frame));
}

// ---- The table of programs ----------------------------------------------------------------------------------------------------------------------

namespace {

struct Table {
  explicit Table(size_t count) : slots(count) {}
  std::vector<std::atomic<const Program*>> slots;  ///< as many as a power of two
  size_t used = 0;

  std::atomic<const Program*>& slot_of(int64_t identity) {
    const size_t mask = slots.size() - 1;
    for (size_t at = static_cast<size_t>(identity) * 0x9e3779b97f4a7c15U >> 32;; ++at) {
      std::atomic<const Program*>& slot = slots[at & mask];
      const Program* const found = slot.load(std::memory_order_acquire);
      if (found == nullptr || found->identity() == identity) return slot;
    }
  }
};

constexpr size_t kFirstSlots = 64;
std::atomic<Table*> table{nullptr};
std::mutex table_mutex;

/// The program may have been added by another thread meanwhile.
strew_status add_program(int64_t identity, std::string_view name, std::string_view text, const Program** out) {
  const std::lock_guard lock(table_mutex);
  Table* now = table.load(std::memory_order_relaxed);
  if (now == nullptr || now->used * 2 >= now->slots.size()) {
    auto* const larger = new Table(now == nullptr ? kFirstSlots : now->slots.size() * 2);
    for (size_t s = 0; now != nullptr && s < now->slots.size(); ++s) {
      const Program* const each = now->slots[s].load(std::memory_order_relaxed);
      if (each == nullptr) continue;
      larger->slot_of(each->identity()).store(each, std::memory_order_relaxed);
      ++larger->used;
    }
    table.store(larger, std::memory_order_release);
    now = larger;
  }
  std::atomic<const Program*>& slot = now->slot_of(identity);
  if (slot.load(std::memory_order_relaxed) == nullptr) {
    std::unique_ptr<Program> made;
    if (const strew_status status = Program::read(identity, name, text, &made)) return status;
    slot.store(made.release(), std::memory_order_release);
    ++now->used;
  }
  *out = slot.load(std::memory_order_relaxed);
  return nullptr;
}

bool have_types(const XLA_FFI_Attrs& attributes) {
  return attributes.size == static_cast<int64_t>(kTypes.size()) && std::equal(kTypes.begin(), kTypes.end(), attributes.types) &&
         static_cast<const XLA_FFI_Scalar*>(attributes.attrs[kIdentity])->dtype == XLA_FFI_DataType_S64;
}

/// Whether they have the names, too, is asked once for each text of a program.
Failure check_attributes(const XLA_FFI_CallFrame& frame) {
  const XLA_FFI_Attrs& attributes = frame.attrs;
  std::string given;
  for (int64_t a = 0; a < attributes.size; ++a) given += (a == 0 ? "" : ", ") + std::string(text_of(*attributes.names[a]));
  bool are_named = have_types(attributes);
  for (size_t a = 0; are_named && a < kNames.size(); ++a) are_named = text_of(*attributes.names[a]) == kNames[a];
  if (are_named) return nullptr;
  return failure(frame.api, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                 "strew: custom call: attributes (" + given + "), expected identity (i64), name (string), program (string)");
}

}  // namespace

Failure find_program(const XLA_FFI_CallFrame& frame, const Program** out) {
  Table* const now = table.load(std::memory_order_acquire);
  if (!have_types(frame.attrs)) return check_attributes(frame);
  const int64_t identity = *static_cast<const int64_t*>(static_cast<const XLA_FFI_Scalar*>(frame.attrs.attrs[kIdentity])->value);
  const std::string_view text = string_of(frame, kProgram);
  *out = now != nullptr ? now->slot_of(identity).load(std::memory_order_acquire) : nullptr;
  if (*out != nullptr && (*out)->has_seen(text)) return nullptr;
  if (Failure const failed = check_attributes(frame)) return failed;
  if (*out == nullptr)
    if (const strew_status status = add_program(identity, string_of(frame, kName), text, out))
      return from_strew(frame.api, status, where(frame));
  if ((*out)->has_text(text)) return nullptr;
  return failure(frame.api, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                 "strew: " + where(frame) + ": identity " + std::to_string(identity) +
                     " is that of another program, expected a hash of the attribute program");
}

}  // namespace strew::jax
