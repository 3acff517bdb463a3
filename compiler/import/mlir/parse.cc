// MLIR's parser reads the text, with shim dialects (shim_dialect.h) for the textual forms. Unregistered operations are allowed, so no
// library of StableHLO is linked. The parser does not protect itself: prescan stops text that would harm it, and the importers check what
// it accepts unseen (types, attribute bodies, constraints).
//
// Line numbers come from the parser's record of where each operation stands. Locations inside the IR are not used: they are what the text
// says in loc(...), which in JAX's output is a Python file. Tested by tests/error/stablehlo_error_test.cc.
#include "compiler/import/mlir/parse.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/MemoryBuffer.h>
#include <mlir/AsmParser/AsmParser.h>
#include <mlir/Dialect/Affine/IR/AffineOps.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Bufferization/IR/Bufferization.h>
#include <mlir/Dialect/Complex/IR/Complex.h>
#include <mlir/Dialect/ControlFlow/IR/ControlFlow.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Index/IR/IndexDialect.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/Quant/IR/Quant.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/Dialect/UB/IR/UBOps.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/SymbolTable.h>
#include <mlir/IR/Verifier.h>

#include "compiler/import/mlir/prescan.h"
#include "compiler/import/mlir/shim_dialect.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// Keeps the first error that MLIR reports, as "FILE:LINE: message".
class FirstError {
 public:
  FirstError(mlir::MLIRContext* context, std::string path)
      : path_(std::move(path)), handler_(context, [this](mlir::Diagnostic& d) { return take(d); }) {}

  Status status() const { return invalid_argument(text_.empty() ? path_ + ": MLIR's parser gave up without a message" : text_); }

 private:
  mlir::LogicalResult take(mlir::Diagnostic& diagnostic) {
    if (text_.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      const auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
      const bool ours = place && place.getFilename().getValue() == path_;
      const std::string where = ours ? fmt::format("{}:{}", path_, place.getLine()) : path_;
      text_ = fmt::format("{}: {}", where, op_first(diagnostic.str()));
    }
    return mlir::success();
  }

  /// Rewrites "custom op 'stablehlo.add' expected ..." and "'stablehlo.add' op expected ..." to "stablehlo.add: expected ...".
  static std::string op_first(const std::string& message) {
    constexpr std::string_view kCustom = "custom op '", kQuote = "'", kOp = "op ";
    const bool custom = message.starts_with(kCustom);
    const size_t begin = custom ? kCustom.size() : kQuote.size(), end = message.find("' ", begin);
    if (end == std::string::npos || !(custom || message.starts_with(kQuote))) return message;
    std::string_view rest = std::string_view(message).substr(end + 2);
    if (!custom && !rest.starts_with(kOp)) return message;
    if (!custom) rest.remove_prefix(kOp.size());
    std::string op = message.substr(begin, end - begin);
    if (op.starts_with("Tensor.") || op.starts_with("Vector.")) op[0] = llvm::toLower(op[0]);  // as in the file
    return fmt::format("{}: {}", op, rest);
  }

  std::string path_, text_;
  mlir::ScopedDiagnosticHandler handler_;
};

/// Why MLIR's verifier may not see the operation, empty if it may: some things it takes for granted.
std::string unverifiable(mlir::Operation* op) {
  // MLIR's analysis of dominance believes that only the last operation of a block branches.
  if (op->getNumSuccessors() != 0 && op != &op->getBlock()->back()) return "branches, expected at the end of its block";
  const auto dim = op->getAttrOfType<mlir::IntegerAttr>("dim");
  if (llvm::isa<mlir::tensor::ConcatOp>(op) && dim && dim.getValue().isNegative()) return "dim is negative, expected 0 or more";
  if (!llvm::isa<mlir::tensor::FromElementsOp>(op) || op->getNumResults() != 1) return {};
  const auto type =
      llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());  // of which it makes a list of as many types
  if (!type || !type.hasStaticShape() || type.getNumElements() == op->getNumOperands()) return {};
  return fmt::format("{} elements, expected as many as the result has", op->getNumOperands());
}

/// Runs MLIR's verifier on the operations in `top` and then on itself. Those of dialects none of whose operations is read are left out, but for
/// uses of symbols, which the verifier of the module follows: nothing depends on what they mean, and their verifiers need not be safe.
mlir::LogicalResult verify_read(mlir::Operation* top) {
  static constexpr llvm::StringRef kUnread[] = {"affine", "bufferization", "memref", "ub", "vector"};
  const auto may_be_verified = [](mlir::Operation* op) -> mlir::WalkResult {
    const std::string wrong = unverifiable(op);
    return wrong.empty() ? mlir::success() : mlir::failure(mlir::failed(op->emitOpError(wrong)));
  };
  const auto is_right = [](mlir::Operation* op) -> mlir::WalkResult {
    if (llvm::is_contained(kUnread, op->getName().getDialectNamespace()) && !llvm::isa<mlir::SymbolUserOpInterface>(op))
      return mlir::success();
    return mlir::verify(op, /*verifyRecursively=*/false);
  };
  return mlir::failure(top->walk(may_be_verified).wasInterrupted() || top->walk(is_right).wasInterrupted());
}

}  // namespace

