"""Planted bugs: each a small change of the real sources that the differential test must notice.

A bug is (name, file, old, new): `old` must stand in `file` exactly once. Chosen so that each stands for a family: order, bounds,
policies, tails, widths, rounding, comparisons, splits, phases, strides.
"""

BODY = "backends/llvm/body.cc"
INDEX = "backends/llvm/index.cc"
OPS = "backends/llvm/numeric_ops.cc"
NUMERIC = "backends/llvm/numeric.cc"
PLAN = "compiler/plan/make_plan.cc"
PHASES = "runtime/executor/phases.cc"

BUGS = [
    ("positions walked backwards", "backends/llvm/range_entry.cc",
     "emit_window(f, at(i));",
     "emit_window(f, at(f.e.b.CreateSub(f.e.b.CreateSub(f.e.add(lo, hi), f.e.i64(1)), i)));"),
    ("last position dropped", "backends/llvm/range_entry.cc",
     "f.e.loop(lo, hi, options,",
     "f.e.loop(lo, f.e.b.CreateSub(hi, f.e.i64(1)), options,"),
    ("skip_window: last legal start dropped", INDEX,
     "e_.b.CreateICmpULE(value, largest)", "e_.b.CreateICmpULT(value, largest)"),
    ("skip_element drops the whole window", INDEX,
     "require(e_.b.CreateICmpSLT(place.lo, place.hi));",
     "require(e_.b.CreateICmpEQ(e_.b.CreateSub(place.hi, place.lo), window));"),
    ("clamp to the dim instead of dim - window", INDEX,
     "e_.smin(e_.smax(saturate(value), e_.i64(0)), largest);",
     "e_.smin(e_.smax(saturate(value), e_.i64(0)), f_.term(c.dim));"),
    ("wrap of a negative index keeps the sign", INDEX,
     "if (!unsigned64()) folded = e_.b.CreateSelect(e_.b.CreateICmpSLT(folded, e_.i64(0)), e_.b.CreateAdd(folded, dim), folded);",
     ""),
    ("wrap: second segment lost", "backends/llvm/window.cc",
     "e_.loop(e_.i64(0), e_.i64(2), {1, 1},", "e_.loop(e_.i64(0), e_.i64(1), {1, 1},"),
    ("u64 index read as signed under clamp", INDEX, "if (!unsigned64()) return value;", "return value;"),
    ("index narrowed to 32 bits", INDEX,
     "return is_signed_integer(f.plan.index_dtype) ? f.e.b.CreateSExt(raw, f.e.b.getInt64Ty())",
     "raw = f.e.b.CreateIntCast(raw, f.e.b.getInt32Ty(), is_signed_integer(f.plan.index_dtype));\n"
     "  return is_signed_integer(f.plan.index_dtype) ? f.e.b.CreateSExt(raw, f.e.b.getInt64Ty())"),
    ("normalisation also moves index 0", INDEX,
     "return e_.b.CreateSelect(e_.b.CreateICmpSLT(value, e_.i64(0)), wrapped, value);",
     "return e_.b.CreateSelect(e_.b.CreateICmpSLE(value, e_.i64(0)), wrapped, value);"),
    ("fault reports the dim as bound", "backends/llvm/check_entry.cc",
     "value, largest_start(f_, c)});", "value, f_.term(c.dim)});"),
    ("vector check accepts one index too many", "backends/llvm/check_entry.cc",
     "Value* bad = e_.b.CreateICmpUGT(e_.load(vector, address(i), Access::input), bounds);",
     "Value* bad = e_.b.CreateICmpUGT(e_.b.CreateSub(e_.load(vector, address(i), Access::input), "
     "llvm::ConstantInt::get(vector, 1)), bounds);"),
    ("vector tail dropped", BODY,
     "Value* at = body_end;\n    for (int part = width / 2; part >= 1; part /= 2) {",
     "Value* at = body_end;\n    for (int part = width / 2; part >= 2; part /= 2) {"),
    ("copy tail dropped", BODY,
     "for (int64_t part = width / 2; part >= 1; part /= 2) {\n      Value* piece",
     "for (int64_t part = width / 2; part >= 2; part /= 2) {\n      Value* piece"),
    ("last vector of a constant copy overruns the row", BODY,
     "const int64_t at = std::min(i, length - width);", "const int64_t at = i;"),
    ("bf16 rounds toward zero", NUMERIC,
     "e_.b.CreateAdd(bits, e_.b.CreateAdd(lowest, splat(i32, 0x7fff)))", "e_.b.CreateAdd(bits, e_.b.CreateAnd(lowest, splat(i32, 0)))"),
    ("f64 to 16 bits rounds twice", NUMERIC,
     "if (from == DType::f64) return to == DType::f32 ? e_.b.CreateFPTrunc(value, type) : double_to_odd_float(value);",
     "if (from == DType::f64) return e_.b.CreateFPTrunc(value, type);"),
    ("minimum ignores NaN", OPS, "llvm::Intrinsic::minimum, a, b", "llvm::Intrinsic::minnum, a, b"),
    ("maximum takes -0 for +0", OPS,
     "return e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);",
     "return e_.b.CreateSelect(e_.b.CreateOr(e_.b.CreateFCmpOGE(a, b), e_.b.CreateFCmpUNO(a, a)), a, b);"),
    ("unsigned maximum compares as signed", OPS, "is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax", "llvm::Intrinsic::smax"),
    ("signed division unguarded", OPS,
     "Value* safe = e_.b.CreateSelect(special, one, b);\n    if (op == ExprOp::rem)", "Value* safe = b;\n    if (op == ExprOp::rem)"),
    ("16-bit nodes keep 32 bits", "backends/llvm/evaluate.cc",
     "if (Numeric::rounds_after(type)) return {nullptr, n_.encode(type, v)};", ""),
    ("loops merged although the last tensor's strides differ", PLAN,
     "t < plan_.tensors.size() && mergeable", "t + 1 < plan_.tensors.size() && mergeable"),
    ("first position written before the check", PHASES,
     "if (plan.checks_first) {\n",
     "if (plan.checks_first) {\n    strew_fault early{};\n    if (shape.positions > 0) state.range(&args, 0, 1, &early);\n"),
    ("init skipped", PHASES, "if (shape.init > 0 && !call.result_is_operand) {", "if (shape.init > 0 && plan.gather) {"),
    ("threads split windows that overlap", "runtime/strategies/window.cc",
     "if (!plan.gather && plan.kind == PlanKind::general", "if (plan.gather && plan.kind == PlanKind::general"),
]
