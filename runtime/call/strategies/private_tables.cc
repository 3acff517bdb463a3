// Private tables (research/limits.md C and 7: the one way that is faster than in-order for many updates of a small table). The positions
// are cut into one chunk per table. Legal where every grouping of updates gives the same bits (integers, bool, float min and max), or where
// the op asks for no order (`relaxed`): then the number of tables is the schedule's, whatever the threads, and so are the bits. One thread
// runs all tables of such an op too.
//
// The result itself is the first table. The others are worked off in waves of one per thread and merged after each wave, in chunk order, so
// a thread's table is still in its own cache when it is merged and filled again, and the scratch is that of the threads, not of the tables.
//
// Destinations that no update reaches keep their bits: where a table still holds the identity, the result is left alone (the merge entry).
// Cost: each table is filled and read once more, so it wants about three updates per element. Tested by tests/differential and
// tests/unit/private_test.cc.
#include "runtime/call/strategies/private_tables.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/number.h"
#include "runtime/call/executor/trace.h"
#include "runtime/call/strategies/split.h"

namespace strew {
namespace {

static_assert(std::endian::native == std::endian::little);  // the first bytes of a value are its low ones

constexpr int64_t kLine = 64;

int element_bytes(const Plan& plan, int i) { return bits(plan.tensors[static_cast<size_t>(plan.result(i))].dtype) / 8; }

/// From one result's table to the next; a line more than they need, so neighbours never share a prefetched pair.
int64_t share(const Plan& plan, int64_t elements) {
  int widest = 1;
  for (int i = 0; i < plan.pairs; ++i) widest = std::max(widest, element_bytes(plan, i));
  return (elements * widest + kLine - 1) / kLine * kLine + kLine;
}

/// The first element, then copies of what is there, a block at most: the C library's copies are vector code, our own loops are not (-O2).
void fill(char* to, int64_t elements, int width, uint64_t value) {
  constexpr int64_t kBlock = 4096;
  const int64_t bytes = elements * width;
  std::memcpy(to, &value, static_cast<size_t>(width));
  for (int64_t done = width; done < bytes;) {
    const int64_t more = std::min({done, bytes - done, kBlock});
    std::memcpy(to + done, to, static_cast<size_t>(more));
    done += more;
  }
}

struct Tables {
  const PrivateCall& call;
  char* scratch;
  int64_t each;     ///< bytes of one result's table
  void** pointers;  ///< what strew_args.data is for each table of a wave
  Split positions, elements;
  int first = 0, end = 0;  ///< the tables of this wave

  /// Of the wave's t-th table; table 0 is the result and has none.
  char* table(int t) const { return scratch + each * call.plan.pairs * (t - std::max(first, 1)); }

  void run(int t, const strew_args& args) const {
    const int64_t from = positions.border(t), to = positions.border(t + 1);
    strew_fault unused;
    if (from < to) call.range(&args, from, to, &unused);
  }

  void apply(int t) const {
    if (t == 0) return run(t, *call.args);
    const Plan& plan = call.plan;
    const size_t count = plan.tensors.size();
    void** const data = pointers + count * static_cast<size_t>(t - std::max(first, 1));
    std::copy_n(call.args->data, count, data);
    for (int i = 0; i < plan.pairs; ++i) {
      char* const mine = table(t) + each * i;
      const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
      fill(mine, call.elements, element_bytes(plan, i), *identity_bits(combiner_of(plan, i), dtype));
      data[plan.result(i)] = mine;
    }
    strew_args args = *call.args;
    args.data = data;
    run(t, args);
  }

  void merge(int chunk) const {
    strew_args args = *call.args;
    args.k0 = each;
    strew_fault unused;
    const int64_t last = elements.border(chunk + 1), block = call.limits.merge_block;
    for (int64_t at = elements.border(chunk); at < last; at += block) {
      for (int t = std::max(first, 1); t < end; ++t) {
        args.scratch = table(t);
        call.merge(&args, at, std::min(at + block, last), &unused);
      }
    }
  }
};

std::optional<uint64_t> float_identity(ExprOp op, DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (op == ExprOp::add || op == ExprOp::sub) return encode(dtype, -0.0);
  if (op == ExprOp::mul) return encode(dtype, 1.0);
  if (op == ExprOp::min) return encode(dtype, kInfinity);
  if (op == ExprOp::max) return encode(dtype, -kInfinity);
  return std::nullopt;
}

std::optional<uint64_t> integer_identity(ExprOp op, DType dtype) {
  const int width = dtype == DType::boolean ? 1 : bits(dtype);
  const uint64_t ones = ~uint64_t{0} >> (64 - width), sign = uint64_t{1} << (width - 1);
  const bool has_sign = is_signed_integer(dtype);
  if (op == ExprOp::sub && dtype == DType::boolean) return std::nullopt;
  if (op == ExprOp::add || op == ExprOp::sub || op == ExprOp::bit_or || op == ExprOp::bit_xor) return 0;
  if (op == ExprOp::mul) return 1;
  if (op == ExprOp::bit_and) return ones;
  if (op == ExprOp::min) return has_sign ? ones ^ sign : ones;
  if (op == ExprOp::max) return has_sign ? sign : 0;
  return std::nullopt;
}

bool regroups_exactly(ExprOp op, DType dtype) { return !is_float(dtype) || op == ExprOp::min || op == ExprOp::max; }

}  // namespace

ExprOp combiner_of(const Plan& plan, int i) {
  return plan.combine.nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])].op;
}

