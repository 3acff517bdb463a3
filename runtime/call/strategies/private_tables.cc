// See strategy.h. This is the only strategy that is faster than the sequential loop for many updates of a small table. The positions
// are cut into one chunk per table. If the grouping of updates decides the bits (strew_kernel.regroups is 0), the schedule gives the number
// of tables, so the bits do not depend on the number of threads; then one thread also fills that many tables.
//
// The tables are filled in waves of one per thread and merged after each wave, in the order of the chunks. So a table is merged and filled
// again while it is in its thread's cache, and the scratch grows with the threads, not with the tables.
//
// Destinations that no update reaches keep their bits: the merge entry leaves the result alone where a table still holds the identity. Each
// table is filled and read once more than the result, so the strategy needs about three updates per element. Tested by tests/differential
// and tests/unit/runtime/call/strategies/private_test.cc.
#include <bit>
#include <cstring>

#include "base/strategy_shares.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/extent.h"
#include "runtime/call/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

static_assert(std::endian::native == std::endian::little);  // fill() copies the first bytes of a value

int element_bytes(const strew_kernel& kernel, uint32_t i) { return kernel.tensors[i].bits / 8; }

/// The distance between two tables of one result.
int64_t share(const strew_kernel& kernel, int64_t elements) {
  int widest = 1;
  for (uint32_t i = 0; i < kernel.result_count; ++i) widest = std::max(widest, element_bytes(kernel, i));
  return padded_bytes(elements * widest);
}

/// Stores the first element and then copies what is there already, at most a block at a time. memcpy is vector code, which the compiler
/// does not make of our loops at -O2.
void fill(char* to, int64_t elements, int width, uint64_t value) {
  constexpr int64_t kBlock = 4096;  // is in the first-level cache when it is copied again
  const int64_t bytes = elements * width;
  std::memcpy(to, &value, static_cast<size_t>(width));
  for (int64_t done = width; done < bytes;) {
    const int64_t more = std::min({done, bytes - done, kBlock});
    std::memcpy(to + done, to, static_cast<size_t>(more));
    done += more;
  }
}

struct Tables {
  const ApplyCall& call;
  char* scratch;
  int64_t each;     ///< bytes of a table of one result
  void** pointers;  ///< strew_args.data for each table of the wave
  Split positions, elements;
  int first = 0, end = 0;  ///< the tables of the wave

  /// The wave's t-th table. Table 0 is the result and needs none.
  char* table(int t) const { return scratch + each * call.kernel().result_count * (t - std::max(first, 1)); }

  void apply(int t) const {
    strew_args args = call.args;
    if (t > 0) args.data = cleared(t);
    const int64_t from = positions.border(t), to = positions.border(t + 1);
    if (from < to) run_entry(call.callable.range, args, from, to);
  }

  /// Fills the table with identities. The addresses of a call whose results are in it.
  void** cleared(int t) const {
    const strew_kernel& kernel = call.kernel();
    const size_t count = kernel.data_count;
    void** const data = pointers + count * static_cast<size_t>(t - std::max(first, 1));
    std::copy_n(call.args.data, count, data);
    for (uint32_t i = 0; i < kernel.result_count; ++i) {
      char* const mine = table(t) + each * i;
      fill(mine, elements.total, element_bytes(kernel, i), kernel.identities[i]);
      data[kernel.tensors[i].data] = mine;
    }
    return data;
  }

  void merge(int chunk) const {
    strew_args args = call.args;
    args.k0 = each;
    const int64_t last = elements.border(chunk + 1), block = call.limits().merge_block;
    for (int64_t at = elements.border(chunk); at < last; at += block) {
      for (int t = std::max(first, 1); t < end; ++t) {
        args.scratch = table(t);
        run_entry(call.entry(STREW_ENTRY_merge), args, at, std::min(at + block, last));
      }
    }
  }
};

/// `elements`: of each result, which are contiguous. Returns false, having done nothing, if no memory can be allocated.
bool run_private(const ApplyCall& call, Team& team, int64_t elements, int count, int threads) {
  const int wave = std::min(threads, count), apart = std::min(wave, count - 1);
  const int64_t bytes = private_bytes(call.kernel(), elements, apart);
  const int64_t pointers = int64_t{apart} * static_cast<int64_t>(call.kernel().data_count * sizeof(void*));
  const Scratch::Loan loan = call.callable.scratch.borrow(bytes + pointers);
  // With less memory there are more waves; the tables, and so the bits, are the same.
  if (!loan) return wave > 1 && run_private(call, team, elements, count, 1);
  Tables tables{call,
                loan.data(),
                share(call.kernel(), elements),
                reinterpret_cast<void**>(loan.data() + bytes),
                {call.call.positions, 1, count},
                {elements, call.limits().init_unit, wave == 1 ? 1 : call.limits().chunks_per_thread * wave}};
  for (; tables.first < count; tables.first = tables.end) {
    tables.end = std::min(tables.first + wave, count);
    run_phase(team, call.limits(), PhaseKind::private_apply, tables.end - tables.first,
              [&](int chunk) { tables.apply(tables.first + chunk); });
    if (tables.end == 1) continue;  // the only table is the result
    run_phase(team, call.limits(), PhaseKind::private_merge, tables.elements.chunks, [&](int chunk) { tables.merge(chunk); });
  }
  return true;
}

}  // namespace

int64_t private_bytes(const strew_kernel& kernel, int64_t elements, int tables) {
  return share(kernel, elements) * kernel.result_count * tables;
}

int most_tables(const ApplyCall& call) {
  return strew::private_tables(static_cast<int>(call.kernel().tables), call.kernel().regroups != 0, call.threads);
}

/// If the tables decide the bits, whether the strategy is used must depend on the shapes alone, never on threads or memory.
bool apply_private_tables(const ApplyCall& call) {
  const strew_kernel& kernel = call.kernel();
  for (uint32_t i = 0; i < kernel.result_count; ++i)
    if (!extent_of(kernel.tensors[i], call.tensors[i]).row_major) return false;
  const int64_t count = elements(call.tensors[0]);
  if (!repays_tables(call, count)) return false;
  const bool exact = kernel.regroups != 0;
  const int most = most_tables(call);
  Team team(*call.call.executor, call.threads, call.alone);
  if (exact && !team.has_help()) return false;
  return run_private(call, team, count, exact ? std::min(most, team.threads()) : most, team.threads());
}

}  // namespace strew::inline v0
