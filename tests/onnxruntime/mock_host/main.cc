// strew's execution provider in a host that is not ONNX Runtime: a chain of writes, and sums of rows by an expanded index, with and without EPContext nodes. Eight threads call a session while others
// make sessions and end them; parallel loops run on threads of the host or on the caller. Under ThreadSanitizer, too.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "tests/onnxruntime/mock_host/session.h"

extern "C" {
strew::ort::abi::Status* CreateEpFactories(const char* name, const strew::ort::abi::ApiBase* base,
                                           const strew::ort::abi::Logger* logger, strew::ort::abi::EpFactory** out, size_t most,
                                           size_t* count);
strew::ort::abi::Status* ReleaseEpFactory(strew::ort::abi::EpFactory* factory);
int64_t strew_ep_report(const char* session, char* out, size_t size);
}

namespace strew::mock {
namespace {

using abi::ElementType;

constexpr int64_t kRows = 64, kWidth = 16;
constexpr size_t kWrites = 8;

void expect(bool is_right, const std::string& message) {
  if (!is_right) fail(message);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

abi::Node scatter(const char* type, const std::string& name) {
  return {name, type, "", 18, {}, {}, {{"reduction", abi::AttributeType::text, 0, "add"}}, {}, {}};
}

/// A table to which rows are added, one after the other.
Model chain() {
  Model model;
  model.add_value("t0", ElementType::f32, {kRows, kWidth});
  model.add_value("i", ElementType::i64, {1, 1});
  model.add_value("u", ElementType::f32, {1, kWidth});
  for (size_t n = 1; n <= kWrites; ++n) model.add_value("t" + std::to_string(n), ElementType::f32, {kRows, kWidth});
  for (size_t n = 0; n < kWrites; ++n)
    model.add_node(scatter("ScatterND", "write" + std::to_string(n)), {"t" + std::to_string(n), "i", "u"},
                   {"t" + std::to_string(n + 1)});
  model.finish({"t0", "i", "u"}, {"t" + std::to_string(kWrites)});
  return model;
}

/// Two sums of rows by one index, which is expanded once. Between them stands an operator of the host's.
Model sums() {
  Model model;
  const std::vector<float> zeros(static_cast<size_t>(kRows * kWidth));
  model.add_initializer("zeros", make_value(ElementType::f32, {kRows, kWidth}, zeros.data()));
  for (const char* const name : {"x", "sums0", "twice", "sums1"}) model.add_value(name, ElementType::f32, {kRows, kWidth});
  for (const char* const name : {"rows0", "rows1"}) model.add_value(name, ElementType::f32, {-1, kWidth});
  model.add_value("source", ElementType::i64, {-1});
  model.add_value("column", ElementType::i64, {-1, 1});
  model.add_value("shape", ElementType::i64, {2});
  model.add_value("index", ElementType::i64, {-1, kWidth});
  model.add_node({"expand", "Expand", "", 13, {}, {}, {}, {}, {}}, {"column", "shape"}, {"index"});
  for (const std::string n : {"0", "1"}) {
    model.add_node({"look_up" + n, "Gather", "", 13, {}, {}, {}, {}, {}}, {n == "0" ? "x" : "twice", "source"}, {"rows" + n});
    model.add_node(scatter("ScatterElements", "add" + n), {"zeros", "index", "rows" + n}, {"sums" + n});
    if (n == "0") model.add_node({"double", "Twice", "mock", 1, {}, {}, {}, {}, {}}, {"sums0"}, {"twice"});
  }
  model.finish({"x", "source", "column", "shape"}, {"sums1"});
  return model;
}

std::vector<int64_t> draw_indices(std::mt19937_64& random, size_t count) {
  std::vector<int64_t> out(count);
  for (int64_t& each : out) each = static_cast<int64_t>(random() % static_cast<uint64_t>(kRows));
  return out;
}

/// Small integers, whose sums are exact in any order.
std::vector<float> draw_numbers(std::mt19937_64& random, size_t count) {
  std::vector<float> out(count);
  for (float& each : out) each = static_cast<float>(random() % 8);
  return out;
}

struct Case {
  Values inputs;
  std::vector<float> expected;
};

Case chain_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> table = draw_numbers(random, kRows * kWidth);
  const std::vector<float> update = draw_numbers(random, kWidth);
  const int64_t row = draw_indices(random, 1)[0];
  Case out;
  out.inputs["t0"] = make_value(ElementType::f32, {kRows, kWidth}, table.data());
  out.inputs["i"] = make_value(ElementType::i64, {1, 1}, &row);
  out.inputs["u"] = make_value(ElementType::f32, {1, kWidth}, update.data());
  for (size_t c = 0; c < update.size(); ++c)
    table[static_cast<size_t>(row * kWidth) + c] += static_cast<float>(kWrites) * update[c];
  out.expected = table;
  return out;
}

Case sums_case(uint64_t seed) {
  std::mt19937_64 random(seed);
  const size_t edges = random() % 3 == 0 ? 1 : 300;
  std::vector<float> x = draw_numbers(random, kRows * kWidth);
  const std::vector<int64_t> source = draw_indices(random, edges), target = draw_indices(random, edges);
  const std::vector<int64_t> shape = {static_cast<int64_t>(edges), kWidth};
  Case out;
  out.inputs["x"] = make_value(ElementType::f32, {kRows, kWidth}, x.data());
  out.inputs["source"] = make_value(ElementType::i64, {shape[0]}, source.data());
  out.inputs["column"] = make_value(ElementType::i64, {shape[0], 1}, target.data());
  out.inputs["shape"] = make_value(ElementType::i64, {2}, shape.data());
  for (const float factor : {2.0F, 1.0F}) {
    std::vector<float> sum(x.size());
    for (size_t e = 0; e < edges; ++e)
      for (size_t c = 0; c < static_cast<size_t>(kWidth); ++c)
        sum[static_cast<size_t>(target[e] * kWidth) + c] += factor * x[static_cast<size_t>(source[e] * kWidth) + c];
    x = sum;
  }
  out.expected = x;
  return out;
}

void expect_result(const Case& given, const Values& outputs, const std::string& where) {
  const std::vector<std::byte>& data = *outputs.begin()->second.data;
  expect(
      data.size() == given.expected.size() * sizeof(float) && std::memcmp(data.data(), given.expected.data(), data.size()) == 0,
      where + ": the result differs");
}

void call(Session& session, const Case& given, size_t threads, const std::string& where) {
  const Values inputs = given.inputs;
  Values outputs;
  check(session.run(inputs, threads, &outputs));
  expect_result(given, outputs, where);
}

std::string report_of(const std::string& session) {
  std::string text(1 << 14, '\0');
  const int64_t size = strew_ep_report(session.c_str(), text.data(), text.size());
  return size < 0 ? "" : text.substr(0, static_cast<size_t>(size));
}

abi::SessionOptions named(const std::string& name) { return {{{"ep.strewexecutionprovider.session", name}}}; }

void check_versions() {
  abi::EpFactory* factory = nullptr;
  size_t count = 1;
  const std::string message = message_of(CreateEpFactories("strew", &old_base(), nullptr, &factory, 1, &count));
  expect(has(message, "ONNX Runtime is 1.20.1, expected ONNX Runtime 1.24 or later") && count == 0, "an old host: " + message);
  expect(has(message_of(CreateEpFactories("strew", &base(), nullptr, &factory, 0, &count)), "no room for a provider factory"),
         "no room");
}

void check_devices(abi::EpFactory* factory) {
  const abi::HardwareDevice cpu{abi::DeviceKind::cpu}, other{static_cast<abi::DeviceKind>(1)};
  const abi::HardwareDevice* const devices[] = {&other, &cpu};
  abi::EpDevice* found[2] = {};
  size_t count = 0;
  check(factory->GetSupportedDevices(factory, devices, 2, found, 2, &count));
  expect(count == 1 && found[0]->device == &cpu,
         "the provider takes " + std::to_string(count) + " devices, expected the CPU alone");
  delete found[0];
}

void check_chain(abi::EpFactory* factory) {
  const Model model = chain();
  Session session(factory, model, named("chain"));
  const Case given = chain_case(1);
  for (int n = 0; n < 3; ++n) call(session, given, 1, "a chain of writes");
  // The first write copies the input; the others write where the values lie.
  expect(has(report_of("chain"), "\"in_place\": 21, \"copied\": 3"), "a chain of writes: " + report_of("chain"));
  Case bad = given;
  const int64_t row = kRows;
  bad.inputs["i"] = make_value(ElementType::i64, {1, 1}, &row);
  const std::vector<std::byte> before = *bad.inputs["t0"].data;
  Values outputs;
  const std::string message = message_of(session.run(bad.inputs, 1, &outputs));
  expect(has(message, "strew: ") && has(message, "64"), "a bad index: " + message);
  expect(*bad.inputs["t0"].data == before && outputs.empty(), "a bad index: something was written");
  call(session, given, 3, "a chain of writes after an error");
}

void check_sums(abi::EpFactory* factory) {
  const Model model = sums();
  abi::SessionOptions options = named("sums");
  options.entries["ep.context_enable"] = "1";
  Session session(factory, model, options);
  expect(session.fused_count() == 3, "sums: " + report_of("sums"));
  const Model compiled = session.compiled();
  Session loaded(factory, compiled, named("compiled"));
  expect(loaded.fused_count() == 3 && has(report_of("compiled"), "it stands for: Gather, ScatterElements"),
         "compiled: " + report_of("compiled"));
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const size_t threads : {1, 3}) {
      call(session, sums_case(seed), threads, "sums");
      call(loaded, sums_case(seed), threads, "sums, compiled");
    }
  }
  Case bad = sums_case(1);
  bad.inputs["source"].data = std::make_shared<std::vector<std::byte>>(bad.inputs["source"].data->size(), std::byte{0x7F});
  Values outputs;
  expect(has(message_of(loaded.run(bad.inputs, 1, &outputs)), "strew: group"), "sums with a bad index");
}