std::optional<uint64_t> identity_bits(ExprOp op, DType dtype) {
  if (is_float(dtype)) return float_identity(op, dtype);
  if (dtype == DType::boolean || is_signed_integer(dtype) || is_unsigned_integer(dtype)) return integer_identity(op, dtype);
  return std::nullopt;
}

bool combines_exactly(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i)
    if (!regroups_exactly(combiner_of(plan, i), plan.tensors[static_cast<size_t>(plan.result(i))].dtype)) return false;
  return true;
}

Status private_legal(const Plan& plan) {
  const auto refuse = [](const std::string& why) { return unsupported("strategy private: " + why); };
  if (plan.gather) return refuse("a gather combines nothing");
  const auto& nodes = plan.combine.nodes;
  int currents = 0, reads_of_current = 0;
  for (const ExprNode& node : nodes) {
    currents += node.op == ExprOp::current;
    for (const int32_t arg : node.args) reads_of_current += nodes[static_cast<size_t>(arg)].op == ExprOp::current;
  }
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    const std::string result = "result " + std::to_string(i) + " of dtype " + std::string(name(dtype));
    if (bits(dtype) < 16 && (bits(dtype) < 8 || is_float(dtype))) return refuse(result + " is too narrow");
    const ExprNode& top = nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])];
    const bool folds = top.args.size() == 2 && nodes[static_cast<size_t>(top.args[0])].op == ExprOp::current &&
                       nodes[static_cast<size_t>(top.args[0])].index == i;
    if (!folds || currents != plan.pairs || reads_of_current != plan.pairs || !identity_bits(top.op, dtype))
      return refuse(result + ": the combiner is not an associative one of the current value and the update");
    if (plan.tensors[static_cast<size_t>(plan.update(i))].dtype != dtype)
      return refuse(result + ": its update has another dtype");
    if (!regroups_exactly(top.op, dtype) && plan.order != Order::relaxed)
      return refuse(result + ": float " + std::string(name(top.op)) + " depends on the order (order in_order)");
  }
  return {};
}

int64_t private_bytes(const Plan& plan, int64_t elements, int tables) { return share(plan, elements) * plan.pairs * tables; }

bool run_private(Executor::Team& team, Scratch& scratch, const PrivateCall& call) {
  const int wave = std::min(call.threads, call.tables), apart = std::min(wave, call.tables - 1);
  const int64_t bytes = private_bytes(call.plan, call.elements, apart);
  const int64_t pointers = int64_t{apart} * static_cast<int64_t>(call.plan.tensors.size() * sizeof(void*));
  const Scratch::Loan loan = scratch.borrow(bytes + pointers);
  if (!loan && wave == 1) return false;
  // Less memory is more waves: the tables, and with them the bits, stay the same.
  if (!loan)
    return run_private(
        team, scratch,
        {call.plan, call.range, call.merge, call.args, call.positions, call.elements, call.tables, 1, call.limits});
  Tables tables{call,
                loan.data(),
                share(call.plan, call.elements),
                reinterpret_cast<void**>(loan.data() + bytes),
                {call.positions, 1, call.tables},
                {call.elements, call.limits.init_unit, wave == 1 ? 1 : call.limits.chunks_per_thread * wave}};
  for (; tables.first < call.tables; tables.first = tables.end) {
    tables.end = std::min(tables.first + wave, call.tables);
    run_phase(
        team, call.limits, PhaseKind::private_apply, tables.end - tables.first,
        [](void* t, int chunk) noexcept { static_cast<const Tables*>(t)->apply(static_cast<const Tables*>(t)->first + chunk); },
        &tables);
    if (tables.end == 1) continue;  // only the result itself
    run_phase(
        team, call.limits, PhaseKind::private_merge, tables.elements.chunks,
        [](void* t, int chunk) noexcept { static_cast<const Tables*>(t)->merge(chunk); }, &tables);
  }
  return true;
}

}  // namespace strew
