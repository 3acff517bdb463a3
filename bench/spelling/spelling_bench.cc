// What the spelling of an op costs: `./dev bench spelling`. Each case does one piece of work in several spellings, which take turns.
//
// call/...: a sum and a gather of rows as PyTorch spells them, by elements with one index each (i[:, None].expand(-1, F)): `elements` has the
// indices as a tensor of their own, `repeated` with stride 0, and `rows` is the op on rows. x_rows is the time of `repeated` over that of `rows`,
// x_elements that of `elements` over that of `repeated`.
//
// file/...: the same sum in a StableHLO file, and a KV append between transposes of the cache, with and without the folds of import. x_plain is
// the time without over that with them.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "bench/measure.h"
#include "strew/forms.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

using Dims = std::vector<int64_t>;

struct Work {
  int64_t rows, width, updates;
};

/// One spelling: an op, and what it is called on.
struct Spelling {
  Kernel kernel;
  std::vector<TensorView> views;
};

class Rows {
 public:
  Rows(Work work, bool gather)
      : gather_(gather),
        table_(static_cast<size_t>(work.rows * work.width), 1.0F),
        other_(static_cast<size_t>(work.updates * work.width), 0.5F),
        row_(static_cast<size_t>(work.updates)),
        table_dims_{work.rows, work.width},
        other_dims_{work.updates, work.width},
        row_dims_{work.updates} {
    std::mt19937 random(7);
    for (int64_t& i : row_) {
      i = static_cast<int64_t>(random() % static_cast<uint64_t>(work.rows));
      element_.insert(element_.end(), static_cast<size_t>(work.width), i);
    }
  }

  /// Does each spelling, run once on the same tensors, write the same bytes?
  bool agree(const std::vector<const Spelling*>& spellings) {
    std::vector<float>& written = gather_ ? other_ : table_;
    const std::vector<float> before = written;
    std::vector<float> first;
    for (const Spelling* const spelling : spellings) {
      written = before;
      if (!spelling->kernel.run(spelling->views).ok()) return false;
      if (first.empty()) first = written;
      if (std::memcmp(first.data(), written.data(), first.size() * sizeof(float)) != 0) return false;
    }
    return true;
  }

  Expected<Spelling> by_rows() { return spelling(TensorType{DType::i64, row_dims_, {}}, row_.data(), row_dims_, {}); }
  Expected<Spelling> by_elements() { return spelling(TensorType{DType::i64, other_dims_, {}}, element_.data(), other_dims_, {}); }
  Expected<Spelling> repeated() {
    return spelling(TensorType{DType::i64, other_dims_, kRepeats}, row_.data(), other_dims_, kRepeats);
  }

 private:
  inline static const Dims kRepeats{1, 0};

  Expected<Spelling> spelling(const TensorType& type, int64_t* indices, const Dims& dims, const Dims& strides) {
    const TensorType table{DType::f32, table_dims_, {}}, other{DType::f32, other_dims_, {}};
    const bool rows = dims.size() == 1;
    STREW_ASSIGN(Op op, op_of(table, type, other, rows));
    KernelOptions options;
    options.threads = 1;
    STREW_ASSIGN(Kernel kernel, Runtime::process().get(op, options));
    Spelling out{std::move(kernel), {}};
    const TensorView index{indices, DType::i64, type.rank(), dims.data(), strides.empty() ? nullptr : kRepeats.data()};
    const TensorView written{(gather_ ? other_ : table_).data(), DType::f32, 2, (gather_ ? other_dims_ : table_dims_).data(),
                             nullptr};
    const TensorView read{(gather_ ? table_ : other_).data(), DType::f32, 2, (gather_ ? table_dims_ : other_dims_).data(),
                          nullptr};
    out.views = gather_ ? std::vector{written, read, index} : std::vector{written, index, read};
    return out;
  }

