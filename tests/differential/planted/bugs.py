"""Planted bugs: each a small change of the real sources that the differential test must notice.

A bug is (name, old, new[, seconds[, arguments[, program]]]). `old`, its anchor, must stand in exactly one place of the library's .cc files; white space
does not count, so the anchor survives formatting and moves between files (tests/differential/run_planted.py --check, part of ctest
and ./dev lint, tells when one is lost). `seconds` is the budget within which the differential test must fail, `arguments` are further ones of
strew_differential: a backend, or one op for a bug that random ops meet only every few minutes. `program`: another one that must fail instead. Each bug stands for a family: order, bounds, policies, tails, widths, rounding, comparisons, splits, phases, strides.
"""

HALIDE = (30, ("--backend", "halide"))
PORTABLE = (30, ("--backend", "portable"))
PORTABLE_SWAPPED = (30, ("--backend", "portable", "--op",
                         "strew1.scatter(operand=f32[4] indices=i32[9] updates=f32[9] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                         "index_vector_dim=1 combiner=expr expr={%0=update(0):f32; %1=current(0):f32; %2=subtract(%0,%1):f32; return %2} "
                         "init=in_place)"))
# Sixteen updates for each element, so that the order in which partial sums are added shows.
DENSE_SUM = (30, ("--op", "strew1.scatter(operand=f32[4] indices=i32[64] updates=f32[64] inserted_window_dims=[0] "
                  "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add order=relaxed init=in_place)"))

# Rows of eight bytes, more of them than an iteration moves, of which the policy fills some.
SHORT_GETS = (30, ("--op", "strew1.gather(operand=u16[9,4] indices=i32[43] result=u16[43,4] offset_dims=[1] collapsed_slice_dims=[0] "
                   "start_index_map=[0] slice_sizes=[1,4] index_vector_dim=1 oob=fill_element fill=7:u16)"))
# Single elements by two indices, more of them than are placed at a time, of which the policy fills some.
FILLED_GETS = (30, ("--op", "strew1.gather(operand=f32[5,7] indices=i32[43,2] result=f32[43] collapsed_slice_dims=[0,1] start_index_map=[0,1] "
                    "slice_sizes=[1,1] index_vector_dim=1 oob=fill_element fill=7:f32)"))
SHORT_SETS = (30, ("--op", "strew1.scatter(operand=u16[9,4] indices=i32[43] updates=u16[43,4] update_window_dims=[1] inserted_window_dims=[0] "
                   "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place)"))

# Dim 0 is in no window and no index moves it: of the shapes that random ops draw, few have an empty one.
EMPTY_FIXED = (30, ("--op", "strew1.scatter(operand=f32[0,8] indices=i32[6,1] updates=f32[6] inserted_window_dims=[0,1] "
                    "scatter_dims_to_operand_dims=[1] index_vector_dim=1 init=in_place)"))
EMPTY_FIXED_OPEN = (60, ("--op", "strew1.scatter(operand=f32[?,8] indices=i32[6,1] updates=f32[6] inserted_window_dims=[0,1] "
                         "scatter_dims_to_operand_dims=[1] index_vector_dim=1 init=in_place)"))

# Each destination has several updates.
NPU_SUM = (30, ("--op", "strew1.scatter(operand=bf16[4,8] indices=i32[40] updates=bf16[40,8] update_window_dims=[1] "
                "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)"), "strew_npu_differential")
NPU_F64_SUM = (30, ("--op", "strew1.scatter(operand=f64[4,8] indices=i32[40] updates=f64[40,8] update_window_dims=[1] "
                    "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place)"), "strew_npu_differential")
NPU_WIDE = (30, ("--op", "strew1.scatter(operand=f16[4,8] indices=i32[40] updates=f16[40,8] update_window_dims=[1] "
                 "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add accumulate=wide)"), "strew_npu_differential")

NPU_STRIDES = (30, ("--op", "strew1.scatter(operand=f32[6,8] indices=i32[9] updates=f32[9,8] result=f32[6,8]{-12,1} update_window_dims=[1] "
                    "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1)"), "strew_npu_differential")
NPU_ROW_SUM = (30, ("--op", "strew1.scatter(operand=f32[6,16] indices=i32[9] updates=f32[9,16] row_reductions=[add(4){%0=update(0):f32; return "
                    "%0}] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
                    "expr={%0=extra(0):f32; return %0})"), "strew_npu_differential")
NPU_ERROR = (60, ("--op", "strew1.scatter(operand=f32[6,8] indices=i16[9] updates=f32[9,8] update_window_dims=[1] inserted_window_dims=[0] "
                  "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=error)"), "strew_npu_differential")
NPU_PLACED = (60, ("--op", "strew1.gather(operand=f32[9,7] indices=i16[5,2] result=f32[5,3,3] offset_dims=[1,2] start_index_map=[0,1] "
                   "index_vector_dim=1 slice_sizes=[3,3] oob=clamp)"), "strew_npu_differential")

# Ops with look-ups, of which others are few.
LOOKUPS = (60, ("--lookups",))
ROWS = (60, ("--rows",))
PORTABLE_ROWS = (60, ("--rows", "--backend", "portable"))
PORTABLE_LOOKUPS = (60, ("--lookups", "--backend", "portable"))
HALIDE_LOOKUPS = (60, ("--lookups", "--backend", "halide"))
# The second result is computed from the current value of the first, in the arguments of an intrinsic of Halide's (a strict sum).
HALIDE_TWO = (30, ("--backend", "halide", "--op", "strew1.scatter(operand=[f32[9,16],f32[9,16]] indices=i32[50] updates=[f32[50,16],f32[50,16]] "
                   "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr "
                   "expr={%0=update(0):f32; %1=current(0):f32; %2=current(1):f32; %3=add(%1,%2):f32; return %0, %3} init=in_place)"))
SORTED_FILLS = (30, ("--op", "strew1.scatter(operand=f32[9,16] indices=i32[50] updates=f32[50,16] lookups=[updates(0)=gather(operand=f32[7,16] "
                     "indices=i32[50] result=f32[50,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
                     "slice_sizes=[1,16] oob=fill_window fill=3:f32)] update_window_dims=[1] inserted_window_dims=[0] "
                     "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place indices_are_sorted=true)"))
SORTED_CUTS = (30, ("--op", "strew1.scatter(operand=f32[9,16] indices=i32[50] updates=f32[50,16] lookups=[updates(0)=gather(operand=f32[7,20] "
                    "indices=i32[50,2] result=f32[50,16] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0,1] index_vector_dim=1 "
                    "slice_sizes=[1,16] oob=skip_element)] update_window_dims=[1] inserted_window_dims=[0] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place indices_are_sorted=true)"))
