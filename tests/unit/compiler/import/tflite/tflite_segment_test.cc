// TensorFlow Lite's indexed operators whose results have extents that are known at the call: segment reductions, SCATTER_ND with a computed
// shape, SPARSE_TO_DENSE; and EMBEDDING_LOOKUP. What LiteRT accepts and refuses here was tried with its interpreter (tests/models,
// tests/oracle/litert_models.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/import/tflite/tflite.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/tflite_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using T = TfliteType;
using C = TfliteCode;

template <class V>
std::unique_ptr<Tensor> tensor(DType dtype, std::vector<int64_t> dims, std::vector<V> values) {
  auto out = std::make_unique<Tensor>(std::move(make_tensor(dtype, std::move(dims)).value()));
  EXPECT_EQ(out->data.size(), static_cast<int64_t>(values.size() * sizeof(V)));
  if (!values.empty()) std::memcpy(out->data.data(), values.data(), values.size() * sizeof(V));
  return out;
}
std::unique_ptr<Tensor> floats(std::vector<int64_t> dims, std::vector<float> values) {
  return tensor<float>(DType::f32, std::move(dims), std::move(values));
}
std::unique_ptr<Tensor> ints(std::vector<int64_t> dims, std::vector<int32_t> values) {
  return tensor<int32_t>(DType::i32, std::move(dims), std::move(values));
}

Program import_good(const TfliteModel& model) {
  Expected<Program> out = tflite::import_model(model.bytes(), "m.tflite", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Program();
}

template <class... In>
Expected<std::vector<Tensor>> run(const Program& imported, In... inputs) {
  std::vector<std::unique_ptr<Tensor>> all;
  (all.push_back(std::move(inputs)), ...);
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  return run_program(runtime, imported, std::move(all), options);
}

template <class V = float>
std::vector<V> values_of(const Expected<std::vector<Tensor>>& results) {
  EXPECT_TRUE(results.ok()) << results.status().message();
  if (!results.ok()) return {};
  std::vector<V> out(static_cast<size_t>((*results)[0].data.size()) / sizeof(V));
  if (!out.empty()) std::memcpy(out.data(), (*results)[0].data.data(), out.size() * sizeof(V));
  return out;
}

std::string message_of(const TfliteModel& model) {
  const Expected<Program> out = tflite::import_model(model.bytes(), "m.tflite", {});
  return out.ok() ? "imported" : out.status().message();
}

TfliteTensor open(TfliteTensor tensor) {
  tensor.signature.assign(tensor.shape.size(), -1);
  return tensor;
}

TfliteModel segment_sum_model() {
  return operator_model(C::SEGMENT_SUM,
                        {open(tflite_tensor("data", T::FLOAT32, {1, 1})), open(tflite_tensor("ids", T::INT32, {1})),
                         open(tflite_tensor("out", T::FLOAT32, {1, 1}))});
}

TEST(TfliteSegment, TheLastIdGivesTheRows) {
  const Program m = import_good(segment_sum_model());
  ASSERT_EQ(m.kernels().size(), 1u);
  const auto& scatter = std::get<Scatter>(*m.kernel(0).op);
  EXPECT_EQ(print(scatter.results[0]), "f32[?,?]");
  EXPECT_TRUE(scatter.indices_are_sorted);
  EXPECT_EQ(scatter.oob, OobPolicy::error);
  EXPECT_NE(m.kernel(0).find(ArgumentUse::result_shape), nullptr);
  const auto out = run(m, floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), ints({4}, {0, 0, 1, 2}));
  EXPECT_THAT(values_of(out), ElementsAre(4, 6, 5, 6, 7, 8));
  EXPECT_THAT((*out)[0].dims, ElementsAre(3, 2));
  const auto empty = run(m, floats({0, 2}, {}), ints({0}, {}));
  EXPECT_THAT(values_of(empty), IsEmpty());
  EXPECT_THAT((*empty)[0].dims, ElementsAre(0, 2));
}

/// LiteRT: the first id is 0, and each is the one before or 1 more.
TEST(TfliteSegment, IdsAreSortedWithoutGaps) {
  const Program m = import_good(segment_sum_model());
  for (const std::vector<int32_t>& ids :
       {std::vector<int32_t>{0, 1, 0}, {0, 2, 2}, {1, 1, 1}, {-1, 0, 0}, {-1, -1, -1}, {0, 1, -1}}) {
    const auto out = run(m, floats({3, 1}, {1, 2, 3}), ints({3}, ids));
    ASSERT_FALSE(out.ok()) << ids[0] << ids[1] << ids[2];
    EXPECT_THAT(out.status().message(), HasSubstr("m.tflite: operator 0 (SEGMENT_SUM): "));
  }
  const auto out = run(m, floats({3, 1}, {1, 2, 3}), ints({3}, {0, 2, 2}));
  EXPECT_THAT(out.status().message(),
              HasSubstr("the number of segment ids that are neither the one before nor 1 more (the first: 0) is 1, expected 0"));
}