  Expected<Op> op_of(const TensorType& table, const TensorType& indices, const TensorType& updates, bool rows) const {
    if (gather_) {
      auto builder = rows ? gather_rows(table, indices) : gather_elements(table, indices, 0);
      STREW_ASSIGN(Gather op, builder.normalize_negative().oob(OobPolicy::error).build());
      return Op(std::move(op));
    }
    auto builder = rows ? scatter_rows(table, indices, updates) : scatter_elements(table, indices, updates, 0);
    STREW_ASSIGN(Scatter op, builder.combine(CombinerKind::add).in_place().normalize_negative().oob(OobPolicy::error).build());
    return Op(std::move(op));
  }

  bool gather_;
  std::vector<float> table_, other_;
  std::vector<int64_t> row_, element_;
  Dims table_dims_, other_dims_, row_dims_;
};

void run_call(benchmark::State& state, Work work, bool gather) {
  Rows data(work, gather);
  const Expected<Spelling> repeated = data.repeated(), rows = data.by_rows(), elements = data.by_elements();
  if (!repeated.ok() || !rows.ok() || !elements.ok()) return fail(state, "a spelling does not compile");
  if (!data.agree({&*repeated, &*rows, &*elements})) return fail(state, "the spellings give other bytes");
  const auto way = [](const Spelling& s) {
    return [&s](int64_t calls) {
      for (int64_t i = 0; i < calls; ++i)
        if (!s.kernel.run(s.views).ok()) any_failed() = true;
    };
  };
  const Turns turns = time_in_turns(
      state, {{"repeated", way(*repeated), {}, {}}, {"rows", way(*rows), {}, {}}, {"elements", way(*elements), {}, {}}}, 1, {});
  const Medians medians = turns.medians();
  state.counters["repeated_us"] = medians[0] / 1e3;
  state.counters["rows_us"] = medians[1] / 1e3;
  state.counters["elements_us"] = medians[2] / 1e3;
  state.counters["x_rows"] = turns.ratio(0, 1);
  state.counters["x_elements"] = turns.ratio(2, 0);
}

/// A sum of rows, of which each element has an index of its own.
std::string sum_text(const Work& w) {
  return fmt::format(
      "func.func @main(%x: tensor<{0}x{1}xf32>, %i: tensor<{2}xi64>, %u: tensor<{2}x{1}xf32>) -> tensor<{0}x{1}xf32> {{\n"
      "  %c = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<{2}xi64>) -> tensor<{2}x{1}x1xi64>\n"
      "  %r = \"stablehlo.scatter\"(%x, %c, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
      "input_batching_dims = [1], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = "
      "2>}}> "
      "({{\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : "
      "tensor<f32>\n  }}) : (tensor<{0}x{1}xf32>, tensor<{2}x{1}x1xi64>, tensor<{2}x{1}xf32>) -> tensor<{0}x{1}xf32>\n"
      "  return %r : tensor<{0}x{1}xf32>\n}}\n",
      w.rows, w.width, w.updates);
}

/// A cache [batch, heads, positions, width] whose scatter works on [batch, positions, heads, width]; one position of all sequences is written.
constexpr int64_t kBatch = 4, kHeads = 8, kPositions = 1024, kWidth = 64;
std::string append_text() {
  const std::string cache = fmt::format("tensor<{}x{}x{}x{}xf32>", kBatch, kHeads, kPositions, kWidth),
                    moved = fmt::format("tensor<{}x{}x{}x{}xf32>", kBatch, kPositions, kHeads, kWidth),
                    update = fmt::format("tensor<{}x{}x1x{}xf32>", kBatch, kHeads, kWidth),
                    moved_update = fmt::format("tensor<{}x1x{}x{}xf32>", kBatch, kHeads, kWidth);
  return fmt::format(
      "func.func @main(%x: {0}, %i: tensor<1x1xi64>, %u: {2}) -> {0} {{\n"
      "  %t = stablehlo.transpose %x, dims = [0, 2, 1, 3] : ({0}) -> {1}\n"
      "  %v = stablehlo.transpose %u, dims = [0, 2, 1, 3] : ({2}) -> {3}\n"
      "  %r = \"stablehlo.scatter\"(%t, %i, %v) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2, "
      "3], "
      "inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}}> ({{\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    stablehlo.return %b : tensor<f32>\n"
      "  }}) : ({1}, tensor<1x1xi64>, {3}) -> {1}\n"
      "  %o = stablehlo.transpose %r, dims = [0, 2, 1, 3] : ({1}) -> {0}\n  return %o : {0}\n}}\n",
      cache, moved, update, moved_update);
}