# What the first look-up leaves of a window may lie behind the end of the second one's table.
CUT_AND_WRAPPED = (30, ("--op", "strew1.scatter(operand=f32[9,16] indices=i32[50] updates=f32[50,16] extras=[per_element:f32[50,16]] "
                        "lookups=[updates(0)=gather(operand=f32[20] indices=i32[50] result=f32[50,16] offset_dims=[1] start_index_map=[0] "
                        "index_vector_dim=1 slice_sizes=[16] oob=skip_element),extra(0)=gather(operand=f32[20] indices=i32[50] result=f32[50,16] "
                        "offset_dims=[1] start_index_map=[0] index_vector_dim=1 slice_sizes=[16] oob=wrap)] update_window_dims=[1] "
                        "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={%0=update(0):f32; "
                        "%1=extra(0):f32; %2=multiply(%0,%1):f32; %3=current(0):f32; %4=add(%3,%2):f32; return %4} init=in_place)"))
# Sorted indices with many updates per destination, of which random ops are few.
SORTED_ELEMENTS = (30, ("--op", "strew1.scatter(operand=f32[5] indices=i32[300] updates=f32[300] inserted_window_dims=[0] "
                        "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place indices_are_sorted=true)"))
SORTED_ROWS = (30, ("--op", "strew1.scatter(operand=f32[9,21] indices=i32[50] updates=f32[50,21] update_window_dims=[1] inserted_window_dims=[0] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place indices_are_sorted=true)"))
# Two results of which the second reads the first; the table wraps within a row.
CUT_PAIRS = (30, ("--op", "strew1.scatter(operand=[i64[6,?,?,27],i64[6,?,1,27]] indices=u32[2,7] updates=[i64[7,?,27],i64[7,?,?]] "
                  "lookups=[updates(0)=gather(operand=i64[?,15,29] indices=i64[7,2] result=i64[7,?,27] offset_dims=[1,2] collapsed_slice_dims=[1] "
                  "start_index_map=[1,2] index_vector_dim=1 slice_sizes=[?,1,27] oob=wrap)] update_window_dims=[1,2] inserted_window_dims=[0,2] "
                  "scatter_dims_to_operand_dims=[0,2] combiner=expr expr={%0=update(0):i64; %1=current(0):i64; %2=maximum(%1,%0):i64; "
                  "%3=gt(%0,%1):bool; %4=current(1):i64; %5=constant(0):i64; %6=lt(%4,%5):bool; %7=or(%3,%6):bool; %8=update(1):i64; "
                  "%9=select(%7,%8,%4):i64; return %2, %9} init=in_place oob=skip_window)"))
# The last dim is reduced; more rows than are folded at a time.
REDUCED_ROWS = (30, ("--op", "strew1.scatter(operand=f32[21] indices=i32[21,13,0] updates=f32[21,13] input_batching_dims=[0] "
                     "scatter_indices_batching_dims=[0] index_vector_dim=2 combiner=add init=in_place)"))
# Several updates of one element between the rows that are folded side by side.
REDUCED_MIDDLE = (30, ("--op", "strew1.scatter(operand=i16[3] indices=i32[4,3,11,0] updates=i16[4,3,11] input_batching_dims=[0] "
                       "scatter_indices_batching_dims=[1] index_vector_dim=3 combiner=sub init=in_place)"))
TRANSPOSED = (30, ("--op", "strew1.scatter(operand=complex128[37,21] indices=i32[0] updates=complex128[37,21]{1,37} update_window_dims=[0,1] init=in_place)"))
# Looked-up rows of more vectors than the registers hold, with AVX-512.
LONG_SORTED_ROWS = (30, ("--op", "strew1.scatter(operand=f32[3,512] indices=i32[40] updates=f32[40,512] lookups=[updates(0)=gather(operand=f32[70,512] "
                         "indices=i32[40] result=f32[40,512] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
                         "slice_sizes=[1,512])] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
                         "combiner=add init=in_place oob=skip_window indices_are_sorted=true)"))
# Rows whose wide sums are in registers, where the hint is true and where it is not.
WIDE_SORTED_ROWS = (30, ("--op", "strew1.scatter(operand=bf16[7,40] indices=i32[60] updates=bf16[60,40] update_window_dims=[1] inserted_window_dims=[0] "
                         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=skip_window accumulate=wide "
                         "indices_are_sorted=true)"))
WIDE_SORTED_FILL = (30, ("--op", "strew1.scatter(operand=f16[7,40] indices=i32[60] updates=f16[60,40] update_window_dims=[1] inserted_window_dims=[0] "
                         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=mul init=fill fill=1.5:f16 oob=clamp accumulate=wide "
                         "indices_are_sorted=true)"))
MIXED_SIGNS = (30, ("--op", "strew1.scatter(operand=f32[9,7] indices=u32[40] more_indices=i32[40] updates=f32[40] inserted_window_dims=[0,1] "
                    "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 init=in_place normalize_negative=true)"))
# The first index tensor repeats along the batching dim, the second does not.
REPEATED = (30, ("--op", "strew1.scatter(operand=f32[9,5,6] indices=i32[20,6]{1,0} more_indices=i32[20,6] updates=f32[20,6] inserted_window_dims=[0,1] "
                 "input_batching_dims=[2] scatter_indices_batching_dims=[1] scatter_dims_to_operand_dims=[0,1] index_vector_dim=2 combiner=add "
                 "init=in_place)"))

# The C++ of NPU programs: it is compiled and run, with a monitor of its flags. Each run of the compiler has the same budget of its own.
NPU = (10, (), "strew_npu_compiled")
NPU_PAIRS = (20, ("--op", "strew1.scatter(operand=i32[64,64] indices=i32[600,1] updates=i32[600,64] update_window_dims=[1] inserted_window_dims=[0] "
                  "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window)"), NPU[2])
NPU_LAUNCHED = (20, ("--golden", "launched_gradient"), NPU[2])
NPU_HISTOGRAM = (20, ("--golden", "launched_histogram"), NPU[2])
NPU_HEADS = (20, ("--golden", "kv_prefill"), NPU[2])

# Whole programs against the interpreter and the reference.
PROGRAMS = (60, (), "strew_program_differential")