TEST(TfliteSegment, ConstantIdsGiveAStaticResult) {
  TfliteModel model = operator_model(
      C::SEGMENT_SUM, {tflite_tensor("data", T::INT32, {4}), tflite_tensor("ids", T::INT32, {4}, bytes_of<int32_t>({0, 1, 1, 1})),
                       open(tflite_tensor("out", T::INT32, {1}))});
  const Program m = import_good(model);
  EXPECT_EQ(print(std::get<Scatter>(*m.kernels().at(0).op).results[0]), "i32[2]");
  EXPECT_EQ(m.kernel(0).find(ArgumentUse::result_shape), nullptr);
  EXPECT_THAT(test::arguments_for(m.kernel(0), ArgumentUse::equal_scalars), IsEmpty());
  EXPECT_THAT(values_of<int32_t>(run(m, ints({4}, {1, 2, 3, 4}))), ElementsAre(1, 9));
  model.tensor(1).data = bytes_of<int32_t>({0, 2, 2, 2});
  EXPECT_THAT(message_of(model), HasSubstr("operator 0 (SEGMENT_SUM): the number of segment ids"));
}

TEST(TfliteSegment, SegmentSumRefuses) {
  TfliteModel model = segment_sum_model();
  model.tensor(1).type = T::FLOAT32;
  EXPECT_EQ(message_of(model), "m.tflite: operator 0 (SEGMENT_SUM): segment_ids has element type f32, expected i32 or i64");
  model = segment_sum_model();
  model.tensor(1) = tflite_tensor("ids", T::INT32, {1, 1});
  EXPECT_EQ(message_of(model), "m.tflite: operator 0 (SEGMENT_SUM): segment_ids has rank 2, expected 1");
  model = segment_sum_model();
  model.tensor(0).quantized = true;
  EXPECT_THAT(message_of(model), HasSubstr("its tensors are quantized"));
}

TfliteModel unsorted_model(C code, T type, bool is_count_known) {
  return operator_model(code, {tflite_tensor("data", type, {4, 2}), tflite_tensor("ids", T::INT32, {4}),
                               tflite_tensor("count", T::INT32, {}, is_count_known ? bytes_of<int32_t>({3}) : ""),
                               is_count_known ? tflite_tensor("out", type, {3, 2}) : open(tflite_tensor("out", type, {1, 1}))});
}

TEST(TfliteSegment, UnsortedReductions) {
  struct Row {
    C code;
    CombinerKind kind;
    std::vector<int32_t> result;
  };
  constexpr int32_t kLeast = INT32_MIN, kMost = INT32_MAX;
  const Row rows[] = {{C::UNSORTED_SEGMENT_SUM, CombinerKind::add, {1, 2, 0, 0, 12, 14}},
                      {C::UNSORTED_SEGMENT_PROD, CombinerKind::mul, {1, 2, 1, 1, 35, 48}},
                      {C::UNSORTED_SEGMENT_MAX, CombinerKind::max, {1, 2, kLeast, kLeast, 7, 8}},
                      {C::UNSORTED_SEGMENT_MIN, CombinerKind::min, {1, 2, kMost, kMost, 5, 6}}};
  for (const Row& row : rows) {
    for (const bool is_count_known : {true, false}) {
      const Program m = import_good(unsorted_model(row.code, T::INT32, is_count_known));
      ASSERT_EQ(m.kernels().size(), 1u);
      EXPECT_EQ(std::get<Scatter>(*m.kernel(0).op).combiner, row.kind);
      EXPECT_EQ(m.kernel(0).find(ArgumentUse::result_shape) != nullptr, !is_count_known);
      // Negative ids are left out.
      auto data = ints({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
      auto ids = ints({4}, {0, -1, 2, 2});
      const auto out =
          is_count_known ? run(m, std::move(data), std::move(ids)) : run(m, std::move(data), std::move(ids), ints({}, {3}));
      EXPECT_EQ(values_of<int32_t>(out), row.result);
    }
  }
}

TEST(TfliteSegment, EmptySegmentsOfFloatsAreFinite) {
  const Program m = import_good(unsorted_model(C::UNSORTED_SEGMENT_MAX, T::FLOAT32, true));
  const auto out = run(m, floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), ints({4}, {0, 0, 0, 0}));
  const float least = -3.402823466e38F;
  EXPECT_THAT(values_of(out), ElementsAre(7, 8, least, least, least, least));
}

TEST(TfliteSegment, IdsBeyondTheSegmentsAreErrors) {
  const Program m = import_good(unsorted_model(C::UNSORTED_SEGMENT_SUM, T::FLOAT32, true));
  const auto out = run(m, floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), ints({4}, {0, 3, 0, 4}));
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.status().message(),
              HasSubstr("the number of segment ids that are not less than num_segments is 2, expected 0"));
}

