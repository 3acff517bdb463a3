#pragma once
#include <memory>
namespace strew::inline v0 {
class Wisdom {
 public:
  static std::shared_ptr<const Wisdom> none() { static const auto empty = std::make_shared<const Wisdom>(); return empty; }
};
}  // namespace strew::inline v0
