// The loader of objects (backends/loader): what it links without LLVM, what it leaves to JITLink, how it takes damage; and whether the comparison
// with JITLink (tests/compare_load) finds differences.
#include "backends/loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/link.h"
#include "backends/loader/elf_file.h"
#include "backends/modules.h"
#include "backends/object_checksum.h"
#include "backends/pipeline.h"
#include "strew/runtime.h"
#include "tests/support/elf_object.h"
#include "tests/support/load_check.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using test::ElfObject;
using testing::HasSubstr;
using testing::StartsWith;

#if defined(__x86_64__)

/// The object of a kernel with calls of a math function, and its descriptor's symbol.
std::pair<std::string, std::string> kernel_object() {
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  options.threads = 1;
  auto compiled =
      compile(test::op_of("strew1.scatter(operand=f32[20,8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] "
                          "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"),
              options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return {compiled->artifact.object, compiled->symbol};
}

Status status_of_load(const std::string& object, const std::string& symbol) { return load_object(object, {symbol}).status(); }

int32_t call(const void* address) { return reinterpret_cast<int32_t (*)()>(const_cast<void*>(address))(); }

/// Turns the comparison with JITLink off, for objects that JITLink must not see.
struct NoCheck {
  NoCheck() { set_load_check(nullptr); }
  ~NoCheck() { test::check_loads(); }
  NoCheck(const NoCheck&) = delete;
  NoCheck& operator=(const NoCheck&) = delete;
};

/// An object that loads 4 bytes of one section by an address relative to the code, and jumps to a function.
std::string reading_object() {
  const std::string code("\x8b\x05\0\0\0\0\xc3\x90\xe9\0\0\0\0", 13);  // mov eax, [rip + value]; ret; nop; jmp trunc
  ElfObject object;
  const int text = object.add_section(".text", code, SHF_EXECINSTR);
  const int constants = object.add_section(".rodata.cst4", std::string("\x2a\0\0\0\x07\0\0\0", 8), 0, 4);
  object.add_symbol("read", text, 0, 7);
  object.add_symbol("jump", text, 8, 5);
  object.add_relocation(text, 2, object.add_symbol("values", constants, 0, 8, STT_OBJECT), R_X86_64_PC32, 0);
  object.add_relocation(text, 9, object.add_symbol("trunc", 0), R_X86_64_PLT32, -4);
  return object.bytes();
}

TEST(Loader, LoadsAKernel) {
  const auto [object, symbol] = kernel_object();
  const auto loaded = load_object(object, {symbol});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const auto* const kernel = static_cast<const strew_kernel*>((*loaded)->addresses[0]);
  EXPECT_EQ(kernel->abi, uint32_t{STREW_ABI_VERSION});
  EXPECT_EQ(kernel->name, symbol);
  const auto linked = (*open_llvm_module())->link({object}, {symbol});
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ((*loaded)->code_bytes, (*linked)->code_bytes);
}

TEST(Loader, AppliesRelocations) {
  // The distance is counted from the field, so the addend is -4; here it is 0, and the value is the second one.
  const auto loaded = load_object(reading_object(), {"jump", "read"});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(call((*loaded)->addresses[1]), 7);
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(const_cast<void*>((*loaded)->addresses[0]))(2.75), 2.0);
}

TEST(Loader, SaysWhatIsNotThere) {
  EXPECT_EQ(status_of_load(ElfObject::returning("one", 1), "two").message(), "linker: no object defines symbol two");
  EXPECT_EQ(status_of_load(ElfObject::calling("mine", "system"), "mine").message(),
            "linker: the object uses symbol system, which generated code may not use");
  for (const std::string& bytes : {std::string(), std::string("no object"), std::string(200, 'x')})
    EXPECT_EQ(status_of_load(bytes, "any").message(), "linker: the object is no ELF file");
}

