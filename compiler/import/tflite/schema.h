// Namespace tflite::schema: the classes that flatc makes of the TensorFlow Lite schema. They are generated into namespace strew_tflite, because
// flatc cannot write an inline namespace.
#pragma once

#include "compiler/import/tflite/tflite_generated.h"

namespace strew::inline v0::tflite {
namespace schema = ::strew_tflite;
}  // namespace strew::inline v0::tflite