/// Threads that call sessions, while others make sessions and end them, and read reports.
void check_threads(abi::EpFactory* factory, int calls) {
  const Model written = chain(), added = sums();
  abi::SessionOptions options = named("shared sums");
  options.entries["ep.context_enable"] = "1";
  Session first(factory, written, named("shared chain")), second(factory, added, options);
  const Model compiled = second.compiled();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < calls; ++n) {
        const uint64_t seed = t * 1000 + static_cast<uint64_t>(n);
        call(first, chain_case(seed), 1 + t % 2 * 2, "a chain on eight threads, case " + std::to_string(seed));
        call(second, sums_case(seed), 1 + t % 2 * 2, "sums on eight threads, case " + std::to_string(seed));
      }
    });
  for (const Model* const model : {&written, &compiled})
    threads.emplace_back([&, model] {
      for (int n = 0; n < calls; ++n) {
        Session session(factory, *model, named("coming and going"));
        const uint64_t seed = static_cast<uint64_t>(n);
        call(session, model == &written ? chain_case(seed) : sums_case(seed), 3, "a session that ends");
      }
    });
  for (int n = 0; n < calls; ++n) {
    expect(has(report_of("shared chain"), "\"operator\": \"ScatterND\", \"runs\": \"strew\""), "a report while others run");
    const std::string report = report_of("coming and going");  // of a session that begins, runs or ends, or of none
    expect(report.empty() || has(report, "\"in_place\": "), "a report of a session that ends: " + report);
  }
  for (std::thread& each : threads) each.join();
  expect(report_of("coming and going").empty(), "a session that has ended has a report");
}

}  // namespace
}  // namespace strew::mock

/// Argument: calls of each thread.
int main(int argc, char** argv) {
  using namespace strew::mock;
  check_versions();
  abi::EpFactory* factory = nullptr;
  size_t count = 0;
  check(CreateEpFactories("strew", &base(), nullptr, &factory, 1, &count));
  expect(count == 1 && std::string(factory->GetName(factory)) == "StrewExecutionProvider", "the provider's name");
  check_devices(factory);
  check_chain(factory);
  check_sums(factory);
  check_threads(factory, argc > 1 ? std::atoi(argv[1]) : 40);
  check(ReleaseEpFactory(factory));
  expect(alive() == 0, std::to_string(alive()) + " objects of the host are not released");
  std::puts("mock host: all right");
  return 0;
}