TEST(TfliteSegment, UnsortedRefuses) {
  TfliteModel model = unsorted_model(C::UNSORTED_SEGMENT_SUM, T::FLOAT32, false);
  model.tensor(2).shape = {2};
  EXPECT_THAT(message_of(model), HasSubstr("operator 0 (UNSORTED_SEGMENT_SUM): num_segments: "));
  model = unsorted_model(C::UNSORTED_SEGMENT_SUM, T::FLOAT32, true);
  model.tensor(2).data = bytes_of<int32_t>({-3});
  EXPECT_NE(message_of(model), "imported");
  model = unsorted_model(C::UNSORTED_SEGMENT_SUM, T::FLOAT32, true);
  model.tensor(1).shape = {4, 2, 1};
  EXPECT_THAT(message_of(model), HasSubstr("segment_ids has rank 3, expected at most data's 2"));
  EXPECT_NE(message_of(unsorted_model(C::UNSORTED_SEGMENT_MAX, T::BOOL, true)), "imported");
}

TfliteModel computed_shape_model() {
  TfliteModel model = scatter_nd_model();
  model.tensor(2).data.clear();
  model.graphs[0].inputs = {0, 1, 2};
  model.tensor(3).signature = {-1, -1};
  return model;
}

TEST(TfliteScatterNd, AComputedShape) {
  const Program m = import_good(computed_shape_model());
  EXPECT_EQ(print(std::get<Scatter>(*m.kernels().at(0).op).results[0]), "f32[?,2]") << "the window's extent is that of updates";
  const auto indices = [] { return ints({3, 1}, {1, 0, 1}); };
  const auto updates = [] { return floats({3, 2}, {1, 2, 3, 4, 5, 6}); };
  const auto out = run(m, indices(), updates(), ints({2}, {3, 2}));
  EXPECT_THAT(values_of(out), ElementsAre(3, 4, 6, 8, 0, 0));
  EXPECT_THAT((*out)[0].dims, ElementsAre(3, 2));
  const auto wide = run(m, indices(), updates(), ints({2}, {3, 4}));
  ASSERT_FALSE(wide.ok());
  EXPECT_THAT(wide.status().message(), HasSubstr("the result's shape has 4 in dim 1, expected 2"));
  const auto negative = run(m, indices(), updates(), ints({2}, {-1, 2}));
  ASSERT_FALSE(negative.ok());
  EXPECT_THAT(negative.status().message(), HasSubstr("the result's shape has -1 in dim 0, expected 0 or more"));
}

TEST(TfliteScatterNd, AComputedShapeAndOpenUpdates) {
  TfliteModel model = computed_shape_model();
  model.tensor(1).signature = {-1, -1};
  const Program m = import_good(model);
  EXPECT_EQ(print(std::get<Scatter>(*m.kernels().at(0).op).results[0]), "f32[?,?]");
  EXPECT_THAT(values_of(run(m, ints({3, 1}, {1, 0, 1}), floats({3, 1}, {1, 2, 3}), ints({2}, {2, 1}))), ElementsAre(2, 4));
  const auto wide = run(m, ints({3, 1}, {1, 0, 1}), floats({3, 1}, {1, 2, 3}), ints({2}, {2, 5}));
  ASSERT_FALSE(wide.ok());
  EXPECT_THAT(wide.status().message(), HasSubstr("element 1 of shape is 5, expected 1, dim 1 of updates"));
}

TEST(TfliteScatterNd, ACutKernelKeepsItsShape) {
  const Program m = cut_kernel(import_good(computed_shape_model()), 0);
  ASSERT_EQ(m.inputs().size(), 3u);
  EXPECT_THAT(values_of(run(m, ints({3, 1}, {1, 0, 1}), floats({3, 2}, {1, 2, 3, 4, 5, 6}), ints({2}, {2, 2}))),
              ElementsAre(3, 4, 6, 8));
}

