// What an ELF object (64 bit, of this machine's byte order) defines for others: the names that `nm -g --defined-only` prints.
#pragma once

#include <string>
#include <vector>

namespace strew::test {

/// In the order of the symbol table. Fails the running test, with an empty answer, where `object` is no such file.
std::vector<std::string> exported_symbols(const std::string& object);

}  // namespace strew::test
