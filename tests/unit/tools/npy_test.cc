// .npy files: every dtype there and back, what NumPy itself writes, and every refusal.
#include "tools/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace strew {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file(const std::string& header, const std::string& items, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (size_t i = 0; i < (version == 1 ? 2u : 4u); ++i) out += static_cast<char>(header.size() >> 8 * i);
  return out + header + items;
}
std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

Tensor read_good(const std::string& bytes, DType dtype) {
  Expected<Tensor> out = parse_npy(bytes, dtype, "a.npy");
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Tensor{};
}
std::string error_of(const std::string& bytes, DType dtype) {
  const Expected<Tensor> out = parse_npy(bytes, dtype, "a.npy");
  EXPECT_FALSE(out.ok());
  return out.status().message();
}
std::vector<int> bytes_of(const Tensor& t) {
  std::vector<int> out;
  for (int64_t i = 0; i < t.data.size(); ++i) out.push_back(static_cast<int>(t.data.data()[i]));
  return out;
}
std::string written(const Tensor& t) {
  Expected<std::string> out = format_npy(t);
  EXPECT_TRUE(out.ok());
  return out.ok() ? *out : "";
}

TEST(Npy, EveryDtypeThereAndBack) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    Tensor t = std::move(make_tensor(dtype, {3, 5}).value());
    if (dtype == DType::string) {
      std::vector<std::string> strings(15, "x");
      strings[3] = "h\xC3\xA9llo";
      strings[4] = "";
      set_strings(t, strings);
    } else {
      const int64_t bits_used = 15 * bits(dtype);
      for (int64_t i = 0; i < bits_used; ++i) {
        const bool set = dtype == DType::boolean ? i % 8 == 0 && i % 3 == 0 : i % 3 == 0 || i % 7 == 2;
        if (set) t.data.data()[i / 8] |= std::byte(1 << i % 8);
      }
    }
    const Tensor back = read_good(written(t), dtype);
    EXPECT_EQ(back.dims, t.dims);
    if (dtype == DType::string) {
      for (int64_t i = 0; i < 15; ++i) EXPECT_EQ(string_at(back, i), string_at(t, i));
    } else {
      EXPECT_EQ(bytes_of(back), bytes_of(t)) << name(dtype);
    }
  }
}

TEST(Npy, ItemTypes) {
  const auto descr = [](DType dtype) {
    const std::string bytes = written(make_tensor(dtype, {2}).value());
    const size_t at = bytes.find("'descr': '") + 10;
    return bytes.substr(at, bytes.find('\'', at) - at);
  };
  EXPECT_EQ(descr(DType::f32), "<f4");
  EXPECT_EQ(descr(DType::boolean), "|b1");
  EXPECT_EQ(descr(DType::u8), "|u1");
  EXPECT_EQ(descr(DType::complex128), "<c16");
  EXPECT_EQ(descr(DType::bf16), "|V2");
  EXPECT_EQ(descr(DType::f8e4m3fn), "|u1");
  EXPECT_EQ(descr(DType::i4), "|i1");
  EXPECT_EQ(descr(DType::u4), "|u1");
  EXPECT_EQ(descr(DType::string), "<U1");
}

TEST(Npy, HeaderIsAlignedAndWellFormed) {
  const std::string bytes = written(make_tensor(DType::f32, {2, 3}).value());
  const size_t data = bytes.size() - 24;
  EXPECT_EQ(data % 64, 0u);
  EXPECT_EQ(bytes[data - 1], '\n');
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  EXPECT_THAT(written(make_tensor(DType::f32, {2}).value()), HasSubstr("'shape': (2,), }"));
  EXPECT_THAT(written(make_tensor(DType::f32, {}).value()), HasSubstr("'shape': (), }"));
}

TEST(Npy, NarrowTypesUseOneItemPerElement) {
  const Tensor t = read_good(file(header("|i1", "(3,)"), "\xF9\x12\x07"), DType::i4);
  EXPECT_THAT(bytes_of(t), ElementsAre(0x29, 0x07)) << "upper nibbles are ignored";
  const std::string back = written(t);
  EXPECT_EQ(back.substr(back.size() - 3), std::string("\xF9\x02\x07")) << "and written as the sign";
  const std::string u4 = written(read_good(file(header("|u1", "(3,)"), "\xF9\x12\x07"), DType::u4));
  EXPECT_EQ(u4.substr(u4.size() - 3), std::string("\x09\x02\x07"));
}