TfliteModel sparse_model(std::vector<int32_t> indices, std::vector<int32_t> values, bool is_default_known) {
  return operator_model(
      C::SPARSE_TO_DENSE,
      {tflite_tensor("indices", T::INT32, std::move(indices)), tflite_tensor("shape", T::INT32, {2}, bytes_of<int32_t>({2, 3})),
       tflite_tensor("values", T::FLOAT32, std::move(values)),
       tflite_tensor("default", T::FLOAT32, {}, is_default_known ? bytes_of<float>({9}) : ""),
       tflite_tensor("out", T::FLOAT32, {2, 3})});
}

TEST(TfliteSparseToDense, WritesValuesIntoTheDefault) {
  const Program m = import_good(sparse_model({2, 2}, {2}, true));
  EXPECT_EQ(std::get<Scatter>(*m.kernels().at(0).op).init, InitKind::fill);
  EXPECT_THAT(values_of(run(m, ints({2, 2}, {0, 1, 1, 2}), floats({2}, {5, 6}))), ElementsAre(9, 5, 9, 9, 9, 6));
  const Program computed = import_good(sparse_model({2, 2}, {2}, false));
  EXPECT_THAT(values_of(run(computed, ints({2, 2}, {0, 1, 1, 2}), floats({2}, {5, 6}), floats({}, {7}))),
              ElementsAre(7, 5, 7, 7, 7, 6));
  const Program one = import_good(sparse_model({2, 2}, {}, true));
  EXPECT_THAT(values_of(run(one, ints({2, 2}, {0, 1, 1, 2}), floats({}, {5}))), ElementsAre(9, 5, 9, 9, 9, 5));
  const auto outside = run(m, ints({2, 2}, {0, 3, 1, 2}), floats({2}, {5, 6}));
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.status().code(), Code::out_of_bounds);
}

TEST(TfliteSparseToDense, Lists) {
  TfliteModel model = sparse_model({2}, {2}, true);
  model.tensor(1) = tflite_tensor("shape", T::INT32, {1}, bytes_of<int32_t>({4}));
  model.tensor(4).shape = {4};
  EXPECT_THAT(values_of(run(import_good(model), ints({2}, {3, 1}), floats({2}, {5, 6}))), ElementsAre(9, 6, 9, 5));
  model.tensor(0).shape = {};
  model.tensor(2).shape = {};
  EXPECT_THAT(values_of(run(import_good(model), ints({}, {2}), floats({}, {5}))), ElementsAre(9, 9, 5, 9));
  EXPECT_THAT(message_of(sparse_model({2}, {2}, true)), HasSubstr("expected indices [n,2], values [n] or one, and one default"));
}

TEST(TfliteEmbeddingLookup, GathersRows) {
  TfliteModel model =
      operator_model(C::EMBEDDING_LOOKUP, {tflite_tensor("lookup", T::INT32, {2}), tflite_tensor("value", T::FLOAT32, {3, 2}),
                                           tflite_tensor("out", T::FLOAT32, {2, 2})});
  const Program m = import_good(model);
  EXPECT_THAT(values_of(run(m, ints({2}, {2, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6}))), ElementsAre(5, 6, 1, 2));
  const auto outside = run(m, ints({2}, {3, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.status().code(), Code::out_of_bounds);
  model.tensor(1).type = T::INT8;
  EXPECT_THAT(message_of(model), HasSubstr("is declared as f32[2,2], expected what the operator computes: i8[2,2]"));
}

TEST(TfliteSlice, ABeginThatIsComputedIsAGather) {
  const TfliteModel model = operator_model(
      C::SLICE, {tflite_tensor("in", T::FLOAT32, {2, 3}), tflite_tensor("begin", T::INT32, {2}),
                 tflite_tensor("size", T::INT32, {2}, bytes_of<int32_t>({1, 2})), tflite_tensor("out", T::FLOAT32, {1, 2})});
  const Program m = import_good(model);
  EXPECT_THAT(values_of(run(m, floats({2, 3}, {1, 2, 3, 4, 5, 6}), ints({2}, {1, 1}))), ElementsAre(5, 6));
  EXPECT_FALSE(run(m, floats({2, 3}, {1, 2, 3, 4, 5, 6}), ints({2}, {1, 2})).ok());
}

}  // namespace
}  // namespace strew::testing
