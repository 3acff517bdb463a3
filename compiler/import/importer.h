// Importer: a file becomes ops and the values that feed them. One folder per format; importers.cc is the list.
//
// A file's functions or nodes give Kernels; each reads Values: inputs of the file, constants inside it, results of earlier kernels,
// small things built from those (a stack of scalars as an index vector), and results of the operations around the kernels
// (Compute). Imported is plain data: compiler/program/program runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/op/verified.h"

namespace strew {

enum class ValueKind : uint8_t {
  input,     ///< graph input `index`
  constant,  ///< constants[index]
  zeros,     ///< `type`, all zero (a missing optional input); dynamic dims follow `like`
  stack,     ///< rank-0 `parts`, in order, as one rank-1 tensor (DYNAMIC_UPDATE_SLICE's start indices)
  result,    ///< result `result` of kernel `index`
  compute,   ///< result `result` of computes[index]
  extent,    ///< the extent of dim `like_dim` of value `like`, as a rank-0 i64
};
struct Value {
  ValueKind kind = ValueKind::input;
  TensorType type;
  int index = 0;
  int result = 0;
  std::vector<int> parts;  ///< stack: value numbers
  int like =
      -1;  ///< zeros: value whose dim `like_dim` gives the one dynamic dim. A rank-0 input that is left out: is that extent
  int like_dim = 0;
};

/// Contiguous, row-major, packed as its dtype says. Strings keep their text in `strings`. Elements in a file beside the model may be
/// mapped instead of read: then `data` is empty, and `mapped` holds them for as long as `file` lives.
struct Constant {
  TensorType type;
  std::vector<std::byte> data;
  std::vector<std::string> strings;
  std::span<const std::byte> mapped;
  std::shared_ptr<const void> file;
  std::span<const std::byte> bytes() const { return data.empty() ? mapped : std::span<const std::byte>(data); }
  bool splat = false;  ///< known to be one element, everywhere
};

/// What stands around the indexed operations of a file and no kernel does. compiler/program/interpret evaluates it.
enum class ComputeOp : uint8_t {
  map,     ///< `function` per element; argument i is its extra i. Arguments of rank 0 go with every element
  reduce,  ///< folds `dims` of the first N arguments by `function` (currents: so far, updates: elements) from the other N, in row-major order
  iota,    ///< counts along dim dims[0]
  broadcast,  ///< dim d of the argument is dim dims[d] of the result; an extent of 1 is repeated
  reshape,    ///< open dims: those of a second argument, or the one that the number of elements leaves
  transpose,  ///< dim d of the result is dim dims[d] of the argument
  slice,      ///< in dim d from dims[d] on, every strides[d]-th element. An open dim: to the end. More arguments: see update
  update,  ///< the first argument with the second in it, in dim d from dims[d] on. More arguments: rank-0 integers, one per dim,
           ///< that are added to dims
  concatenate,  ///< along dim dims[0]
};
/// What became of one of them (compiler/import/fold).
enum class ComputeFate : uint8_t {
  interpreted,
  folded,  ///< into what kernel `kernel` means: its policy, its indices, its init
  fused,   ///< into the graph that kernel `kernel` computes
  unused,  ///< nothing reads it
};
struct Compute {
  ComputeOp op = ComputeOp::map;
  std::string location;             ///< "FILE:LINE: stablehlo.add"
  std::vector<int> arguments;       ///< value numbers
  std::vector<TensorType> results;  ///< one; reduce: N. Open dims come from the arguments (not for iota, broadcast, reshape)
  Expr function;
  std::vector<int64_t> dims, strides;
  ComputeFate fate = ComputeFate::interpreted;
  int kernel = -1;
};

struct ImportedInput {
  std::string name;
  TensorType type;
  bool optional = false;  ///< `--input -` leaves it out
  bool memory = false;    ///< a pointer: what stands behind it counts, so extents of 1 may be more or fewer than the type has
};

/// Two dims that the source's op wants equal and the descriptor does not (ScatterND's window is always whole): `a`, "dim 1 of updates", is
/// compared with `b` before anything runs.
struct EqualExtents {
  int value = 0, dim = 0, other = 0, other_dim = 0;
  std::string a, b;
};

/// Two rank-0 integers that must be equal before anything runs: "`a` is 3, expected 4`b`".
struct EqualScalars {
  int value = 0, other = 0;
  std::string a, b;
};

struct ImportedKernel {
  /// `op` as VerifiedOp::of() made it: a front end verifies before anything reads the kernel.
  explicit ImportedKernel(VerifiedOp verified) : op(std::move(verified)) {}

