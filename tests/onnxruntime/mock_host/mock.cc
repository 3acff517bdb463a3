// The tables of the mock host: statuses, options, and functions that end the test. Used by main.cc.
#include "tests/onnxruntime/mock_host/mock.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strew::mock {
namespace {

std::atomic<int64_t> living{0};

/// A table in which every function ends the test.
template <class Table>
Table empty_table() {
  static_assert(sizeof(Table) % sizeof(abi::Unused) == 0);
  std::array<abi::Unused, sizeof(Table) / sizeof(abi::Unused)> functions;
  functions.fill([] { fail("the provider calls a function that no release of ONNX Runtime need have"); });
  return std::bit_cast<Table>(functions);
}

abi::Status* make_status(abi::ErrorCode code, const char* message) {
  count_alive(1);
  return new abi::Status{code, message};
}

abi::Status* read_entry(const abi::SessionOptions* options, const char* key, char* out, size_t* size) {
  const std::string& entry = options->entries.at(key);
  const size_t room = *size;
  *size = entry.size() + 1;
  if (out == nullptr) return nullptr;
  if (room < *size) return make_status(abi::ErrorCode::invalid_argument, "no room");
  std::memcpy(out, entry.c_str(), *size);
  return nullptr;
}

const abi::EpApi& ep_table();

abi::Api make_table() {
  auto api = empty_table<abi::Api>();
  api.CreateStatus = make_status;
  api.GetErrorMessage = [](const abi::Status* status) { return status->message.c_str(); };
  api.ReleaseStatus = [](abi::Status* status) {
    if (status != nullptr) count_alive(-1);
    delete status;
  };
  api.HasSessionConfigEntry = [](const abi::SessionOptions* options, const char* key, int* out) -> abi::Status* {
    *out = options->entries.contains(key) ? 1 : 0;
    return nullptr;
  };
  api.GetSessionConfigEntry = read_entry;
  api.GetEpApi = []() -> const abi::EpApi* { return &ep_table(); };
  api.HardwareDevice_Type = [](const abi::HardwareDevice* device) { return device->kind; };
  add_values(api);
  add_graphs(api);
  auto ignored = empty_table<abi::EpApi>();
  add_kernels(api, ignored);
  return api;
}

abi::EpApi make_ep_table() {
  auto ep = empty_table<abi::EpApi>();
  auto ignored = empty_table<abi::Api>();
  add_kernels(ignored, ep);
  ep.CreateEpDevice = [](abi::EpFactory* factory, const abi::HardwareDevice* device, const abi::KeyValuePairs*,
                         const abi::KeyValuePairs*, abi::EpDevice** out) -> abi::Status* {
    *out = new abi::EpDevice{factory, device};
    return nullptr;
  };
  return ep;
}

const abi::Api& table() {
  static const abi::Api api = make_table();
  return api;
}
const abi::EpApi& ep_table() {
  static const abi::EpApi ep = make_ep_table();
  return ep;
}

}  // namespace

const abi::ApiBase& base() {
  static const abi::ApiBase all{[](uint32_t version) { return version <= abi::kVersion ? &table() : nullptr; },
                                [] { return "1.24.0"; }};
  return all;
}

const abi::ApiBase& old_base() {
  static const abi::ApiBase all{[](uint32_t version) { return version <= 20 ? &table() : nullptr; }, [] { return "1.20.1"; }};
  return all;
}

int64_t alive() { return living.load(); }
void count_alive(int64_t change) { living += change; }

void fail(const std::string& message) {
  std::fprintf(stderr, "FAILED %s\n", message.c_str());
  std::_Exit(1);
}

void check(abi::Status* status) {
  if (status != nullptr) fail(status->message);
}

std::string message_of(abi::Status* status) {
  if (status == nullptr) fail("a success, expected a failure");
  std::string message = status->message;
  table().ReleaseStatus(status);
  return message;
}

size_t bytes_of(abi::ElementType element) {
  if (element == abi::ElementType::f32) return 4;
  if (element == abi::ElementType::i64) return 8;
  fail("the mock host has tensors of f32 and i64 only");
}

size_t elements_of(const std::vector<int64_t>& dims) {
  size_t count = 1;
  for (const int64_t extent : dims) count *= static_cast<size_t>(extent);
  return count;
}

}  // namespace strew::mock