TEST(Npy, RawItemsOfTheRightSizeAreReadAsTheMissingType) {
  for (const char* descr : {"|V2", "<V2", "<u2", "<i2"}) {
    EXPECT_THAT(bytes_of(read_good(file(header(descr, "(1,)"), "ab"), DType::bf16)), ElementsAre('a', 'b')) << descr;
  }
  EXPECT_THAT(error_of(file(header("<f2", "(1,)"), "ab"), DType::bf16),
              HasSubstr("the items are <f2, expected |V2 (raw items of 2 bytes) for bf16"));
}

TEST(Npy, FortranOrderIsConverted) {
  // [[1,2,3],[4,5,6]] in Fortran order: 1 4 2 5 3 6.
  const Tensor t = read_good(file(header("|u1", "(2, 3)", true), "\1\4\2\5\3\6"), DType::u8);
  EXPECT_THAT(bytes_of(t), ElementsAre(1, 2, 3, 4, 5, 6));
  const Tensor narrow = read_good(file(header("|u1", "(2, 3)", true), "\1\4\2\5\3\6"), DType::u4);
  EXPECT_THAT(bytes_of(narrow), ElementsAre(0x21, 0x43, 0x65));
}

TEST(Npy, BigEndianIsSwapped) {
  EXPECT_THAT(bytes_of(read_good(file(header(">i4", "(1,)"), "abcd"), DType::i32)), ElementsAre('d', 'c', 'b', 'a'));
  EXPECT_THAT(bytes_of(read_good(file(header(">c8", "(1,)"), "abcdefgh"), DType::complex64)),
              ElementsAre('d', 'c', 'b', 'a', 'h', 'g', 'f', 'e'));
  EXPECT_EQ(string_at(read_good(file(header(">U1", "(1,)"), std::string("\0\0\0z", 4)), DType::string), 0), "z");
}

TEST(Npy, Strings) {
  const Tensor s = read_good(file(header("|S3", "(2,)"), std::string("ab\0xyz", 6)), DType::string);
  EXPECT_EQ(string_at(s, 0), "ab");
  EXPECT_EQ(string_at(s, 1), "xyz");
  Tensor invalid = std::move(make_tensor(DType::string, {1}).value());
  set_strings(invalid, {"\xFF\xFE"});
  EXPECT_THAT(written(invalid), HasSubstr("'descr': '|S2'")) << "bytes that are not UTF-8";
}

TEST(Npy, OtherVersionsSpellingsAndScalars) {
  EXPECT_THAT(bytes_of(read_good(file(header("|u1", "(1,)"), "a", 2), DType::u8)), ElementsAre('a'));
  EXPECT_THAT(bytes_of(read_good(file("{\"shape\":(),\"fortran_order\":False,\"descr\":\"|u1\"}  \n", "a", 3), DType::u8)),
              ElementsAre('a'));
  EXPECT_THAT(bytes_of(read_good(file(header("|b1", "(2,)"), std::string("\0\7", 2)), DType::boolean)), ElementsAre(0, 1));
  EXPECT_TRUE(bytes_of(read_good(file(header("<f4", "(0, 9)"), ""), DType::f32)).empty());
}

