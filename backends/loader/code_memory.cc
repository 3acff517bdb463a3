// See code_memory.h.
#include "backends/loader/code_memory.h"

#include <utility>

#include "backends/loader/externals.h"
#include "backends/loader/slabs.h"
#include "base/fork_hooks.h"

namespace strew::inline v0 {
namespace {

class Placed final : public CodeMemory {
 public:
  explicit Placed(CodeRun run) : run_(std::move(run)) {}

  char* code() const override { return run_.code(); }
  char* constants() const override { return run_.constants(); }
  size_t bytes() const override { return run_.bytes(); }
  Status write(std::span<const char> code, std::span<const char> constants) override { return run_.write(code, constants); }

 private:
  CodeRun run_;
};

Expected<std::unique_ptr<CodeMemory>> place(size_t code_bytes, size_t constant_bytes) {
  STREW_ASSIGN(CodeRun run, process_slabs().place(code_bytes, constant_bytes));
  return std::unique_ptr<CodeMemory>(std::make_unique<Placed>(std::move(run)));
}

}  // namespace

Slabs& process_slabs() {
  static Slabs& slabs = []() -> Slabs& {
    static Slabs* const made = new Slabs;
    set_fork_hooks(ForkStage::code_memory, {[] { made->before_fork(); }, [] { made->after_fork(); }, [] { made->after_fork(); }});
    return *made;
  }();
  return slabs;
}

const CodeServices& code_services() {
  static constexpr CodeServices kServices{Slabs::kPiece, place, find_external};
  return kServices;
}

}  // namespace strew::inline v0
