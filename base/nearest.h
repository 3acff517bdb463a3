// nearest: the known word that a misspelt one was probably meant to be, for "did you mean". Tested by tests/unit/base/options_test.cc.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace strew::inline v0 {

/// The Levenshtein distance of two words: how many characters are inserted, removed or replaced.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

/// The word of `known` that is nearest to `written`, if at most a third of its characters, and at most four, differ; else nothing. Only the
/// first 80 characters of `written` are looked at.
template <class Words>
std::string_view nearest(std::string_view written, const Words& known) {
  std::string_view best;
  size_t least = std::min<size_t>(4, std::max<size_t>(1, (written.size() + 1) / 3)) + 1;
  for (const std::string_view word : known) {
    const size_t changes = edit_distance(written.substr(0, 80), word);
    if (changes >= least) continue;
    least = changes;
    best = word;
  }
  return best;
}

/// ", did you mean 'WORD'?" with the nearest word; empty if none is near.
template <class Words>
std::string did_you_mean(std::string_view written, const Words& known) {
  const std::string_view near = nearest(written, known);
  return near.empty() ? std::string() : ", did you mean '" + std::string(near) + "'?";
}

}  // namespace strew::inline v0
