// Transposes around a scatter or gather in StableHLO: where they become part of the kernel's dimension numbers, and where they stay; and each form
// runs with and without folding to the same bytes, NaNs of all payloads among them, at indices in bounds and out of them, under every policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/number.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "tests/support/programs.h"
#include "tests/unit/compiler/import/stablehlo_testing.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::Not;
using Dims = std::vector<int64_t>;

std::string list(const Dims& dims) {
  std::string out;
  for (size_t d = 0; d < dims.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(dims[d]);
  return "[" + out + "]";
}
std::string type(const Dims& dims, const std::string& dtype = "f32") {
  std::string out = "tensor<";
  for (const int64_t d : dims) out += std::to_string(d) + "x";
  return out + dtype + ">";
}
Dims permuted(const Dims& dims, const Dims& order) {
  Dims out;
  for (const int64_t d : order) out.push_back(dims[static_cast<size_t>(d)]);
  return out;
}
Dims inverse(const Dims& order) {
  Dims out(order.size());
  for (size_t d = 0; d < order.size(); ++d) out[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  return out;
}
Dims identity(size_t rank) {
  Dims out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}
/// transpose of `name` with dims `dims` by `order`, as a line that defines `result`; without one, a line that only renames it.
std::string transpose(const std::string& result, const std::string& name, const Dims& dims, const Dims& order) {
  return "  " + result + " = stablehlo.transpose " + name + ", dims = " + list(order) + " : (" + type(dims) + ") -> " +
         type(permuted(dims, order)) + "\n";
}

/// A scatter into, or gather of, the transpose of x by `before`. `removed` and `windows` are the operand's dims; `slices` are the dims of the
/// updates or the gather's result before `after` (a gather's) or after `between` (the updates') moves them; those in `at` are the window's.
struct Form {
  bool gather = false;
  Dims operand;            ///< dims of the transposed x
  Dims before, after;      ///< of x; of the result
  Dims between;            ///< of the updates
  Dims removed, batching;  ///< dims of the operand, sorted
  Dims components;         ///< = removed, and window dims, in any order
  Dims positions;          ///< dims of the indices but for the vector, of which the first are the batching dims
  Dims window;             ///< extents of the window in the dims that are neither removed nor batching
  Dims at;                 ///< where they lie in the slices
  std::string body = "%b";

  Dims slices() const {
    Dims out(positions.size() + window.size(), -1);
    for (size_t w = 0; w < at.size(); ++w) out[static_cast<size_t>(at[w])] = window[w];
    size_t p = 0;
    for (int64_t& extent : out)
      if (extent < 0) extent = positions[p++];
    return out;
  }
  Dims sizes() const {
    Dims out(operand.size(), 1);
    size_t w = 0;
    for (size_t d = 0; d < operand.size(); ++d)
      if (std::count(removed.begin(), removed.end(), d) + std::count(batching.begin(), batching.end(), d) == 0)
        out[d] = window[w++];
    return out;
  }

  std::string text() const {
    const Dims x = permuted(operand, inverse(before)), all = slices(), pairs = identity(batching.size());
    const Dims u = permuted(all, inverse(between));
    Dims indices = positions;
    indices.push_back(static_cast<int64_t>(components.size()));
    const Dims result = gather ? all : operand;
    const std::string vector_dim = ", index_vector_dim = " + std::to_string(positions.size());
    const std::string i = type(indices, "i32"), out = type(permuted(result, after));
    std::string text = "func.func @main(%x: " + type(x) + ", %i: " + i + (gather ? "" : ", %u: " + type(u)) + ") -> " + out +
                       " {\n" + transpose("%t", "%x", x, before);
    if (gather) {
      const std::string sizes_text = list(sizes());
      text += "  %r = \"stablehlo.gather\"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = " + list(at) +
              ", collapsed_slice_dims = " + list(removed) + ", operand_batching_dims = " + list(batching) +
              ", start_indices_batching_dims = " + list(pairs) + ", start_index_map = " + list(components) + vector_dim +
              ">, slice_sizes = array<i64: " + sizes_text.substr(1, sizes_text.size() - 2) + ">}> : (" + type(operand) + ", " +
              i + ") -> " + type(all) + "\n";
    } else {
      text += transpose("%v", "%u", u, between) +
              "  %r = \"stablehlo.scatter\"(%t, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = " +
              list(at) + ", inserted_window_dims = " + list(removed) + ", input_batching_dims = " + list(batching) +
              ", scatter_indices_batching_dims = " + list(pairs) + ", scatter_dims_to_operand_dims = " + list(components) +
              vector_dim + ">}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n" +
              (body == "%b" ? "" : "    %s = stablehlo." + body + " %a, %b : tensor<f32>\n") + "    stablehlo.return " +
              (body == "%b" ? "%b" : "%s") + " : tensor<f32>\n  }) : (" + type(operand) + ", " + i + ", " + type(all) + ") -> " +
              type(operand) + "\n";
    }
    return text + transpose("%o", "%r", result, after) + "  return %o : " + out + "\n}\n";
  }
};

std::vector<Tensor> inputs_of(const Program& imported, bool valid, test::Rng& rng) {
  std::vector<Tensor> inputs = test::random_inputs(imported, rng);
  for (Tensor& input : inputs)
    for (int64_t e = 0; e < input.elements(); ++e) {
      if (is_integer(input.dtype))
        store_element(input.dtype, input.data.data(), e,
                      {input.dtype, {encode_i64(input.dtype, valid ? rng.below(2) : rng.between(-2, 5)), 0}});
      else if (rng.below(6) == 0)
        store_element(input.dtype, input.data.data(), e,
                      {input.dtype, {0x7fa00000U | static_cast<uint64_t>(rng.below(1000)), 0}});
    }
  return inputs;
}

/// The op and how many operations are left, after runs both ways under every policy.
std::string folded(const Form& form, test::Rng& rng) {
  std::string out;
  const std::vector<OobPolicy> policies =
      form.gather
          ? std::vector{OobPolicy::wrap, OobPolicy::error, OobPolicy::fill_element, OobPolicy::fill_window, OobPolicy::clamp}
          : std::vector{OobPolicy::skip_element, OobPolicy::skip_window, OobPolicy::wrap, OobPolicy::error, OobPolicy::clamp};
  for (const OobPolicy policy : policies) {
    ImportOptions options;
    options.override_oob = true;
    options.oob = policy;
    const auto folded = import_mlir_text(form.text(), options);
    options.fuse = false;
    const auto plain = import_mlir_text(form.text(), options);
    EXPECT_TRUE(plain.ok()) << plain.status().message() << "\n" << form.text();
    EXPECT_TRUE(folded.ok()) << folded.status().message() << "\n" << form.text();
    if (!plain.ok() || !folded.ok()) return "";
    for (int round = 0; round < 2; ++round) {
      const auto inputs = inputs_of(*plain, round == 0, rng);
      const auto want = test::run_copy(*plain, inputs, "reference");
      for (const char* backend : {"reference", "portable"}) {
        const auto got = test::run_copy(*folded, inputs, backend);
        const bool moves = form.gather || form.body == "%b";
        const bool same = moves || !got.ok() || !want.ok() ? test::is_same_bytes(got, want) : test::difference(got, want).empty();
        EXPECT_TRUE(same) << name(policy) << " on " << backend << "\n"
                          << (got.ok() ? "" : got.status().message()) << "\n"
                          << (want.ok() ? "" : want.status().message()) << "\n"
                          << form.text() << print(folded->kernel(0).op);
      }
    }
    const auto left = std::count_if(folded->computes().begin(), folded->computes().end(), [](const Compute& compute) {
      return compute.disposition == ComputeDisposition::interpreted;
    });
    out = print(folded->kernel(0).op) + " left " + std::to_string(left);
  }
  return out;
}

/// A cache [batch, heads, positions, 4] in the order [heads, batch, positions, 4] that the model's scatter has; one position per sequence.
Form append() {
  return {.operand = {2, 3, 5, 4},
          .before = {1, 0, 2, 3},
          .after = {1, 0, 2, 3},
          .between = {1, 0, 2},
          .removed = {2},
          .components = {2},
          .positions = {1},
          .window = {2, 3, 4},
          .at = {0, 1, 3}};
}

TEST(FusionTransposes, ACacheIsUpdatedAsItLies) {
  test::Rng rng(1);
  Form form = append();
  form.between = {1, 0, 2, 3};
  EXPECT_THAT(folded(form, rng),
              HasSubstr("strew1.scatter(operand=f32[3,2,5,4] indices=i32[1,1] updates=f32[3,2,1,4] update_window_dims=[0,1,3] "
                        "inserted_window_dims=[2] scatter_dims_to_operand_dims=[2] index_vector_dim=1"));
  EXPECT_THAT(folded(form, rng), HasSubstr("left 0"));
  form.between = identity(4);  // the updates are in another order than the cache: they are moved, and the cache is not
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[3,2,5,4]"));
  EXPECT_THAT(folded(form, rng), HasSubstr("left 1"));
}

TEST(FusionTransposes, ACacheIsUpdatedInPlace) {
  test::Rng rng(6);
  Form form = append();
  form.between = {1, 0, 2, 3};
  const auto imported = import_mlir_text(form.text());
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  std::vector<std::unique_ptr<Tensor>> inputs;
  for (Tensor& input : inputs_of(*imported, true, rng)) inputs.push_back(std::make_unique<Tensor>(std::move(input)));
  const std::byte* const cache = inputs[0]->data.data();
  Runtime runtime;
  const auto outputs = run_program(runtime, *imported, std::move(inputs), {});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ((*outputs)[0].data.data(), cache) << "the transposes that were merged are no readers of the cache";
}

TEST(FusionTransposes, AResultThatIsNotTransposedBackStays) {
  test::Rng rng(2);
  Form form = append();
  form.between = {1, 0, 2, 3};
  form.after = identity(4);
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[2,3,5,4]"));
  form.after = {0, 2, 1, 3};
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[2,3,5,4]"));
}

TEST(FusionTransposes, UpdatesAlone) {
  test::Rng rng(3);
  Form form{.operand = {7, 4},
            .before = {0, 1},
            .after = {0, 1},
            .between = {1, 0},
            .removed = {0},
            .components = {0},
            .positions = {5},
            .window = {4},
            .at = {1},
            .body = "add"};
  EXPECT_THAT(folded(form, rng), HasSubstr("updates=f32[4,5] update_window_dims=[0]"));
  // Positions in another order would be visited in another order.
  form = {.operand = {7},
          .before = {0},
          .after = {0},
          .between = {1, 0},
          .removed = {0},
          .components = {0},
          .positions = {5, 3},
          .window = {},
          .at = {},
          .body = "add"};
  EXPECT_THAT(folded(form, rng), HasSubstr("updates=f32[5,3]"));
}

TEST(FusionTransposes, GathersOnBothSides) {
  test::Rng rng(4);
  // x[3,7] read as [7,3], rows gathered, transposed back: columns of x.
  Form form{.gather = true,
            .operand = {7, 3},
            .before = {1, 0},
            .after = {1, 0},
            .between = {0, 1},
            .removed = {0},
            .components = {0},
            .positions = {5},
            .window = {3},
            .at = {1}};
  EXPECT_THAT(folded(form, rng),
              HasSubstr("operand=f32[3,7] indices=i32[5,1] result=f32[3,5] offset_dims=[0] collapsed_slice_dims=[1]"));
  EXPECT_THAT(folded(form, rng), HasSubstr("left 0"));
  form.after = {0, 1};
  EXPECT_THAT(folded(form, rng),
              HasSubstr("operand=f32[3,7] indices=i32[5,1] result=f32[5,3] offset_dims=[1] collapsed_slice_dims=[1]"));
  form.positions = {9};  // more rows than the table has: rows of the transpose are faster than columns
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[7,3]"));
}

/// What no order of dims says: positions or dims of the window are exchanged. The indices, or the operand, are transposed instead if they are smaller.
TEST(FusionTransposes, GathersThatTurn) {
  test::Rng rng(7);
  Form form{.gather = true,
            .operand = {7, 2, 3},
            .before = {0, 1, 2},
            .after = {1, 0, 2, 3},
            .between = {0, 1, 2},
            .removed = {0},
            .components = {0},
            .positions = {5, 4},
            .window = {2, 3},
            .at = {2, 3}};
  // The last policy that folded() tries is clamp, which reports no index.
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[7,2,3] indices=i32[4,5,1] result=f32[4,5,2,3] offset_dims=[2,3]"));
  form.after = {0, 1, 3, 2};
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[7,3,2] indices=i32[5,4,1] result=f32[5,4,3,2] offset_dims=[2,3]"));
  form.after = {3, 1, 2, 0};
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[7,3,2] indices=i32[4,5,1] result=f32[3,4,2,5] offset_dims=[0,2]"));
  form.operand = {70, 2, 3};  // as many elements as it takes to move rather the rows
  EXPECT_THAT(folded(form, rng), HasSubstr("operand=f32[70,2,3] indices=i32[5,4,1] result=f32[5,4,2,3]"));
}

TEST(FusionTransposes, AnErrorNamesThePositionOfTheFile) {
  Form form{.gather = true,
            .operand = {7, 3},
            .before = {0, 1},
            .after = {1, 0, 2},
            .between = {0, 1, 2},
            .removed = {0},
            .components = {0},
            .positions = {5, 4},
            .window = {3},
            .at = {2}};
  ImportOptions options;
  options.gather_oob = OobPolicy::error;
  const auto program = import_mlir_text(form.text(), options);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_THAT(print(program->kernel(0).op), HasSubstr("indices=i32[5,4,1] result=f32[5,4,3]"));
  EXPECT_THAT(program->kernel(0).notes, testing::Contains(HasSubstr("positions would be exchanged")));
}

Dims random_order(size_t rank, test::Rng& rng) {
  Dims out = identity(rank);
  if (rng.below(4) != 0) rng.shuffle(out);
  return out;
}

TEST(FusionTransposes, RandomForms) {
  test::Rng rng(5);
  int fewer = 0;
  for (int round = 0; round < 80; ++round) {
    Form form;
    form.gather = rng.below(3) == 0;
    const auto rank = static_cast<size_t>(rng.between(2, 4));
    for (size_t d = 0; d < rank; ++d) {
      const auto dim = static_cast<int64_t>(d);
      const int64_t kind = d == 0 ? 0 : rng.below(5);
      form.operand.push_back(rng.between(2, 4));
      if (kind == 0) form.removed.push_back(dim);
      if (kind == 1) form.batching.push_back(dim);
      if (kind == 0) form.components.push_back(dim);
      if (kind < 2) continue;
      form.window.push_back(rng.between(1, form.operand.back()));
      if (kind == 2) form.components.push_back(dim);
    }
    rng.shuffle(form.components);
    const Dims to = random_order(rank, rng), from = form.operand;
    for (const int64_t d : form.batching) form.positions.push_back(form.operand[static_cast<size_t>(d)]);
    for (int64_t more = rng.below(3); more > 0; --more) form.positions.push_back(rng.between(1, 3));
    const size_t slices = form.positions.size() + form.window.size();
    Dims places = identity(slices);
    rng.shuffle(places);
    form.at.assign(places.begin(), places.begin() + static_cast<int64_t>(form.window.size()));
    std::sort(form.at.begin(), form.at.end());
    form.before = to;
    form.between = random_order(slices, rng);
    form.after = form.gather ? random_order(slices, rng) : rng.below(4) != 0 ? inverse(form.before) : random_order(rank, rng);
    form.body = rng.below(2) == 0 ? "%b" : "add";
    const auto moves = [](const Dims& order) { return std::is_sorted(order.begin(), order.end()) ? 0 : 1; };
    const std::string op = folded(form, rng);
    const int left = op.back() - '0', most = moves(form.before) + moves(form.after) + (form.gather ? 0 : moves(form.between));
    EXPECT_LE(left, 3) << op;
    fewer += left < most ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(fewer, 20);
}

}  // namespace
}  // namespace strew