Expected<std::unique_ptr<ParsedModule>> ParsedModule::parse(std::string_view text, const std::string& path) {
  STREW_ASSIGN(const Prescanned found, prescan_mlir(text, path));
  std::unique_ptr<ParsedModule> parsed(new ParsedModule(path));
  parsed->context_ = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  mlir::MLIRContext* context = parsed->context_.get();
  context->printOpOnDiagnostic(false);
  context->allowUnregisteredDialects();
  context->loadDialect<mlir::func::FuncDialect, mlir::quant::QuantDialect>();
  mlir::DialectRegistry when_met;  // the parser loads a dialect at its first operation
  when_met.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect,
                  mlir::cf::ControlFlowDialect, mlir::complex::ComplexDialect, mlir::index::IndexDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect>();
  register_shim_dialects(found.dialects, when_met);
  context->appendDialectRegistry(when_met);

  // The lexer stops at a terminating zero, so the text is copied into a buffer that ends with one.
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), path);
  if (!copy) return resource_exhausted(fmt::format("{}: no memory for {} bytes of text", path, text.size()));
  std::copy(text.begin(), text.end(), copy->getBufferStart());
  for (const size_t begin : found.own_forms) copy->getBufferStart()[begin] = llvm::toUpper(text[begin]);
  parsed->sources_.AddNewSourceBuffer(std::move(copy), llvm::SMLoc());
  FirstError error(context, path);
  const mlir::ParserConfig config(context, /*verifyAfterParse=*/false);
  parsed->module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
  mlir::Block* top = parsed->module_->getBody();
  if (mlir::failed(mlir::parseAsmSourceFile(parsed->sources_, top, config, &parsed->places_))) return error.status();
  if (llvm::hasSingleElement(*top) && llvm::isa<mlir::ModuleOp>(top->front())) {
    auto module = llvm::cast<mlir::ModuleOp>(top->front());
    module->remove();
    parsed->module_ = module;
  }
  if (mlir::failed(verify_read(*parsed->module_))) return error.status();
  return parsed;
}

int ParsedModule::line_of(mlir::Operation* op) const {
  for (; op; op = op->getParentOp()) {
    const mlir::AsmParserState::OperationDefinition* place = places_.getOpDef(op);
    if (place && place->loc.isValid()) return static_cast<int>(sources_.getLineAndColumn(place->loc.Start).first);
  }
  return 0;
}

std::string ParsedModule::where(mlir::Operation* op) const {
  const int line = line_of(op);
  return line == 0 ? path_ : fmt::format("{}:{}", path_, line);
}

size_t ParsedModule::offset_of(llvm::SMLoc place) const {
  return static_cast<size_t>(place.getPointer() - sources_.getMemoryBuffer(sources_.getMainFileID())->getBufferStart());
}

int64_t ParsedModule::begin_of(mlir::Operation* op) const {
  const mlir::AsmParserState::OperationDefinition* place = places_.getOpDef(op);
  if (place == nullptr || !place->loc.isValid()) return -1;
  size_t begin = offset_of(place->loc.Start);
  for (const auto& group : place->resultGroups) begin = std::min(begin, offset_of(group.definition.loc.Start));
  return static_cast<int64_t>(begin);
}

std::string ParsedModule::name_of(mlir::Value value) const {
  const auto text = [](llvm::SMRange range) {
    if (!range.isValid()) return std::string();
    const llvm::StringRef name(range.Start.getPointer(), static_cast<size_t>(range.End.getPointer() - range.Start.getPointer()));
    return name.ltrim('%').take_until([](char c) { return c == ':' || c == '#'; }).str();
  };
  if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    const mlir::AsmParserState::BlockDefinition* block = places_.getBlockDef(argument.getOwner());
    if (block == nullptr || argument.getArgNumber() >= block->arguments.size()) return {};
    return text(block->arguments[argument.getArgNumber()].loc);
  }
  const auto result = llvm::cast<mlir::OpResult>(value);
  const mlir::AsmParserState::OperationDefinition* place = places_.getOpDef(result.getOwner());
  if (place == nullptr) return {};
  std::string name;
  unsigned start = 0;
  for (const auto& group : place->resultGroups) {
    if (group.startIndex > result.getResultNumber()) break;
    name = text(group.definition.loc);
    start = group.startIndex;
  }
  const unsigned within = result.getResultNumber() - start;
  return name.empty() || within == 0 ? name : fmt::format("{}_{}", name, within);
}

std::string ParsedModule::location(mlir::Operation* op) const {
  return fmt::format("{}: {}", where(op), op->getName().getStringRef().str());
}

Status ParsedModule::fail(mlir::Operation* op, const std::string& what) const {
  return invalid_argument("{}: {}", location(op), what);
}

Status ParsedModule::at(mlir::Operation* op, const Status& status) const {
  return status.ok() || status.message().starts_with(path_ + ":") ? status : status.with_prefix(location(op));
}

}  // namespace strew::inline v0