TEST(Loader, LeavesWhatItDoesNotKnowToJitLink) {
  const auto refused = [](const std::string& section, uint64_t flags, uint64_t alignment, uint32_t relocation) {
    ElfObject object;
    const int number = object.add_section(section, std::string(16, '\x90'), flags, alignment);
    const int symbol = object.add_symbol("symbol", number, 0, 8, STT_OBJECT);
    if (relocation != R_X86_64_NONE) object.add_relocation(number, 0, symbol, relocation, 0);
    const Status status = status_of_load(object.bytes(), "symbol");
    return status.ok() ? "loaded" : status.code() == Code::unsupported ? status.message() : "other: " + status.message();
  };
  EXPECT_EQ(refused(".rodata", 0, 16, R_X86_64_NONE), "loaded");
  EXPECT_EQ(refused(".data.rel.ro.local", SHF_WRITE, 16, R_X86_64_64), "loaded");
  EXPECT_EQ(refused(".data", SHF_WRITE, 16, R_X86_64_NONE),
            "linker: section .data is writable; a kernel has code and constants only");
  EXPECT_THAT(refused(".text", SHF_WRITE | SHF_EXECINSTR, 16, R_X86_64_NONE), HasSubstr("is writable"));
  EXPECT_THAT(refused(".tdata", SHF_TLS, 16, R_X86_64_NONE), HasSubstr("section .tdata is of a kind"));
  EXPECT_EQ(refused(".rodata", 0, 4096, R_X86_64_NONE), "linker: section .rodata is aligned to 4096 bytes, expected at most 64");
  for (uint32_t type = R_X86_64_NONE + 1; type < R_X86_64_NUM; ++type) {
    if (type == R_X86_64_64 || type == R_X86_64_PC32 || type == R_X86_64_PLT32) continue;
    EXPECT_EQ(refused(".rodata", 0, 16, type),
              "linker: the object has a relocation of type " + std::to_string(type) + ", which generated code does not have");
  }
}

TEST(Loader, JitLinkTakesOver) {
  // A distance of 8 bytes: JITLink knows it.
  ElfObject object;
  const int text = object.add_section(".text", std::string("\xb8\x2a\0\0\0\xc3\0\0\0\0\0\0\0\0", 14), SHF_EXECINSTR);
  const int symbol = object.add_symbol("value", text, 0, 6);
  object.add_relocation(text, 6, symbol, R_X86_64_PC64, 0);
  EXPECT_EQ(status_of_load(object.bytes(), "value").code(), Code::unsupported);
  const auto linked = link_object(with_checksum(object.bytes()), "value");
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  EXPECT_EQ(call((*linked)->addresses[0]), 42);
  // JITLink gets no object that is damaged.
  EXPECT_THAT(link_object(object.bytes(), "value").status().message(), HasSubstr("the object has no checksum"));
}

TEST(Loader, TruncatedObjectsAreRefused) {
  const NoCheck guard;
  const auto [object, symbol] = kernel_object();
  // The headers of sections come last in the ELF file, so every byte of it that is missing is missed. The checksum is behind it.
  for (size_t size = 0; size < object.size() - kChecksumMark.size() - kChecksumBytes; ++size) {
    const std::string cut = object.substr(0, size);
    ASSERT_FALSE(status_of_load(cut, symbol).ok()) << size;
  }
}

TEST(Loader, AnyByteMayBeWrong) {
  const NoCheck guard;
  const auto [object, symbol] = kernel_object();
  size_t refused = 0;
  for (size_t at = 0; at < object.size(); ++at) {
    for (const int change : {0xff, 0x01, 0x80}) {
      std::string bad = object;
      bad[at] = static_cast<char>(bad[at] ^ change);
      const Status status = status_of_load(bad, symbol);  // survives; what code and constants hold is not its business
      if (status.ok()) continue;
      ++refused;
      EXPECT_THAT(status.message(), StartsWith("linker: ")) << at;
    }
  }
  EXPECT_GT(refused, sizeof(Elf64_Shdr));
}