# Windows whose updates lie in columns: tiles, what they leave of both loops, and a loop between these two.
COLUMNS = (30, ("--op", "strew1.scatter(operand=f32[21,37] indices=i32[0] updates=f32[21,37]{1,21} update_window_dims=[0,1] index_vector_dim=0 "
                "combiner=add init=in_place oob=undefined)"))
COLUMNS_MOVED = (30, ("--op", "strew1.scatter(operand=f32[21,37] indices=i32[0] updates=f32[21,37]{1,21} update_window_dims=[0,1] index_vector_dim=0 "
                      "init=in_place oob=undefined)"))
COLUMNS_LONG = (30, ("--op", "strew1.scatter(operand=f32[21,37] indices=i32[0] updates=f32[21,37]{1,21} update_window_dims=[0,1] index_vector_dim=0 "
                     "combiner=expr expr={%0=update(0):f32; " + "".join(f"%{i}=subtract(%0,%{i - 1}):f32; " for i in range(1, 40)) + "return %39} "
                     "init=in_place oob=undefined)"))
COLUMNS_OF_PLANES = (30, ("--op", "strew1.scatter(operand=f32[21,3,37] indices=i32[0] updates=f32[21,3,37]{1,21,63} update_window_dims=[0,1,2] "
                          "index_vector_dim=0 init=in_place oob=undefined)"))