TEST(Npy, Refusals) {
  const std::string good = header("<f4", "(1,)");
  EXPECT_THAT(error_of("", DType::f32), HasSubstr("a.npy: not an npy file"));
  EXPECT_THAT(
      error_of("PK\x03\x04 a zip file", DType::f32),
      HasSubstr("a.npy: an archive of arrays (.npz), expected one array: 'python3 -c \"import numpy; numpy.save('FILE.npy', "
                "numpy.load('a.npy')['NAME'])\"' makes it"));
  EXPECT_THAT(error_of(file(good, "abcd", 9), DType::f32), HasSubstr("npy format version is 9, expected 1, 2 or 3"));
  EXPECT_THAT(error_of(file(good, "abcd").substr(0, 20), DType::f32), HasSubstr("the npy header has"));
  EXPECT_THAT(error_of(file(good, "abc"), DType::f32), HasSubstr("the file holds 3 bytes of items, expected 1 items of 4 bytes"));
  EXPECT_THAT(error_of(file(good, "abcde"), DType::f32), HasSubstr("the file holds 5 bytes of items"));
  EXPECT_THAT(error_of(file(good, "abcd"), DType::i32), HasSubstr("the items are <f4, expected <i4 for i32"));
  EXPECT_THAT(error_of(file(header("|O", "(1,)"), "abcd"), DType::f32), HasSubstr("Python objects are refused"));
  EXPECT_THAT(error_of(file(header("<f4", "(99999999999, 99999999999)"), "abcd"), DType::f32), HasSubstr("does not fit 63 bits"));
  EXPECT_THAT(error_of(file(header("<f4", "(99999999999999999999,)"), "abcd"), DType::f32),
              HasSubstr("a number that fits 63 bits"));
  EXPECT_THAT(error_of(file(header("<f4", "(-1,)"), "abcd"), DType::f32), HasSubstr("expected a number"));
  EXPECT_THAT(error_of(file(header("<U0", "(1000000000,)"), ""), DType::string), HasSubstr("the file holds 0 bytes"));
  EXPECT_THAT(error_of(file(header("<U1", "(1,)"), "\xFF\xFF\xFF\xFF"), DType::string),
              HasSubstr("expected a Unicode character"));
  for (const char* bad :
       {"", "{", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False}", "{'descr': '<q4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"}) {
    EXPECT_THAT(error_of(file(bad, "abcd"), DType::f32), HasSubstr("a.npy: npy header, offset")) << bad;
  }
}

/// read_npy() of a file with these bytes.
Expected<Tensor> read_back(const std::string& bytes, DType dtype, int64_t max_bytes = int64_t{1} << 30) {
  std::string folder = ::testing::TempDir() + "strew_npy_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return io_error("no folder");
  const std::string path = folder + "/a.npy";
  std::ofstream(path, std::ios::binary) << bytes;
  Expected<Tensor> out = read_npy(path, dtype, max_bytes);
  std::filesystem::remove_all(folder);  // what is mapped stays readable
  return out;
}

TEST(Npy, FilesReadAsTheirBytesDo) {
  // More than a block of items, so that blocks meet in the middle; i4 packs two items of different blocks into one byte.
  constexpr int64_t kCount = (int64_t{1} << 20) + 4321;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::bf16, DType::boolean, DType::i4, DType::complex64}) {
    Tensor t = make_tensor(dtype, {kCount}).value();
    for (int64_t i = 0; i < t.data.size(); ++i) t.data.data()[i] = std::byte(dtype == DType::boolean ? i % 3 == 0 : i * 7 % 251);
    if (dtype == DType::i4) t.data.data()[t.data.size() - 1] &= std::byte{0x0F};
    const std::string bytes = written(t);
    const Expected<Tensor> back = read_back(bytes, dtype);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->dims, t.dims);
    EXPECT_EQ(std::memcmp(back->data.data(), t.data.data(), static_cast<size_t>(t.data.size())), 0) << name(dtype);
    // Integers may be indices, which must not change between check and use: they are never mapped.
    EXPECT_EQ(back->data.read_only(), is_float(dtype) || is_complex(dtype)) << name(dtype);
  }
  EXPECT_FALSE(read_back(written(make_tensor(DType::f32, {4}).value()), DType::f32)->data.read_only()) << "too small to map";
}

TEST(Npy, FortranFilesAreTurnedBlockByBlock) {
  constexpr int64_t kRows = 3, kColumns = 700001;
  std::string items(kRows * kColumns, '\0');
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<char>(i * 11 % 253);
  const Tensor t = read_back(file(header("|u1", "(3, 700001)", true), items), DType::u8).value();
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c)
      ASSERT_EQ(t.data.data()[r * kColumns + c], std::byte(static_cast<unsigned char>(items[static_cast<size_t>(c * kRows + r)])))
          << c;
}

TEST(Npy, FilesAreRefusedAsTheirBytesAre) {
  EXPECT_THAT(read_back("", DType::f32).status().message(), HasSubstr("not an npy file"));
  EXPECT_THAT(read_back(file(header("<f4", "(2,)"), "abcd"), DType::f32).status().message(),
              HasSubstr("the file holds 4 bytes of items"));
  EXPECT_THAT(read_back(file(header("<f4", "(1,)"), "abcd"), DType::f32, 20).status().message(),
              HasSubstr("expected at most 20"));
  std::string long_header = file(std::string(1 << 21, ' '), "", 2);
  EXPECT_THAT(read_back(long_header, DType::f32).status().message(),
              HasSubstr("the npy header has 2097152 bytes, expected at most 1048576"));
  EXPECT_THAT(read_npy("none.npy", DType::f32, 100).status().message(), HasSubstr("none.npy: cannot read"));
}

TEST(Npy, DamagedBytesNeverCrash) {
  const std::string good = written(make_tensor(DType::f32, {2, 3}).value());
  for (size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(parse_npy(good.substr(0, cut), DType::f32, "a.npy").ok());
  for (size_t at = 0; at < good.size() - 24; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      const Expected<Tensor> out = parse_npy(bad, DType::f32, "a.npy");
      if (out.ok()) {
        EXPECT_EQ(out->elements(), 6);
      }
    }
  }
}

}  // namespace
}  // namespace strew
