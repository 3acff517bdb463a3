// The precompiled header of libstrew_import_mlir: the headers that most of its files include (strew_precompile in
// cmake/strew_settings.cmake).
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Operation.h>

#include "base/precompiled.h"
