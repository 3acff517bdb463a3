// The precompiled header of libstrew_llvm: the headers that most of its files include (strew_precompile in
// cmake/strew_settings.cmake).
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "base/precompiled.h"
