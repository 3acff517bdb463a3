// The precompiled header of the libraries and the command line: the headers that most of their files include
// (strew_precompile in cmake/strew_settings.cmake). No header of strew's own: tools/lint/rooms.py says why.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
