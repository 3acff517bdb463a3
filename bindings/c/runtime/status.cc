// Status, dtypes and the log of the C interface (strew/strew_rt.h). Tested by tests/c_api.
#include <iterator>

#include "bindings/c/runtime/handles.h"
#include "strew/dtype.h"
#include "strew/log.h"

namespace strew::inline v0::c_api {
namespace {

static_assert(static_cast<int>(STREW_CODE_RESOURCE_EXHAUSTED) == static_cast<int>(Code::resource_exhausted));
static_assert(static_cast<int>(STREW_DTYPE_COUNT) == kDTypeCount);
#define STREW_DTYPE_IS_SAME(dtype, c, ...) static_assert(static_cast<int>(STREW_##c) == static_cast<int>(DType::dtype));
STREW_DTYPES(STREW_DTYPE_IS_SAME)
#undef STREW_DTYPE_IS_SAME
static_assert(static_cast<int>(STREW_LOG_DUMP) == static_cast<int>(LogLevel::dump) &&
              std::size(kLogLevels) == STREW_LOG_DUMP + 1);

/// Stands for a failure that there was no memory for. It is recognised by its address.
std::byte no_memory[sizeof(strew_failure)];
constexpr const char* kNoMemory = "C interface: out of memory";

/// The caller's sink, which the C++ log calls through pass_on(). Never freed, because another thread may be using it.
struct Sink {
  strew_log_sink function;
  void* context;
};
std::atomic<const Sink*> log_sink{nullptr};

void pass_on(LogLevel level, std::string_view line) {
  if (const Sink* const sink = log_sink.load(std::memory_order_acquire))
    sink->function(sink->context, static_cast<strew_log_level>(level), line.data(), line.size());
}

}  // namespace

strew_status out_of_memory() { return reinterpret_cast<strew_status>(&no_memory); }

}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_code strew_status_code(strew_status status) {
  if (status == nullptr) return STREW_CODE_OK;
  return status == out_of_memory() ? STREW_CODE_RESOURCE_EXHAUSTED : static_cast<strew_code>(status->status.code());
}
const char* strew_status_message(strew_status status) {
  if (status == nullptr) return "";
  return status == out_of_memory() ? kNoMemory : status->status.message().c_str();
}
void strew_status_free(strew_status status) {
  if (status != out_of_memory()) delete status;
}

const char* strew_dtype_name(strew_dtype dtype) {
  const unsigned number = number_of(dtype);
  return number < kDTypeCount ? name(static_cast<DType>(number)).data() : nullptr;
}
int32_t strew_dtype_bits(strew_dtype dtype) {
  const unsigned number = number_of(dtype);
  return number < kDTypeCount ? bits(static_cast<DType>(number)) : 0;
}

strew_status strew_set_log(strew_log_sink sink, void* context, strew_log_level level) {
  return guarded([&]() -> Status {
    const unsigned number = number_of(level);
    if (number > STREW_LOG_DUMP)
      return invalid_argument("level: number " + std::to_string(static_cast<int>(number)) + ", expected 0.." +
                              std::to_string(STREW_LOG_DUMP));
    if (sink != nullptr) log_sink.store(new Sink{sink, context}, std::memory_order_release);
    set_log(sink != nullptr ? pass_on : nullptr, static_cast<LogLevel>(number));
    return {};
  });
}