/// A file's program, which updates its first input in place where it can.
class FileProgram {
 public:
  FileProgram(const std::string& text, bool fold, int64_t rows) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("spelling_{}.mlir", getpid());
    std::ofstream(path) << text;
    ImportOptions options;
    options.fold = fold;
    Expected<Program> imported = import_file(path.string(), options);
    std::filesystem::remove(path);
    status = imported.status();
    if (!imported.ok()) return;
    imported_ = std::move(*imported);
    std::mt19937 random(7);
    for (const ProgramInput& input : imported_.inputs()) {
      Expected<Tensor> made = make_tensor(input.type.dtype, input.type.dims);
      status = made.status();
      if (!made.ok()) return;
      tensors_.push_back(std::move(*made));
      const int64_t count = tensors_.back().elements();
      for (int64_t e = 0; e < count && input.type.dtype == DType::i64; ++e) {
        const auto index = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
        std::memcpy(tensors_.back().data.data() + e * 8, &index, 8);
      }
    }
  }

  void run(int64_t calls) {
    for (int64_t i = 0; i < calls; ++i) {
      std::vector<std::unique_ptr<Tensor>> inputs;
      for (const Tensor& tensor : tensors_) {
        Tensor lent{tensor.dtype, tensor.dims, Buffer::borrow({tensor.data.data(), static_cast<size_t>(tensor.data.size())}), {}};
        inputs.push_back(std::make_unique<Tensor>(std::move(lent)));
      }
      const TensorView output = tensors_[0].view();
      ProgramOptions options;
      options.kernel.threads = 1;
      if (!run_program_into(Runtime::process(), imported_, std::move(inputs), {&output, 1}, options).ok()) any_failed() = true;
    }
  }

  /// Has the first tensor the same bytes? It is the result.
  bool agrees_with(const FileProgram& other) const {
    const Buffer &a = tensors_[0].data, &b = other.tensors_[0].data;
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size())) == 0;
  }

  Status status;

 private:
  Program imported_;
  std::vector<Tensor> tensors_;
};

void run_file(benchmark::State& state, const std::string& text, int64_t rows) {
  FileProgram folded(text, true, rows), plain(text, false, rows);
  if (!folded.status.ok() || !plain.status.ok()) return fail(state, folded.status.message() + plain.status.message());
  folded.run(1);
  plain.run(1);
  if (!folded.agrees_with(plain)) return fail(state, "the folds change the result");
  const auto way = [](FileProgram& program) { return [&program](int64_t calls) { program.run(calls); }; };
  const Turns turns = time_in_turns(state, {{"folded", way(folded), {}, {}}, {"plain", way(plain), {}, {}}}, 1, {});
  const Medians medians = turns.medians();
  state.counters["folded_us"] = medians[0] / 1e3;
  state.counters["plain_us"] = medians[1] / 1e3;
  state.counters["x_plain"] = turns.ratio(1, 0);
}

void add_cases() {
  constexpr Work kWorks[] = {{1000, 64, 1000}, {10000, 16, 4096}, {10000, 256, 4096}};
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Iterations(11);
  };
  for (const Work& work : kWorks)
    for (const bool gather : {false, true})
      add(fmt::format("call/{}/{}x{}", gather ? "gather" : "add", work.updates, work.width),
          [work, gather](benchmark::State& state) { run_call(state, work, gather); });
  for (const Work& work : kWorks)
    add(fmt::format("file/add/{}x{}", work.updates, work.width),
        [work](benchmark::State& state) { run_file(state, sum_text(work), work.rows); });
  add("file/kv_append", [](benchmark::State& state) { run_file(state, append_text(), kPositions); });
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  strew::bench::add_cases();
  return strew::bench::run_all(argc, argv);
}
