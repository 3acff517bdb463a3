// What most files of libstrew_llvm include, compiled once (strew_precompile in cmake/strew_settings.cmake).
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "base/precompiled.h"
