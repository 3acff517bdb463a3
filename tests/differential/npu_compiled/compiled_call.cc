// See compiled_call.h. The program runs on copies of the tensors that lie far apart, so that an access beyond a tensor is in none.
// Tested by strew_npu_compiled.
#include "tests/differential/npu_compiled/compiled_call.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

namespace strew::test {
namespace {

constexpr int64_t kGap = int64_t{1} << 20, kArena = int64_t{1} << 32;

/// Addresses for the buffers of one call. Pages cost nothing until they are written, and the next call takes them again.
class Arena {
 public:
  Arena()
      : base_(static_cast<std::byte*>(
            mmap(nullptr, kArena, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  std::byte* take(int64_t bytes) {
    std::byte* const out = base_ + used_;
    used_ += (bytes + kGap) / kGap * kGap + kGap;
    return out;
  }
  void release_all() { used_ = 0; }

 private:
  std::byte* base_;
  int64_t used_ = 0;
};

int64_t bytes_of(DType dtype, std::span<const int64_t> dims) {
  int64_t out = bits(dtype);
  for (const int64_t dim : dims) out *= dim;
  return (out + 7) / 8;
}

std::vector<int64_t> strides_of(const TensorView& view) {
  if (view.strides != nullptr) return {view.strides, view.strides + view.rank};
  std::vector<int64_t> out(static_cast<size_t>(view.rank), 1);
  for (size_t d = out.size(); d-- > 1;) out[d - 1] = out[d] * view.dims[d];
  return out;
}

/// The bytes of a tensor of the call, from its lowest element on.
std::span<std::byte> bytes_of(const pto::ProgramArgument& a, const TensorView& view) {
  const std::span<const int64_t> dims(view.dims, static_cast<size_t>(view.rank));
  if (a.strides.empty()) return {static_cast<std::byte*>(view.data), static_cast<size_t>(bytes_of(view.dtype, dims))};
  const pto::TensorMemory memory = pto::memory_of(view.dtype, dims, strides_of(view));
  return {static_cast<std::byte*>(view.data) - memory.origin * bits(view.dtype) / 8,
          static_cast<size_t>((memory.count * bits(view.dtype) + 7) / 8)};
}

/// Is the last byte of the contiguous tensor only partly its own?
bool shares_last_byte(const TensorView& view) {
  int64_t all = bits(view.dtype);
  for (int d = 0; d < view.rank; ++d) all *= view.dims[d];
  return all % 8 != 0;
}

/// What the caller passes, and the tensor of the call behind each argument (-1: it has none).
struct Bound {
  std::vector<ProgramBatch::Argument> arguments;
  std::vector<int> tensors;
  pto_cpu::Launch launch;
};

Bound bind(const pto::TileProgram& program, const NpuData& data, Arena& arena) {
  Bound out;
  const std::vector<TensorView>& views = data.call.views();
  const auto* const scatter = std::get_if<Scatter>(&data.call.op());
  const bool in_place = scatter != nullptr && scatter->init == InitKind::in_place;
  int next = 0;
  for (const pto::ProgramArgument& a : program.arguments) {
    ProgramBatch::Argument& given = out.arguments.emplace_back();
    out.tensors.push_back(-1);
    if (a.role == pto::ArgumentRole::launch) continue;  // the launcher counts
    if (a.role == pto::ArgumentRole::scalar) {
      const TensorView& view = views[static_cast<size_t>(out.tensors[static_cast<size_t>(a.tensor)])];
      given.number = static_cast<int32_t>(a.is_stride ? strides_of(view)[static_cast<size_t>(a.dim)] : view.dims[a.dim]);
      continue;
    }
    const bool scratch = a.role == pto::ArgumentRole::scratch, result = a.role == pto::ArgumentRole::result;
    pto_cpu::Buffer buffer{.name = a.name,
                           .writable = scratch || result,
                           .filled = !scratch && (!result || in_place || !a.strides.empty()),
                           .agreed = a.name == "fault"};
    if (scratch && a.tensor >= 0) {
      const TensorView& as_large = views[static_cast<size_t>(out.tensors[static_cast<size_t>(a.tensor)])];
      buffer.bytes = bytes_of(a.dtype, {as_large.dims, static_cast<size_t>(as_large.rank)});
    } else if (scratch) {
      buffer.bytes = bytes_of(a.dtype, a.dims);
    } else {
      out.tensors.back() = next;
      buffer.bytes = static_cast<int64_t>(bytes_of(a, views[static_cast<size_t>(next++)]).size());
    }
    if (result && !buffer.filled && shares_last_byte(views[static_cast<size_t>(out.tensors.back())])) {
      // What lies beside the last elements in their byte is the caller's: a program keeps it, so it reads the byte.
      buffer.written.resize(static_cast<size_t>(buffer.bytes));
      buffer.written.back() = true;
    }
    buffer.data = arena.take(buffer.bytes);
    if (scratch)
      std::memset(buffer.data, 0x3C, static_cast<size_t>(buffer.bytes));
    else if (buffer.bytes > 0)
      std::memcpy(buffer.data, bytes_of(a, views[static_cast<size_t>(out.tensors.back())]).data(),
                  static_cast<size_t>(buffer.bytes));
    given.memory = buffer.data;
    out.launch.buffers.push_back(std::move(buffer));
  }
  return out;
}

}  // namespace

std::string CallOptions::text() const {
  constexpr const char* kOrders[] = {"the first block first", "the last block first", "blocks as threads"};
  return fmt::format("{} blocks, {}, {}order {}", blocks, kOrders[static_cast<int>(order)],
                     threads_backwards ? "threads of a5 backwards, " : "", seed);
}

CallResult call_compiled(const ProgramBatch& batch, size_t program, const NpuData& data, const CallOptions& options) {
  static Arena arena;
  arena.release_all();
  const pto::TileProgram& p = batch.programs()[program];
  data.call.restore(data.before);
  Bound bound = bind(p, data, arena);
  pto_cpu::Launch& launch = bound.launch;
  launch.order = options.order;
  launch.threads_backwards = options.threads_backwards;
  launch.seed = options.seed;
  launch.deleted = options.deleted;
  const Caught caught = catch_fault([&] { batch.launch(program, bound.arguments, launch, options.blocks); });
  CallResult out{std::nullopt, launch.flag_lines};
  if (caught.faulted) {
    out.wrong = signal_name(caught.signal) + ": a number does not fit its type with sign, is shifted too far, or is divided by 0";
    return out;
  }
  if (!launch.error.empty()) {
    out.wrong = launch.error;
    return out;
  }
  bool refused = false;
  for (size_t i = 0; i < p.arguments.size(); ++i) {
    if (p.arguments[i].name == "fault" && p.arguments[i].role == pto::ArgumentRole::scratch) {
      uint32_t word = 0;
      std::memcpy(&word, bound.arguments[i].memory, sizeof word);
      refused = word != 0;
    }
    if (p.arguments[i].role != pto::ArgumentRole::result) continue;
    const std::span<std::byte> bytes = bytes_of(p.arguments[i], data.call.views()[static_cast<size_t>(bound.tensors[i])]);
    if (!bytes.empty()) std::memcpy(bytes.data(), bound.arguments[i].memory, bytes.size());
  }
  if (refused != data.refused)
    out.wrong = refused ? "good indices were refused" : "a bad index was accepted";
  else
    out.wrong = difference_from_reference(data);
  return out;
}

}  // namespace strew::test
