// One layer of a graph convolution, forward and backward, without a tensor of messages (docs/fusion.md).
//
// Forward, over the edges e: h[to[e]] += x[from[e]] * weight[e], then z = relu(h * W). Backward from the loss, half the sum of z * z: the gradient
// with respect to h by plain loops, and from it the one with respect to x, which is the transposed op,
// dx[from[e]] += dh[to[e]] * weight[e]. Every extent but the width is open in the op, so one kernel does both. The gradient with respect to the
// weights is another op, dweight[e] = dot(dh[to[e]], x[from[e]]) (sddmm).
//
// Run by ctest as example_gcn: it exits 1 when h or dx differs from plain loops in a bit, when a gradient is far from finite differences of the loss, or
// when an edge to a node that does not exist is not refused.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "strew/strew.hpp"

namespace {

constexpr int64_t kNodes = 2000, kRandomEdges = 16000, kWidth = 32, kOut = 8;

/// Messages go along edges in the order in which they are listed here.
struct Graph {
  std::vector<int32_t> to, from;
  std::vector<float> weight;
  int64_t edges() const { return static_cast<int64_t>(to.size()); }
};

/// Random edges, and one from every node to itself. They have a direction, so the transposed op is another than the op. A weight is
/// 1 / sqrt(edges into `to` * edges out of `from`).
Graph make_graph(std::mt19937& random) {
  Graph graph;
  const auto connect = [&](int64_t to, int64_t from) {
    graph.to.push_back(static_cast<int32_t>(to));
    graph.from.push_back(static_cast<int32_t>(from));
  };
  for (int64_t i = 0; i < kRandomEdges; ++i) {
    const int64_t to = random() % kNodes;
    connect(to, random() % kNodes);
  }
  for (int64_t node = 0; node < kNodes; ++node) connect(node, node);
  std::vector<float> in(kNodes), out(kNodes);
  for (const int32_t node : graph.to) in[static_cast<size_t>(node)] += 1;
  for (const int32_t node : graph.from) out[static_cast<size_t>(node)] += 1;
  for (size_t e = 0; e < graph.to.size(); ++e)
    graph.weight.push_back(1 / std::sqrt(in[static_cast<size_t>(graph.to[e])] * out[static_cast<size_t>(graph.from[e])]));
  return graph;
}

/// result[to[e], w] += table[from[e], w] * weight[e], starting from 0. Tensors: result, to, table, weight, from.
strew::Expected<strew::Scatter> messages_op() {
  using namespace strew::types;
  constexpr int64_t kOpen = strew::kDynamic;
  strew::ExprBuilder e;
  const int32_t row = e.update(0, strew::DType::f32), weight = e.extra(0, strew::DType::f32);
  const int32_t message = e.mul(row, weight), sum = e.current(0, strew::DType::f32);
  return strew::scatter_rows(f32({kOpen, kWidth}), i32({kOpen}), f32({kOpen, kWidth}))
      .look_up(strew::Role::updates, 0, strew::gather_rows(f32({kOpen, kWidth}), i32({kOpen})).oob(strew::OobPolicy::error))
      .extra(strew::ExtraKind::per_position, f32({kOpen}))
      .combine(e.returns({e.add(sum, message)}))
      .fill({strew::Scalar::of(0.0F)})
      .oob(strew::OobPolicy::error)
      .build();
}

/// The dot products of rows `to` of `left` and rows `from` of `right`. Tensors: result, no indices, left, right, to, from. The result has a stride of 0
/// along the rows, so it holds one number per edge.
strew::Status dots(const Graph& graph, const std::vector<float>& left, const std::vector<float>& right,
                   std::vector<float>& result) {
  using namespace strew::types;
  const int64_t count = graph.edges(), rows[] = {kNodes, kWidth}, edges[] = {count}, made[] = {count, kWidth}, strides[] = {1, 0},
                none[] = {count, 0};
  const strew::TensorType table = f32({kNodes, kWidth}), ids = i32({count});
  const strew::Expected<strew::Scatter> op = strew::sddmm(table, ids, table, ids).build();
  if (!op.ok()) return op.status();
  const strew::Expected<strew::Kernel> kernel = strew::Runtime::process().get(*op);
  if (!kernel.ok()) return kernel.status();
  result.resize(graph.to.size());
  const std::vector<strew::TensorView> tensors{{result.data(), made, strides},
                                               {static_cast<int32_t*>(nullptr), none},
                                               {left.data(), rows},
                                               {right.data(), rows},
                                               {graph.to.data(), edges},
                                               {graph.from.data(), edges}};
  return kernel->run(tensors);
}

/// One pass of strew's kernel.
strew::Status pass(const strew::Kernel& kernel, std::vector<float>& result, const std::vector<int32_t>& to,
                   const std::vector<float>& table, const std::vector<float>& weight, const std::vector<int32_t>& from) {
  const int64_t rows[] = {kNodes, kWidth}, edges[] = {static_cast<int64_t>(to.size())};
  const std::vector<strew::TensorView> tensors{
      {result.data(), rows}, {to.data(), edges}, {table.data(), rows}, {weight.data(), edges}, {from.data(), edges}};
  return kernel.run(tensors);
}

/// What `pass` does as plain loops, in the type T of the table and the weights.
template <class T>
std::vector<T> plain(const std::vector<int32_t>& to, const std::vector<T>& table, const std::vector<T>& weight,
                     const std::vector<int32_t>& from) {
  std::vector<T> result(table.size());
  for (size_t e = 0; e < to.size(); ++e)
    for (int64_t w = 0; w < kWidth; ++w) {
      const T message = table[static_cast<size_t>(from[e] * kWidth + w)] * weight[e];
      result[static_cast<size_t>(to[e] * kWidth + w)] += message;
    }
  return result;
}

/// relu(h * W), for W [kWidth, kOut].
template <class T>
std::vector<T> dense(const std::vector<T>& h, const std::vector<float>& product) {
  std::vector<T> z(kNodes * kOut);
  for (int64_t n = 0; n < kNodes; ++n)
    for (int64_t o = 0; o < kOut; ++o) {
      T sum = 0;
      for (int64_t w = 0; w < kWidth; ++w)
        sum += h[static_cast<size_t>(n * kWidth + w)] * static_cast<T>(product[static_cast<size_t>(w * kOut + o)]);
      z[static_cast<size_t>(n * kOut + o)] = sum > 0 ? sum : 0;
    }
  return z;
}

/// The gradient of the loss with respect to h: that with respect to z is z itself, which is 0 where relu cut.
std::vector<float> dense_backward(const std::vector<float>& z, const std::vector<float>& product) {
  std::vector<float> dh(kNodes * kWidth);
  for (int64_t n = 0; n < kNodes; ++n)
    for (int64_t w = 0; w < kWidth; ++w)
      for (int64_t o = 0; o < kOut; ++o)
        dh[static_cast<size_t>(n * kWidth + w)] +=
            z[static_cast<size_t>(n * kOut + o)] * product[static_cast<size_t>(w * kOut + o)];
  return dh;
}

double loss(const Graph& graph, const std::vector<double>& x, const std::vector<double>& weight,
            const std::vector<float>& product) {
  double sum = 0;
  for (const double each : dense(plain(graph.to, x, weight, graph.from), product)) sum += each * each / 2;
  return sum;
}

/// The largest distance between some elements of the gradient with respect to `values`, which are one of the arguments of `loss_now`, and central
/// differences of the loss in f64, relative to the largest of these elements.
template <class Loss>
double distance_from_differences(std::vector<double>& values, const std::vector<float>& gradient, const Loss& loss_now) {
  constexpr double kStep = 1e-4;
  double largest = 0, distance = 0;
  for (size_t i = 0; i < values.size(); i += values.size() / 16 + 1) {
    const double middle = values[i];
    values[i] = middle + kStep;
    const double above = loss_now();
    values[i] = middle - kStep;
    const double below = loss_now();
    values[i] = middle;
    largest = std::max(largest, std::abs(static_cast<double>(gradient[i])));
    distance = std::max(distance, std::abs((above - below) / (2 * kStep) - static_cast<double>(gradient[i])));
  }
  return distance / largest;
}

bool same_bits(const char* what, const std::vector<float>& a, const std::vector<float>& b) {
  const bool same = std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  std::printf("%s: %s plain loops, bit for bit\n", what, same ? "equal to" : "DIFFERS FROM");
  return same;
}

int failed(const strew::Status& status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main() {
  const strew::Expected<strew::Scatter> op = messages_op();
  if (!op.ok()) return failed(op.status());
  const strew::Expected<strew::Kernel> kernel = strew::Runtime::process().get(*op);
  if (!kernel.ok()) return failed(kernel.status());

  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Graph graph = make_graph(random);
  std::vector<float> x(kNodes * kWidth), product(kWidth * kOut), h(x.size()), dx(x.size()), dweight;
  for (float& each : x) each = uniform(random);
  for (float& each : product) each = uniform(random);

  if (const strew::Status status = pass(*kernel, h, graph.to, x, graph.weight, graph.from); !status.ok()) return failed(status);
  const std::vector<float> dh = dense_backward(dense(h, product), product);
  if (const strew::Status status = pass(*kernel, dx, graph.from, dh, graph.weight, graph.to); !status.ok()) return failed(status);

  bool right = same_bits("forward, h", h, plain(graph.to, x, graph.weight, graph.from));
  right &= same_bits("backward, the gradient with respect to x", dx, plain(graph.from, dh, graph.weight, graph.to));
  if (const strew::Status status = dots(graph, dh, x, dweight); !status.ok()) return failed(status);
  std::vector<double> wide_x(x.begin(), x.end()), wide_weight(graph.weight.begin(), graph.weight.end());
  const auto loss_now = [&] { return loss(graph, wide_x, wide_weight, product); };
  const double of_x = distance_from_differences(wide_x, dx, loss_now),
               of_weight = distance_from_differences(wide_weight, dweight, loss_now);
  std::printf(
      "finite differences of the loss: within %.1e of the gradient with respect to x, %.1e of that with respect to the weights\n",
      of_x, of_weight);
  right &= of_x < 1e-3 && of_weight < 1e-3;
  std::printf("%lld edges, rows of %lld f32: a tensor of messages would have %.1f MB, in each direction; none was made\n",
              static_cast<long long>(graph.edges()), static_cast<long long>(kWidth),
              static_cast<double>(graph.edges() * kWidth) * sizeof(float) / 1e6);

  graph.from[3] = kNodes;  // an edge from a node that does not exist: the call says which, and writes nothing
  const std::vector<float> before = h;
  const strew::Status refused = pass(*kernel, h, graph.to, x, graph.weight, graph.from);
  std::printf("with a bad edge: %s\n", refused.message().c_str());
  right &= refused.code() == strew::Code::out_of_bounds && h == before;
  return right ? 0 : 1;
}
