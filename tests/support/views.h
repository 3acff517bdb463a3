// Views: TensorViews that own their dims and strides, for tests that bind kernels to plain arrays.
#pragma once

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "strew/tensor_view.h"

namespace strew::test {

class Views {
 public:
  Views() = default;
  Views(Views&&) = default;  // a moved deque keeps its elements where they are; a copied one would not
  Views& operator=(Views&&) = default;

  Views& add(const void* data, DType dtype, std::vector<int64_t> dims, std::vector<int64_t> strides = {}) & {
    const std::vector<int64_t>& d = lists_.emplace_back(std::move(dims));
    const std::vector<int64_t>& s = lists_.emplace_back(std::move(strides));
    views_.push_back({const_cast<void*>(data), dtype, static_cast<int32_t>(d.size()), d.data(), s.empty() ? nullptr : s.data()});
    return *this;
  }
  Views&& add(const void* data, DType dtype, std::vector<int64_t> dims, std::vector<int64_t> strides = {}) && {
    return std::move(add(data, dtype, std::move(dims), std::move(strides)));
  }
  TensorView& operator[](size_t i) { return views_[i]; }
  operator std::span<const TensorView>() const { return views_; }  // NOLINT(google-explicit-constructor): stands in for a span

 private:
  std::deque<std::vector<int64_t>> lists_;
  std::vector<TensorView> views_;
};

}  // namespace strew::test