TEST(Loader, SectionsThatShareBytesTakeNoUnboundedMemory) {
  const NoCheck guard;
  ElfObject object;
  for (int i = 0; i < 300; ++i) object.add_section(".rodata" + std::to_string(i), "x", 0, 1);
  EXPECT_EQ(status_of_load(object.bytes(), "any").message(), "linker: the object has too many sections, or none");
}

/// A copy of what was loaded at other addresses, with all distances as they were, in which bytes can be changed.
class Copy {
 public:
  explicit Copy(const LoadedLayout& layout) : layout_(layout) {
    const char *first = layout.sections[0].address, *end = first;
    for (const LoadedLayout::Section& section : layout.sections) {
      first = std::min(first, section.address);
      end = std::max(end, section.address + section.bytes);
    }
    bytes_.resize(static_cast<size_t>(end - first));
    for (const LoadedLayout::Section& section : layout.sections)
      std::memcpy(&bytes_[static_cast<size_t>(section.address - first)], section.address, section.bytes);
    const auto move = [&](const char*& address) { address = bytes_.data() + (address - first); };
    for (LoadedLayout::Section& section : layout_.sections) move(section.address);
    for (LoadedLayout::Export& each : layout_.exports) move(each.address);
  }
  LoadedLayout& layout() { return layout_; }
  char& byte(size_t section, size_t at) { return const_cast<char&>(layout_.sections[section].address[at]); }

 private:
  LoadedLayout layout_;
  std::vector<char> bytes_;
};

TEST(Loader, TheComparisonFindsEveryWrongByte) {
  static int compared;
  compared = 0;
  set_load_check([](std::string_view object, const LoadedLayout& layout) -> Status {
    STREW_TRY(test::compare_load(object, layout));
    Copy copy(layout);
    EXPECT_TRUE(test::compare_load(object, copy.layout()).ok()) << test::compare_load(object, copy.layout()).message();
    for (size_t section = 0; section < layout.sections.size(); ++section)
      for (size_t at = 0; at < layout.sections[section].bytes; ++at) {
        copy.byte(section, at) ^= 1;
        EXPECT_FALSE(test::compare_load(object, copy.layout()).ok()) << section << " " << at;
        copy.byte(section, at) ^= 1;
        ++compared;
      }
    copy.layout().exports[0].address += 1;
    EXPECT_THAT(test::compare_load(object, copy.layout()).message(), HasSubstr("symbol "));
    copy.layout().exports[0].address -= 1;
    copy.layout().exports.pop_back();
    EXPECT_THAT(test::compare_load(object, copy.layout()).message(), HasSubstr("is missing"));
    copy.layout().sections.pop_back();
    EXPECT_THAT(test::compare_load(object, copy.layout()).message(), HasSubstr("is missing"));
    return {};
  });
  std::string code("\x8b\x05\0\0\0\0\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\xe8\xeb\xff\xff\xff", 21);
  ElfObject object;
  const int text = object.add_section(".text", code, SHF_EXECINSTR);
  const int constants = object.add_section(".rodata.cst4", std::string("\x2a\0\0\0", 4), 0, 4);
  const int read = object.add_symbol("read", text, 0, 7);
  object.add_relocation(text, 2, object.add_symbol("value", constants, 0, 4, STT_OBJECT), R_X86_64_PC32, -4);
  object.add_relocation(text, 17, read, R_X86_64_PLT32, -4);
  const auto loaded = load_object(object.bytes(), {"read"});
  test::check_loads();
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(compared, 25);
  EXPECT_EQ(call((*loaded)->addresses[0]), 42);
}

TEST(Loader, ADifferenceFailsTheLoad) {
  set_load_check([](std::string_view, const LoadedLayout&) { return internal_error("it differs"); });
  const Status status = status_of_load(ElfObject::returning("one", 1), "one");
  test::check_loads();
  EXPECT_EQ(status.message(), "linker: it differs");
}

#endif

}  // namespace
}  // namespace strew
