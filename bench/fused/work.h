// The cases of bench/fused: what each is, and its data and ways once it is opened.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "strew/status.h"
#include "tune/turns.h"

namespace strew::bench {

/// A tensor as bench/peers reads it from the file NAME.bin.
struct Array {
  std::string name;
  std::span<const std::byte> bytes;
};
template <class Vector>
Array array(const char* name, const Vector& of) {
  return {name, std::as_bytes(std::span(of))};
}

/// The ways `one`, which is call(0), and `two`, which is call(1) and call(2).
inline std::vector<Way> one_and_two(const std::function<void(size_t)>& call) {
  return {{"one",
           [=](int64_t n) {
             for (int64_t i = 0; i < n; ++i) call(0);
           }},
          {"two", [=](int64_t n) {
             for (int64_t i = 0; i < n; ++i) {
               call(1);
               call(2);
             }
           }}};
}

/// A case with its data. Where strew has ops for it, its kernels are made for a number of threads.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;
  virtual Status make(int threads) = 0;
  /// `one`, strew's one pass, and `two`, its two kernels, after make(); none if strew has no op.
  virtual std::vector<Way> strew_ways() = 0;
  /// `hand` and perhaps `hand_two`: hand-written loops on one thread, which need no make().
  virtual std::vector<Way> hand_ways() = 0;
  virtual std::vector<Array> inputs() const = 0;
  virtual std::span<const std::byte> result() const = 0;  ///< after a call
  virtual std::string schedule() const = 0;               ///< of `one`
};

struct Case {
  std::string name;
  nlohmann::json facts;  ///< for bench/peers
  int rounds = 0;        ///< 0: for bench/peers alone
  std::function<std::unique_ptr<Work>()> open;
};

std::vector<Case> edge_cases();   ///< edges.cc
std::vector<Case> bag_cases();    ///< bags.cc
std::vector<Case> count_cases();  ///< counts.cc
std::vector<Case> dot_cases();    ///< dots.cc

}  // namespace strew::bench
