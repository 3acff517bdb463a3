// Emits a kernel's descriptor (DescriptorImage of backends/descriptor.h) as a constant: a packed struct that alternates between byte arrays and
// addresses, in the order of the image. Its symbol is the only one that the object exports; the entries that it points to are internal.
// Tested by tests/unit/backends/llvm/entries/object_test.cc and every test that compiles a kernel.
#include "backends/descriptor.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <vector>

#include "backends/llvm/entries/entries.h"

namespace strew::inline v0 {
namespace {

/// A field at offset `at` of the image that the linker fills. It points to offset `to` of the image or, if `symbol` is not null, to that symbol, or
/// is the distance to it.
struct Address {
  uint32_t at;
  uint32_t to;
  const std::string* symbol;
  bool is_distance;
};

std::vector<Address> addresses_of(const DescriptorImage& image) {
  std::vector<Address> list;
  for (const DescriptorImage::Pointer& each : image.pointers) list.push_back({each.at, each.to, nullptr, false});
  for (const DescriptorImage::External& each : image.externals) list.push_back({each.at, 0, &each.symbol, false});
  for (const DescriptorImage::External& each : image.distances) list.push_back({each.at, 0, &each.symbol, true});
  std::sort(list.begin(), list.end(), [](const Address& a, const Address& b) { return a.at < b.at; });
  return list;
}

}  // namespace

void emit_descriptor(llvm::Module& module, const DescriptorImage& image, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const byte = llvm::Type::getInt8Ty(context);
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const number = llvm::Type::getInt32Ty(context);
  const std::vector<Address> addresses = addresses_of(image);

  std::vector<llvm::Type*> types;
  size_t done = 0;
  const auto bytes_until = [&](size_t at) {
    if (at > done) types.push_back(llvm::ArrayType::get(byte, at - done));
    done = at;
  };
  for (const Address& address : addresses) {
    bytes_until(address.at);
    types.push_back(address.is_distance ? number : pointer);
    done += address.is_distance ? sizeof(int32_t) : sizeof(void*);
  }
  bytes_until(image.bytes.size());
  auto* const type = llvm::StructType::get(context, types, /*isPacked=*/true);
  auto* const global =
      new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, nullptr, name);
  global->setAlignment(llvm::Align(alignof(std::max_align_t)));

  std::vector<llvm::Constant*> values;
  done = 0;
  const auto copy_until = [&](size_t at) {
    if (at > done)
      values.push_back(llvm::ConstantDataArray::getRaw(llvm::StringRef(image.bytes.data() + done, at - done), at - done, byte));
    done = at;
  };
  llvm::Type* const index = llvm::Type::getInt64Ty(context);
  const auto place = [&](uint32_t offset) {
    return llvm::ConstantExpr::getInBoundsGetElementPtr(byte, global, llvm::ConstantInt::get(index, offset));
  };
  const auto number_of = [&](llvm::Constant* value) { return llvm::ConstantExpr::getPtrToInt(value, index); };
  for (const Address& address : addresses) {
    copy_until(address.at);
    llvm::Constant* const value = address.symbol != nullptr ? module.getNamedValue(*address.symbol) : place(address.to);
    values.push_back(address.is_distance ? llvm::ConstantExpr::getTrunc(
                                               llvm::ConstantExpr::getSub(number_of(value), number_of(place(address.at))), number)
                                         : value);
    done += address.is_distance ? sizeof(int32_t) : sizeof(void*);
  }
  copy_until(image.bytes.size());
  global->setInitializer(llvm::ConstantStruct::get(type, values));
}

}  // namespace strew::inline v0