BUGS = [
    ("parts: two wait for each other in a circle", "if (next == to && at != from) return std::nullopt;", "", *PROGRAMS),
    ("parts: an operation of the host's does not part what is before it from what is behind it", "level[v] + (is_run ? 0 : 1)", "level[v]", *PROGRAMS),
    ("parts: what only operations of the host's read is no output", "if (group_of[u] < 0 || group_of[u] != group_of_value(v)) is_output[v] = true;",
     "if (group_of[u] >= 0 && group_of[u] != group_of_value(v)) is_output[v] = true;", *PROGRAMS),
    ("parts: unions keep the place of one of the two in the order", "rank_[whole] = *rank;", "rank_[whole] = ranks.back();", *PROGRAMS),
    ("programs: a kernel writes over an input that something else reads", "if (value.kind != ValueKind::input || uses_.readers[uses_.first[v]] != 1) return nullptr;",
     "if (value.kind != ValueKind::input) return nullptr;", *PROGRAMS),
    ("programs: a kernel writes over an input that is read-only", "if (!buffers_.reuses_inputs || tensor.data.read_only()) return nullptr;",
     "if (!buffers_.reuses_inputs) return nullptr;", *PROGRAMS),
    ("programs: a kernel's result lies in the output where an input still is",
     "if (given != nullptr && (is_apart(*given) || (operand != nullptr && operand->data.data() == given->data.data())))\n      return", "if (given != nullptr) return", *PROGRAMS),
    ("programs: an update is written over a tensor that is read later", "return left_[uses_.first[v]] == 1 && (tensor.data", "return left_[uses_.first[v]] >= 1 && (tensor.data", *PROGRAMS),
    ("programs: memory is free before its last reader", "if (--left_[uses_.first[v]] > 0) return;", "if (--left_[uses_.first[v]] > 1) return;", *PROGRAMS),
    ("pieces: a reverse begins at the first element", "to.first += (from.dims[d] - 1) * from.strides[d];", "", *PROGRAMS),
    ("pieces: a reshape merges dims that lie apart", "if (!merged_dims.empty() && merged_strides.back() == strides[d] * dims[d]) {", "if (!merged_dims.empty()) {", *PROGRAMS),
    ("pieces: an op that was made for other dims is taken", "if (made.dims[l] != tensor(region.leaves[l]).dims) return false;", "static_cast<void>(l);", *PROGRAMS),
    ("pieces: a reduction begins with another call's initial value", "if (made.initials != initials || made.shapes != shapes) return false;", "if (made.shapes != shapes) return false;", *PROGRAMS),
    ("pieces: what another operation reads joins a region", "|| program_.readers(v) != seen.readers) return false;", ") return false;", *PROGRAMS),
    ("pieces: an op that was made for another shape is taken", "if (made.initials != initials || made.shapes != shapes) return false;", "if (made.initials != initials) return false;", *PROGRAMS),
    ("pieces: parts of a concatenation lie over each other", "to.first += to.dims[along] * to.strides[along];", "", *PROGRAMS),
    ("pieces: a part is written to the beginning of what it changes", "part.first += op.starts[d] * to.strides[d];", "", *PROGRAMS),
    ("pieces: a part of a larger tensor has strides of its own", "if (!to.is_contiguous()) placement.strides = to.strides;", "", *PROGRAMS),
    ("pieces: what somebody else reads is written over by an update", "return alias.elements() * storage_bytes(from.dtype, 1) == from.data.size() ? writable(alias.value) : nullptr;", "return alias.elements() * storage_bytes(from.dtype, 1) == from.data.size() && !from.data.read_only() ? const_cast<Tensor*>(&from) : nullptr;", *PROGRAMS),
    ("pieces: a place that the call knows is not checked", "op.oob = OobPolicy::error;\n}", "op.oob = OobPolicy::clamp;\n}", *PROGRAMS),
    ("steps: a kernel is known although what it reads is not", "each_use(kernel, [&](int v) { does = does || depends_[v]; });", "", *PROGRAMS),
    ("pieces: only the first of several paths is followed", "for (; path != 0; path = paths_[static_cast<size_t>(path)].outer) {", "for (; path != 0; path = 0) {", *PROGRAMS),
    ("programs: a tensor that is two outputs is moved to both", "if (!again && from[i]->dtype", "(void)again; if (from[i]->dtype", *PROGRAMS),
    ("programs: a transpose that a kernel takes over is not inverted", "out[order[d]] = static_cast<int64_t>(d);", "out[d] = order[d];", *PROGRAMS),
    ("programs: a gather that something else reads becomes a look-up",
     'if (context.program.readers(value) != readers) return unsupported("another operation reads its result, too");', "(void)readers;", *PROGRAMS),
    ("programs: an index that differs along a row counts as one that repeats", "if (at[d].dim == dim && !repeats_along(quantity.element.value, static_cast<int64_t>(d))) return true;",
     "(void)at;", *PROGRAMS),
    ("programs: dims that lie apart in an argument are interpreted as one row", "from.back() == extents[d] * from_strides[d] && to.back()", "to.back()",
     *PROGRAMS),
    ("programs: a gather turns, and its operand does not", "if (moves(table_)) arguments[0] = transposed(arguments[0], table_, \", its operand\");", "",
     *PROGRAMS),
    ("programs: a gather that scatters share is gone before the last has looked it up", "if (context_.program.readers(value) > 0) return;", "", *PROGRAMS),
    ("programs: one component counts from the end, so all do", "if (normalises && !column.normalised && range.low < 0) return false;", "", *PROGRAMS),
    ("programs: one component is clipped, so all are", "if (clamps && !clamps_by_itself() && !column.clamped && !inside) return false;", "(void)inside;", *PROGRAMS),
    ("npu: C++ has tiles that are valid to their last row", "extent(t.valid[0]), extent(t.valid[1])", "extent(type.dims[0]), extent(t.valid[1])", *NPU),
    ("npu: C++ lacks a flag", "if (mixed_ && signal(s, indent)) return;",
     "if (s.attributes[2].value == \"EVENT_ID1\") return; if (mixed_ && signal(s, indent)) return;", *NPU),
    ("npu: C++ scatters without the atomic",
     "return rule.in_cpp(s.attribute(place));",
     "return rule.in_cpp(place == \"scatterAtomicOp\" ? std::string_view(\"none\") : s.attribute(place));", *NPU),
    ("npu: C++ has the offset of a part in elements where it is in rows", 'adjacent ? "" : " * " + pitch[d]', '""', *NPU),
    ("npu: C++ divides down where it should divide up", "({0} > 0) ? ({0} - 1) / {1} + 1 : {0} / {1}", "{0} / {1}", *NPU),
    ("npu: no barriers between vector instructions of a3", "return touch.pipe != Pipe::v || chip_ != Chip::a3;", "return true;", *NPU),
    ("npu: a loop waits for no iteration before", "if (covered_between(steps, earlier, later, pipes)) continue;", "continue;", *NPU),
    ("npu: C++ adds 64-bit numbers of the data with their sign", "if (wraps(s)) {", "if (false) {", 10, ("--golden", "row_i64_add"), NPU[2]),
    ("halide: the first of two results is stored before the second is computed from what it was",
     "if (reads_another(1)) std::ranges::reverse(order);", "", *HALIDE_TWO),
    ("updates reach a tensor without elements",
     "plan_.window = {empty_loop(constant(0))}, has_destinations_ = false;", ";", *EMPTY_FIXED),
    ("updates reach a tensor that is empty at the call",
     "if (!has_destinations) call.window = 0;", "", *EMPTY_FIXED_OPEN),
    ("stores that bypass the caches: any destination is as good as one at a whole vector",
     "Value* aligned = e_.b.CreateICmpEQ(e_.b.CreateAnd(address, e_.i64(width - 1)), e_.i64(0));",
     "(void)address; Value* aligned = e_.b.getTrue();"),
    ("stores that bypass the caches: what is no whole vector is dropped",
     "tail_copy(to, from, whole, length, width); }, [&] { loop_copy(to, from, length); });",
     "}, [&] { loop_copy(to, from, length); });"),
    ("positions walked backwards",
     "return f_.e.loop(first, last, options_, single);",
     "return f_.e.loop(first, last, options_, [&](Value* i) { single(f_.e.b.CreateSub(f_.e.b.CreateSub(f_.e.add(first, last), f_.e.i64(1)), i)); });"),
    ("clip: owners overlap by one destination",
     "return owned ? e_.smin(to, iteration_at(f_, placement, loop_, offsetof(strew_args, k1), shift)) : to;",
     "return owned ? e_.smin(to, e_.add(iteration_at(f_, placement, loop_, offsetof(strew_args, k1), shift), e_.i64(1))) : to;"),
    ("last position dropped",
     "f_.e.loop(first, last, options_, single",
     "f_.e.loop(first, f_.e.b.CreateSub(last, f_.e.i64(1)), options_, single"),
    ("several positions per iteration: the rest is dropped",
     "loop_in_groups(first, last, together_,",
     "loop_in_groups(first, f_.e.b.CreateSub(last, f_.e.i64(1)), together_,"),
    ("eight positions at a time: all go where the first goes",
     "elements.moved(f_.at_position(row.pointers, position), lane)",
     "elements.moved(f_.at_position(row.pointers, position), lane * 0)"),
    ("several rows in a vector: the last one is stored as the first",
     "f_.e.store(part(vector, k % together_), to);", "f_.e.store(part(vector, (k + 1) % together_ == 0 ? 0 : k % together_), to);", *SHORT_SETS),
    ("several rows in a vector: the policy's fill is forgotten",
     "if (fill_ != nullptr) from = f_.e.b.CreateSelect(placement.inside, from, fill_);", "", *SHORT_GETS),
    ("skip_window: last legal start dropped",
     "e_.b.CreateICmpULE(value, largest)", "e_.b.CreateICmpULT(value, largest)"),
    ("skip_element drops the whole window",
     "require(e_.b.CreateICmpSLT(place.lo, place.hi));",
     "require(e_.b.CreateICmpEQ(e_.b.CreateSub(place.hi, place.lo), window));"),
    ("clamp to the dim instead of dim - window",
     "e_.smin(e_.smax(saturate(c, value), number(0)), largest);",
     "e_.smin(e_.smax(saturate(c, value), number(0)), dim_of(c));"),
    ("wrap of a negative index keeps the sign",
     "folded = e_.b.CreateSelect(e_.b.CreateICmpSLT(folded, e_.i64(0)), raised, folded);",
     ""),
    ("wrap: second segment lost",
     "e_.loop(e_.i64(0), e_.i64(2), {1, 1},", "e_.loop(e_.i64(0), e_.i64(1), {1, 1},"),
    ("u64 index read as signed under clamp", "if (c.dtype != DType::u64) return value;", "return value;"),
    ("index narrowed to 32 bits",
     "return is_signed_integer(c.dtype) ? f.e.b.CreateSExt(raw, f.e.b.getInt64Ty())",
     "raw = f.e.b.CreateIntCast(raw, f.e.b.getInt32Ty(), is_signed_integer(c.dtype));\n"
     "  return is_signed_integer(c.dtype) ? f.e.b.CreateSExt(raw, f.e.b.getInt64Ty())"),
    ("normalisation also moves index 0",
     "return e_.b.CreateSelect(e_.b.CreateICmpSLT(value, number(0)), wrapped, value);",
     "return e_.b.CreateSelect(e_.b.CreateICmpSLE(value, number(0)), wrapped, value);"),
    ("fault reports the dim as bound",
     "value, largest, e_.i64(source_)});", "value, f_.term(c.dim), e_.i64(source_)});"),
    ("vector check accepts one index too many",
     "accumulate(sum, e_.b.CreateSExt(outside(good, e_.load(vector, address(i), Access::input)), vector));",
     "Range wide = good;\n      wide.length = e_.b.CreateAdd(good.length, llvm::ConstantInt::get(element, 1));\n"
     "      accumulate(sum, e_.b.CreateSExt(outside(wide, e_.load(vector, address(i), Access::input)), vector));"),
    ("vector tail dropped",
     "Value* at = body_end;\n    for (int part = width / 2; part >= 1; part /= 2) {",
     "Value* at = body_end;\n    for (int part = width / 2; part >= 2; part /= 2) {"),
    ("copy tail dropped",
     "for (int64_t part = width / 2; part >= 1; part /= 2) {\n      Value* piece",
     "for (int64_t part = width / 2; part >= 2; part /= 2) {\n      Value* piece"),
    ("last vector of a constant copy overruns the row",
     "const int64_t at = std::min(i, length - width);", "const int64_t at = i;"),
    ("bf16 rounds toward zero",
     "e(add, bits, e(add, lowest, u32(0x7fff)))", "e(add, bits, e(bit_and, lowest, u32(0)))"),
    ("f64 to 16 bits rounds twice",
     "return to == DType::f32 ? e.to(Machine::f32, P::fptrunc, a) : odd_float(e, a);", "return e.to(Machine::f32, P::fptrunc, a);"),
    ("minimum ignores NaN", "if (op == fmin) return e.float_of(e(bit_or, first, second));", "if (op == fmin) return e.float_of(first);"),
    ("maximum takes -0 for +0", "e(bit_or, e(bit_and, first, second), nan)", "e(bit_or, first, nan)"),
    ("unsigned maximum compares as signed", "e(has_sign(a) ? P::smax : P::umax, a.value, b.value)", "e(P::smax, a.value, b.value)"),
    ("signed division unguarded",
     "const Value safe = e(P::select, e(P::bit_or, by_zero, by_minus_one), e.same(b, 1), b);", "const Value safe = b;"),
    ("16-bit nodes keep 32 bits",
     "if (rounds_after(dtype) || bits(dtype) < 8) return {{}, encode(dtype, parts)};",
     "if (bits(dtype) < 8) return {{}, encode(dtype, parts)};"),
    ("loops merged although the last tensor's strides differ",
     "t < plan_.tensors.size() && mergeable", "t + 1 < plan_.tensors.size() && mergeable"),
    ("first position written before the check",
     "    args.source = s;\n",
     "    args.source = s;\n    strew_fault unused{};\n    if (call.positions > 0) callable.range(&args, 0, 1, &unused);\n"),
    ("short calls are not checked",
     "callable.check != nullptr && callable.check(&args, 0, positions, &found) != STREW_OK",
     "callable.check != nullptr && callable.check(&args, 0, positions, &found) == 99"),
    ("init skipped", "if (count == 0 || call.result_is_operand) return;", "if (count >= 0) return;"),
    ("threads split windows that overlap",
     "if (!plan.gather && plan.kind == PlanKind::general", "if (plan.gather && plan.kind == PlanKind::general"),
    ("packed store clears its neighbour",
     "e.b.CreateAnd(e.load(e.b.getInt8Ty(), place.byte, Access::result), others);",
     "e.b.CreateAnd(mask, others);"),
    ("owner keys ignore the policy",
     "f_.e.b.CreateSelect(placement.inside, key, f_.e.b.getInt32(~0u))", "key"),
    ("eight keys ignore the policy",
     "if (placement.inside != nullptr) key = f_.e.b.CreateSelect(placement.inside, key, all(f_.e.b.getInt32(~0u)));", ""),
    ("eight positions read the first component twice",
     "static_cast<int>(lane * stride + c.index_offset.factor)", "static_cast<int>(lane * stride)"),
    ("eight wrapped elements: the last takes the first's place",
     "static_cast<uint64_t>(lane)", "static_cast<uint64_t>(lane % 7)"),
    ("eight elements, of which some are dropped: these are the first of the table",
     "sinks_of_lanes(f_, kIndexLanes)", "f_.e.b.CreateVectorSplat(kIndexLanes, p[at])", *FILLED_GETS),
    ("the last of eight keys is dropped",
     "queued += std::popcount(set);", "queued += std::popcount(set & 127);"),
    ("an element stays in its register for the next one",
     "b.CreateICmpEQ(at, b.CreateLoad(b.getPtrTy(), last_)),", "b.CreateICmpNE(b.CreateLoad(b.getPtrTy(), last_), llvm::ConstantPointerNull::get(b.getPtrTy())),",
     *SORTED_ELEMENTS),
    ("a row stays in its registers for the next one",
     "b.CreateICmpEQ(row, before), [] {},", "b.CreateICmpNE(before, llvm::ConstantPointerNull::get(b.getPtrTy())), [] {},", *SORTED_ROWS),
    ("rows folded side by side: one that two parts share is folded by both",
     "part(e_.smax(e_.times(last, length), head), end);", "part(e_.times(first, length), end);", *REDUCED_ROWS),
    ("rows folded side by side: the groups skip a row",
     "rows.push_back(f_.at_row(loops_, e_.add(row, e_.i64(k))));", "rows.push_back(f_.at_row(loops_, e_.add(row, e_.i64(k / 2 * 2))));", *REDUCED_ROWS),
    ("rows folded side by side: some have the same element",
     "std::all_of(plan.positions.begin(), plan.positions.end() - 1, moves_result)",
     "std::any_of(plan.positions.begin(), plan.positions.end() - 1, moves_result)", *REDUCED_MIDDLE),
    ("tiles: the last one is whole",
     "Value* const j1 = e_.smin(e_.add(j0, e_.i64(kInner)), columns.hi);", "Value* const j1 = e_.smin(e_.add(j0, e_.i64(kInner)), e_.b.CreateSub(columns.hi, e_.i64(1)));",
     *TRANSPOSED),
    ("every panel of a row is the first",
     "rows(f.e.times(number, f.e.i64(length)));", "rows(f.e.times(f.e.i64(0), number));", *LONG_SORTED_ROWS),
    ("the last part of a row in registers is not stored",
     "for (const Register& one : registers_) {\n          Value* const sum",
     "for (const Register& one : llvm::ArrayRef(registers_).drop_back()) {\n          Value* const sum", *SORTED_ROWS),
    ("the first wave's last private table is not merged",
     "for (int t = std::max(first, 1); t < end; ++t) {", "for (int t = std::max(first, 1); t < end - (first == 0 ? 1 : 0); ++t) {"),
    ("the number of private tables follows the threads",
     "return strew::private_tables(static_cast<int>(call.kernel().tables), call.kernel().regroups != 0, call.threads);",
     "return std::min(static_cast<int>(call.kernel().tables), call.threads);", *DENSE_SUM),
    ("threads: the last chunk of a phase is not run",
     "run_phase(team, limits, phase.kind, split.chunks, work, split.busy());",
     "run_phase(team, limits, phase.kind, split.chunks - 1, work, split.busy());"),
    ("threads: a share of the columns ends one early",
     "(phase.axis == Axis::window ? part.w1 : part.k1) = end;",
     "(phase.axis == Axis::window ? part.w1 : part.k1) = end - (end > begin + 1 ? 1 : 0);"),
    ("threads: two take the same chunk", "job.callers.set(0, border(1));", "job.callers.set(0, border(1) + 1);"),
    ("runs: the last position is nobody's", "border(chunks_) = positions_;", "border(chunks_) = positions_ - 1;"),
    ("radix: the blocks of a bucket stand in reverse order",
     "for (int block = 0; block < layout_.blocks; ++block) {\n    places(block)[bucket] = at;",
     "for (int block = layout_.blocks; block-- > 0;) {\n    places(block)[bucket] = at;"),
    ("radix: a bucket loses its last position",
     "run_entry(call_.entry(STREW_ENTRY_list), args, partition_.bucket_begin(bucket), partition_.bucket_begin(bucket + 1));",
     "run_entry(call_.entry(STREW_ENTRY_list), args, partition_.bucket_begin(bucket), partition_.bucket_begin(bucket + 1) - 1);"),
    ("radix: a bucket's first slot is taken for the one before it",
     "bucket_of_[slot] = static_cast<uint16_t>(bucket);",
     "bucket_of_[slot] = static_cast<uint16_t>(bucket - (slot_begins_[bucket] == slot && bucket > 0 ? 1 : 0));"),
    ("f16 without the machine's instructions loses its lowest bit",
     "encode_bf16(*this, number) : encode_small(*this, dtype, number);",
     "encode_bf16(*this, number) : dtype != DType::f16 ? encode_small(*this, dtype, number) "
     ": (*this)(Primitive::bit_and, encode_small(*this, dtype, number), constant(Machine::i16, 0xfffe));"),
    ("a gather's fill is the operand's first element",
     "at = f.e.b.CreateSelect(inside, at, sink);",
     "at = f.e.b.CreateSelect(inside, at, f.plan.gather ? f.bases()[static_cast<size_t>(tensor)] : sink);"),
    ("wide: untouched elements are rounded too",
     "results.push_back(add_narrowing(graph, static_cast<int32_t>(i), s->results[i].dtype, wide))",
     "results.push_back(graph.convert(graph.update(static_cast<int32_t>(i), wide), s->results[i].dtype))"),
    ("wide: sums in registers are rounded at every position",
     "Value* const current = b.CreateLoad(one.slot->getAllocatedType(), one.slot);",
     "Value* current = b.CreateLoad(one.slot->getAllocatedType(), one.slot);\n    if (f_.kernel.wide)\n"
     "      current = emit_graph(f_, *f_.kernel.wide->widen, emit_graph(f_, *f_.kernel.wide->narrow, current, one.part.lanes), one.part.lanes);",
     *WIDE_SORTED_ROWS),
    ("wide: sums in registers go on with another row",
     "for (const Register& one : registers_) b.CreateStore(load(row, one), one.slot);",
     "if (!f_.kernel.wide)\n          for (const Register& one : registers_) b.CreateStore(load(row, one), one.slot);", *WIDE_SORTED_ROWS),
    ("wide: sums in registers start from zero instead of the fill value",
     "f_.numeric.literal_storage(wide->start.value, one.part.lanes)", "f_.numeric.literal_storage(Scalar{wide->start.value.dtype, {0, 0}}, one.part.lanes)",
     *WIDE_SORTED_FILL),
    ("wide: sums in registers trust the hint", "|| !destinations.are_sorted()) return false;", ") return false;", *WIDE_SORTED_ROWS),
    ("complex division without Smith's scaling",
     "lower_float(e, ExprOp::ge, e(P::fabs, y.a), e(P::fabs, y.b)).a", "lower_float(e, ExprOp::ge, e(P::fabs, y.b), e(P::fabs, y.a)).a"),
    ("halide: windows are not cut",
     "for_segments(f_, &placements, p, {}, level, f_.entry.cut,", "for_segments(f_, nullptr, p, {}, level, f_.entry.cut,", *HALIDE),
    ("halide: packed windows start with their byte",
     "b.CreateUDiv(b.CreateZExt(place.shift, b.getInt32Ty()), b.getInt32(static_cast<uint32_t>(width)))",
     "b.CreateMul(b.CreateZExt(place.shift, b.getInt32Ty()), b.getInt32(static_cast<uint32_t>(width) * 0U))", *HALIDE),
    ("halide: integers compare without their sign",
     "return as_signed(x) < as_signed(y);", "return x < y;", *HALIDE),
    ("halide: a vector's tail reads its neighbours",
     "update_.vectorize(var, lanes, Halide::TailStrategy::GuardWithIf);",
     "update_.vectorize(var, lanes, Halide::TailStrategy::RoundUp);", *HALIDE),
    ("portable: dropped positions are applied",
     "places[kept] = places[j]; kept += f.inside()[j];", "places[kept] = places[j]; ++kept;", *PORTABLE),
    ("portable: two updates of one element meet in a block",
     "if (places[entry & ((1U << kRowBits) - 1)] == places[r]) return r;",
     "if (places[entry & ((1U << kRowBits) - 1)] == places[r]) break;", *PORTABLE),
    ("portable: update - current is taken for current - update",
     "if (swapped && !(commutes(root.op) && is_current(root.args[1]))) return nullptr;",
     "if (swapped && !is_current(root.args[1])) return nullptr;", *PORTABLE_SWAPPED),
    ("codes of 4 bits are not sign-extended",
     "return e_(Primitive::ashr, e_(Primitive::shl, s, spare), spare);", "return s;"),
    ("portable: both parts of a complex number are the first",
     "step.offset = part * bytes;", "step.offset = part * bytes * 0;", *PORTABLE),
    ("portable: the part of a window past the end of a dim that wraps is lost",
     "walk_bounds(level, number + 1, shifted, j, second);", "if (level > 63) walk_bounds(level, number + 1, shifted, j, second);", *PORTABLE),
    ("portable: u64 index read as signed under clamp",
     "if (c.dtype == DType::u64) f_.loops.saturate(values, count);", "", *PORTABLE),
    ("look-ups: a position is kept whatever they drop",
     "inside = inside == f.e.b.getTrue() ? placement.inside : f.e.b.CreateAnd(inside, placement.inside);",
     "if (s == 0) inside = placement.inside;", *LOOKUPS),
    ("look-ups: fill values are forgotten",
     "return filling == 0 ? f.kernel.update : f.kernel.filled[filling - 1];", "return f.kernel.update;", *LOOKUPS),
    ("look-ups: a batch of the table is that of the first position",
     "if (position.operand_dim >= 0) loop.strides[table] = shape_.stride(table, position.operand_dim);", "", *LOOKUPS),
    ("look-ups: their indices are those of component 0",
     "shape_.stride(c.tensor, access.index_vector_dim) * constant(static_cast<int64_t>(k));",
     "constant(0);", *LOOKUPS),
    ("look-ups: the last source with a bad index is reported",
     "if (found && (!first || found->position < first->position)) first = found;", "if (found) first = found;", *LOOKUPS),
    ("look-ups: a row in registers forgets fill values",
     "given ? given(body, p, placements) :", "given ? given(f.kernel.update, p, placements) :", *SORTED_FILLS),
    ("look-ups: a listed window of Halide's is at the table's first row",
     "{ external_body->apply_one(at, placements); });", "{ external_body->apply_one(p, placements); });", *HALIDE_LOOKUPS),
    ("look-ups that cut: parts of rows overlap in a block",
     "if (s > 0 && !plan_.unique.holds) p_.fences = true;", "", *CUT_PAIRS),
    ("look-ups that cut: a row in registers is added whole",
     "row.extent.factor < 1 || row.is_bounded() ||", "row.extent.factor < 1 ||", *SORTED_CUTS),
    ("look-ups that cut: what the table has not is read all the same",
     "return by_lookups(p, found, s + 1, from, to);\n    in_three", "return by_lookups(p, found, s + 1, lo, hi);\n    in_three", *LOOKUPS),
    ("look-ups that cut: no part of a window is filled that has another in the table",
     "there[fill] = e_.b.CreateAnd(found[fill], second);", "(void)second;", *LOOKUPS),
    ("look-ups that cut: what lies after the table is left out",
     "e_.loop(e_.i64(0), e_.i64(3), {1, 1},", "e_.loop(e_.i64(0), e_.i64(2), {1, 1},", *LOOKUPS),
    ("look-ups that wrap: the second segment does not start over",
     "part(f_.step(p, component.strides, shift), shift, from, to);", "part(s == 0 ? f_.step(p, component.strides, shift) : p, shift, from, to);", *LOOKUPS),
    ("look-ups that wrap: an empty segment has a negative length",
     "Value* end = e_.smax(from, to);", "Value* end = to;", *CUT_AND_WRAPPED),
    ("halide: windows are whole wherever a look-up cuts them",
     "if (cut_by_strategy || loop.is_bounded() ||", "if (cut_by_strategy || loop.move().is_bounded ||", *HALIDE_LOOKUPS),
    ("index tensors: all components are read from the first",
     "c.tensor = plan_.indices(first + static_cast<int>(tensor_of_component(op, k)));", "c.tensor = plan_.indices(first);"),
    ("index tensors: whether indices have signs is asked of the first",
     "!std::ranges::all_of(index_tensors(o), is_unsigned)", "!is_unsigned(&o.indices)", *MIXED_SIGNS),
    ("index tensors: they repeat where the first does",
     "for (int i = 0; i < first_indices(op_, 1); ++i)\n        if (!shape_.stride", "for (int i = 0; i < 1; ++i)\n        if (!shape_.stride", *REPEATED),
    ("portable: look-ups of listed positions are not placed",
     "is_in_row_ = false;\n  place(1);", "is_in_row_ = false;", *PORTABLE_LOOKUPS),
    ("portable: dropped look-ups are applied",
     "const int64_t count = f.loops.all(f.inside(), block.count) ? block.count : keep_inside(f, block.count);",
     "const int64_t count = block.count;", *PORTABLE_LOOKUPS),
    ("portable: look-ups that fill give their table's first row",
     "windows.fill_in(filling);\n    windows.apply(f.places() + j, end - j);", "windows.apply(f.places() + j, end - j);", *PORTABLE_LOOKUPS),
    ("portable: a row that a look-up fills goes on behind the fill value",
     "if ((filling >> i & 1) != 0) steps[slot] = 0;", "(void)slot;", *PORTABLE_LOOKUPS),
    ("portable: what lies after the table of a look-up that fills is left out",
     "part({std::max(range.lo, hi), range.hi}, before | bit);", "", *PORTABLE_LOOKUPS),
    ("portable: rows of which other look-ups fill share a batch",
     "if (filling == filling_) return;\n  flush();", "if (filling == filling_) return;", *PORTABLE_LOOKUPS),
    ("portable: look-ups cut windows by the first source's indices",
     "bound.component = p_.sources[s].first + static_cast<size_t>(move.component);",
     "bound.component = static_cast<size_t>(move.component);", *PORTABLE_LOOKUPS),
    ("portable: listed positions are counted from the call's first",
     "places[j] = base + (f.args.n_list + static_cast<int64_t>(some[j] & 0xffffffff)) * stride;",
     "places[j] = base + static_cast<int64_t>(some[j] & 0xffffffff) * stride;", *PORTABLE),
    ("portable: windows that are partly out of bounds are not filled",
     "if (f.whole()[j] == 0) fill->apply(f.places() + j, 1);", "if (f.inside()[j] == 0) fill->apply(f.places() + j, 1);", *PORTABLE),
    ("portable: a carry between position loops goes astray",
     "const int64_t steps = carries ? 1 - extent : 1;", "const int64_t steps = carries ? -extent : 1;", *PORTABLE),
    ("rows: lanes are folded with those of another half",
     "second.push_back(2 * n + 1);", "second.push_back(n + lanes);", *ROWS),
    ("rows: the elements after whole vectors share the first lanes",
     "i += part;\n      lane += part;", "i += part;", *ROWS),
    ("portable: a value per row is combined once per element",
     "const int64_t elements = body_.once ? 1 : length,", "const int64_t elements = length,", *PORTABLE_ROWS),
    ("npu: rows that meet are combined in one tile",
     "if (combine->way == CombineWay::atomic && chip_ == Chip::a3) return kMostRows; return 1;",
     "if (combine->way == CombineWay::atomic && chip_ == Chip::a3) return kMostRows; return kMostRows;", *NPU_SUM),
    ("npu: accumulators begin with what was there before the results were made",
     "if (frame.plan.init_kind != InitKind::in_place) frame.build.barrier();", "if (frame.plan.init_kind != InitKind::in_place) continue;", *NPU_WIDE),
    ("npu: the pointer of a tensor with strides is that of its first element",
     'low = build.sub(low, build.min(reach, zero, "below"), "before");', "low = zero;", *NPU_STRIDES),
    ("npu: all elements of a row are folded into one lane",
     'const Number lane = b_.remainder(element, lanes, "lane_of");', "const Number lane = b_.number(0);", *NPU_ROW_SUM),
    ("npu: PTO-AS stores to place 0 where an index is bad",
     "b_.run(Opcode::tsub, {places.name, away.name, places.name});", "", *NPU_ERROR),
    ("npu: PTO-AS divides the numbers of lanes by another number",
     "math_.scale(out, Opcode::tshrs, b_.number(kShift));", "math_.scale(out, Opcode::tshrs, b_.number(kShift - 1));", *NPU_PLACED),
    ("npu: bytes that are computed in i16 keep what is above their 8 bits",
     "b.run(Opcode::tand, {out.name, ones.name, out.name});", "", 60, ("--op",
     "strew1.scatter(operand=u8[6,32] indices=i32[9] updates=u8[9,32] update_window_dims=[1] inserted_window_dims=[0] "
     "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=mul init=in_place)"), "strew_npu_differential"),
    ("tiles: the upper halves of two vectors are the lower ones", "first + (upper ? part / 2 : 0) + i;", "first + i;", *PROGRAMS),
    ("tiles: odd parts of two vectors are the even ones", "int first = odd ? part : 0; first < 2", "int first = 0; first < 2", *PROGRAMS),
    ("tiles: the last one of a loop ends before it", "*const last_column = e_.b.CreateSub(end, size);",
     "*const last_column = e_.b.CreateSub(end, e_.i64(tile().size + 1));", *COLUMNS_MOVED),
    ("tiles: the last one of a loop ends behind it", "Value *const row = e_.smin(i, last_row), ", "Value *const row = i, ", *COLUMNS_MOVED),
    ("tiles: rows of a long expression are all the first one", "loaded[at(reads_[k])] = f_.e.b.CreateLoad(type_of(tiles[k]), place(tiles[k], i));",
     "loaded[at(reads_[k])] = f_.e.b.CreateLoad(type_of(tiles[k]), place(tiles[k], f_.e.i64(0)));", *COLUMNS_LONG),
    ("tiles: rows that they leave of results that are read are not done",
     "return tiles(p, found, tile().rows, {rows_end, hi}, {e_.i64(0), end});", "return;", *COLUMNS),
    ("tiles: columns that they leave of results that are read are done twice",
     "tiles(p, found, tile().rows, {lo, rows_end}, {columns_end, end});",
     "tiles(p, found, tile().rows, {lo, rows_end}, {e_.b.CreateSub(columns_end, e_.i64(1)), end});", *COLUMNS),
    ("tiles: a loop between those of a tile does not move them", "across(f_.step(from, loops_[level].strides, i), there, level + 1, lo, hi);",
     "across(from, there, level + 1, lo, hi);", *COLUMNS_OF_PLANES),
    ("soft floats: what is shifted out leaves no trace",
     "lost = e_(bit_xor, e_(shl, kept, by), a); return e_(bit_or, kept, one_if(not_zero(lost)));",
     "lost = e_(bit_xor, e_(shl, kept, by), a); return kept;", *NPU_F64_SUM),
    ("npu: updates are applied before the results are made",
     "const Named is_now = b_.equal(launch, b_.number(number));", "const Named is_now = b_.equal(launch, b_.number(1 - number));", *NPU_HISTOGRAM),
    ("npu: both turns of a pair work on one tile",
     "b_.when(b_.less(second, bound), [&] { body(second); });", "b_.when(b_.less(second, bound), [&] { body(at); });", *NPU_PAIRS),
    ("npu: sorted positions lose their order",
     "set_cell(by_owner, place, b_.i32(b_.add(first, at, \"position\")));",
     "set_cell(by_owner, place, b_.i32(b_.sub(b_.add(first, count), b_.add(at, one))));", *NPU_LAUNCHED),
    ("npu: a core takes the sorted positions of the next core",
     "const Number at = b_.add(b_.mul(block, b_.number(blocks.line), \"line_start\"), b_.core(), \"own_start\");",
     "const Number at = b_.add(b_.mul(block, b_.number(blocks.line), \"line_start\"), b_.add(b_.core(), one), \"own_start\");", *NPU_LAUNCHED),
    ("npu: owners begin where the next one does",
     "b_.store(places, b_.part(\"starts_part\", blocks.starts, none, start, one, line)); b_.loop(\"sorted\",",
     "b_.loop(\"sorted\",", *NPU_LAUNCHED),
    ("npu: items of another head are the same head's",
     "out[i] = b_.remainder(rest, base, \"digit\"); rest = b_.divide(rest, base, \"rest\");",
     "out[i] = b_.remainder(rest, base, \"digit\");", *NPU_HEADS),
    ("npu: an atomic combines updates that are not converted",
     "return Graph(frame, tiles).run(graph.node(graph.results[static_cast<size_t>(pair)]).args[1]);", "return tiles.update;", *NPU_LAUNCHED),
    ("npu: a packed result is not cleared before its elements are written",
     "clear_packed_results(frame);\n    if (initialises_at_once(frame))", "if (initialises_at_once(frame))", 20, ("--golden", "gather_i4"), NPU[2]),
    ("npu: a flag is left out whose pipe has waited for less",
     "if (Cover& own = covered[{pipe, pipes.second}]; own.until < until) own = {until, false};",
     "if (Cover& own = covered[{pipe, pipes.second}]; own.until < until) own = {at, false};", 40, (), NPU[2]),
    ("npu: cores that make a copy leave out the last line of their part",
     'const Number end = b_.min(b_.add(begin, each, "next_element"), elements, "end");',
     'const Number end = b_.min(b_.add(begin, b_.sub(each, line), "next_element"), elements, "end");', 20, ("--golden", "launched_window"), NPU[2]),
]