  std::string name;      ///< unique in the file; `--kernel NAME`
  std::string location;  ///< FILE:LINE or FILE:node
  VerifiedOp op;
  std::vector<int> arguments;     ///< value number per tensor of tensor_slots(op) but the results, in that order; with init
                                  ///< in_place the N operands first: what the result buffers hold before the call
  std::vector<int> non_negative;  ///< values of which no element may be negative, whatever the op's policy (TensorScatter's
                                  ///< circular mode wraps above, not below): checked before anything runs, as policy `error` is
  std::vector<EqualExtents> equal_extents;
  std::vector<EqualScalars> equal_scalars;
  bool fixed_policy = false;       ///< the policy is what the source's op means (dynamic_slice clamps): `--oob` does not apply
  int slice_sizes = -1;            ///< gather with slice sizes known at the call: the rank-1 integer value that holds them all
  std::vector<std::string> notes;  ///< for `strew explain`
};

struct ImportedOutput {
  std::string name;
  int value = 0;  ///< usually a kernel's result
};

struct Imported {
  std::string format;  ///< "onnx", "tflite", "stablehlo", "strew", …
  std::vector<ImportedInput> inputs;
  std::vector<Constant> constants;
  std::vector<Value> values;
  std::vector<Compute> computes;
  std::vector<ImportedKernel> kernels;  ///< in an order in which each reads only earlier results
  std::vector<ImportedOutput> outputs;
};

struct ImportOptions {
  int64_t max_file_bytes = 0;  ///< `--max-file-bytes`: the largest file that is read; 0: Importer::max_bytes
  bool check_undefined =
      false;                  ///< policy `undefined`, the source's or that of `oob`, becomes `error`: `strew run` trusts no file
  bool fold = true;           ///< operations around the kernels become part of them where bits stay the same; tests switch it off
  bool override_oob = false;  ///< `--oob`: replace the source's policy
  OobPolicy oob = OobPolicy::undefined;
  std::string fill;  ///< `--oob fill_element:V`: V, parsed in the gathered dtype; empty: zero
  bool override_order = false;
  Order order = Order::in_order;  ///< `--order`
  bool override_accumulate = false;
  Accumulate accumulate = Accumulate::native;  ///< `--accumulate`
};

/// Reads `path`, a regular file, choosing the format by its ending (.onnx .tflite .mlir .pto .strew; cli.md). Every op is verified. Error messages start with
/// "FILE:LINE: op: " as far as known, name what is wrong, the value and what was expected.
Expected<Imported> import_file(const std::string& path, const ImportOptions& options);

/// A kernel of `op` at `location` ("FILE:LINE: …"), or why verify() refuses the op; the message starts with the location.
Expected<ImportedKernel> verified_kernel(Op op, std::string location, const VerifyOptions& options = {});
/// Replaces what `options` override in the kernel's op. The changed op is verified again; errors start with the location.
Status override_kernel(ImportedKernel& kernel, const ImportOptions& options);

/// One per format.
struct Importer {
  std::string_view ending;  ///< ".onnx"
  std::string_view format;
  Expected<Imported> (*import_bytes)(std::string_view bytes, const std::string& path, const ImportOptions& options);
  int64_t max_bytes;  ///< the largest file of this format that is read
};
const std::vector<Importer>& importers();

}  // namespace strew
