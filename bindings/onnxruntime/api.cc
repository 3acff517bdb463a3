#include "bindings/onnxruntime/api.h"

#include <cstdio>
#include <string_view>

namespace strew::ort {
namespace {

/// The oldest version of the interface: enough to say that the runtime is too old.
constexpr uint32_t kOldest = 1;

/// A function at another place than the declarations say may give no text at all.
bool is_text(const char* text, std::string_view expected) { return text != nullptr && text == expected; }

/// Do functions at several places of both tables answer what the declarations say?
bool answers(const abi::Api& api, const abi::EpApi& ep) {
  constexpr const char* kWords = "strew looks whether the interface is as declared";
  abi::Status* const status = api.CreateStatus(abi::ErrorCode::fail, kWords);
  const bool has_words = status != nullptr && is_text(api.GetErrorMessage(status), kWords);
  if (status != nullptr) api.ReleaseStatus(status);
  if (!has_words) return false;
  abi::KernelDefBuilder* made = nullptr;
  if (ep.CreateKernelDefBuilder(&made) != nullptr || made == nullptr) return false;
  const auto release = [&](bool result) {
    ep.ReleaseKernelDefBuilder(made);
    return result;
  };
  const abi::DataType* type = nullptr;
  if (ep.KernelDefBuilder_SetOperatorType(made, "ScatterND") != nullptr || ep.KernelDefBuilder_SetDomain(made, "") != nullptr ||
      ep.KernelDefBuilder_SetSinceVersion(made, 16, 17) != nullptr ||
      ep.KernelDefBuilder_SetExecutionProvider(made, "strew") != nullptr ||
      ep.GetTensorDataType(abi::ElementType::f32, &type) != nullptr ||
      ep.KernelDefBuilder_AddTypeConstraint(made, "T", &type, 1) != nullptr)
    return release(false);
  abi::KernelDef* definition = nullptr;
  if (ep.KernelDefBuilder_Build(made, &definition) != nullptr || definition == nullptr) return release(false);
  int first = 0, last = 0;
  const bool is_kept = is_text(ep.KernelDef_GetOperatorType(definition), "ScatterND") &&
                       ep.KernelDef_GetSinceVersion(definition, &first, &last) == nullptr && first == 16 && last == 17;
  ep.ReleaseKernelDef(definition);
  return release(is_kept);
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first < 0x80) continue;
    const size_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (first < 0xC0 || first >= 0xF8 || text.size() - i < more) return false;
    uint32_t point = first & (0x3Fu >> more);
    for (const size_t end = i + more; i < end; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xC0) != 0x80) return false;
      point = point << 6 | (next & 0x3Fu);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
  }
  return true;
}

/// A damaged model names what is no text, and Python cannot read a message with it: question marks stand there for what is not ASCII.
std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

}  // namespace

abi::Status* open_api(const abi::ApiBase& base, bool* is_open) {
  *is_open = false;
  const std::string version = base.GetVersionString();
  const std::string expected = std::string("expected ONNX Runtime ") + abi::kFirstRelease +
                               " or later, whose interface has version " + std::to_string(abi::kVersion);
  const auto refuse = [&](const std::string& what) -> abi::Status* {
    const abi::Api* const oldest = base.GetApi(kOldest);
    return oldest == nullptr
               ? nullptr
               : oldest->CreateStatus(abi::ErrorCode::fail,
                                      (std::string("strew ") + strew_version() + ": ONNX Runtime is " + version + what).c_str());
  };
  // A version that is not known is said on stderr, too, so it is not asked for where the release tells that it is not there.
  int major = 0, minor = 0, first_major = 0, first_minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 &&
      std::sscanf(abi::kFirstRelease, "%d.%d", &first_major, &first_minor) == 2 &&
      (major < first_major || (major == first_major && minor < first_minor)))
    return refuse(", " + expected);
  const abi::Api* const api = base.GetApi(abi::kVersion);
  if (api == nullptr) return refuse(", which does not have that interface; " + expected);
  const abi::EpApi* const ep = api->GetEpApi();
  if (ep == nullptr || !answers(*api, *ep)) return refuse(", whose interface is not the one that strew knows; " + expected);
  // What one runtime has made is asked by the functions of the one that registered last, which is right if they are of one version.
  static const std::string& first = *new std::string(version);
  if (version != first)
    return refuse(", but " + first + " has registered this library in this process; expected one version of ONNX Runtime");
  functions = {api, ep};
  *is_open = true;
  return nullptr;
}

abi::Status* make_status(abi::ErrorCode code, const std::string& message) {
  return api().CreateStatus(code, as_utf8(message).c_str());
}

abi::Status* from_strew(strew_status status, abi::ErrorCode code, const std::string& where) {
  const strew_code said = strew_status_code(status);
  const bool is_ours = said == STREW_CODE_INTERNAL || said == STREW_CODE_RESOURCE_EXHAUSTED;
  abi::Status* const out =
      make_status(is_ours ? abi::ErrorCode::fail : code, "strew: " + where + ": " + strew_status_message(status));
  strew_status_free(status);
  return out;
}

bool succeeded(abi::Status* status) {
  if (status == nullptr) return true;
  api().ReleaseStatus(status);
  return false;
}

bool succeeded(strew_status status) {
  strew_status_free(status);
  return status == nullptr;
}

}  // namespace strew::ort
