// See pipeline.h. The update of the Halide function is
//
//   for w in window:  result(w..., key) = combine(result(w..., key), updates(w..., position), ...)      scatter
//                     result(w..., position) = expression(operand(w..., key), ...)                      gather
//
// If the signature takes a list, a loop over its entries (position, key) is around that. A buffer has one Halide dimension per window loop, and
// one for position or key. The loops are a reduction domain, which runs in order and on one thread, so updates of the same element are combined
// in the order that docs/semantics.md asks for. All elements are unsigned integers (numeric.h). A packed tensor is a one-dimensional buffer of
// bytes: element numbers are computed here, and a store keeps the other elements of the byte.
// Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
#include "backends/halide/pipeline.h"

#include <limits>
#include <regex>
#include <sstream>

#include "backends/halide/numeric.h"

namespace strew::inline v0 {
namespace {

/// Does Halide's cast to f16 become the target's instruction? Without one, Halide computes it by code of its own that loses NaN; on AArch64 it takes
/// the instruction only with feature fullfp16, and then computes in f16, too.
bool converts_f16(const Target& target) { return target.f16c && target.arch == "x86_64"; }

/// Makes the pipeline: declare() its parameters and loops, then define() its update.
class Maker {
 public:
  Maker(const BuildRequest& request, const BodySignature& signature)
      : plan_(request.plan), signature_(signature), has_f16_(converts_f16(request.target)) {}

  HalidePipeline make() {
    declare();
    define();
    return std::move(out_);
  }

 private:
  /// A buffer of the signature in Halide.
  struct Image {
    const SignatureBuffer* buffer = nullptr;
    Halide::ImageParam param;    ///< inputs only: results are outputs of the function
    HExpr start;                 ///< packed buffers: the number of the first element within the first byte
    std::vector<HExpr> strides;  ///< packed buffers: per dim, in elements
  };

  const PlanTensor& tensor(int t) const { return plan_.tensors[static_cast<size_t>(t)]; }
  std::string name_of(const SignatureBuffer& buffer) const {
    const PlanTensor& t = tensor(buffer.tensor);
    std::string text(name(t.role));
    if (t.role != Role::indices) text += std::to_string(t.index);
    return text + (bits(t.dtype) > 64 ? (buffer.half == 0 ? "_low" : "_high") : "");
  }
  static size_t rank(const SignatureBuffer& buffer) { return buffer.packed ? 1 : buffer.dims.size(); }

  void take(const Halide::Param<int32_t>& number) {
    out_.arguments.emplace_back(number);
    out_.numbers.push_back(number);
  }
  void declare();
  void declare_packed(Image& image);
  template <class Dimensions>
  void describe(const SignatureBuffer& buffer, int first_min, Dimensions dimension) const;
  void define();
  HExpr extent(const Image& image, size_t d) const;
  HExpr coordinate(const SignatureDim& dim) const;
  std::vector<HExpr> place(const Image& image) const;
  HExpr byte_shift(const Image& image) const;
  HExpr element(const Image& image) const;
  Parts load(int t) const;
  Parts load_input(const lowered::Graph::Input& input) const;

  const Plan& plan_;
  const BodySignature& signature_;
  bool has_f16_;
  HalidePipeline out_;
  Halide::ImageParam list_{Halide::Int(32), 2, "list"};
  std::vector<Image> inputs_, results_;
  HExpr pos_, key_;
};

/// Tells Halide what is constant in a buffer's dims, so that it becomes part of the addresses: mins are 0, from dim `first_min` on, and strides
/// are those of the signature where they are constants.
template <class Dimensions>
void Maker::describe(const SignatureBuffer& buffer, int first_min, Dimensions dimension) const {
  for (size_t d = 0; d < rank(buffer); ++d) {
    auto dim = dimension(static_cast<int>(d));
    if (static_cast<int>(d) >= first_min) dim.set_min(0);
    if (buffer.packed) continue;
    const Term& stride = buffer.dims[d].stride;
    const bool holds = stride.is_static() && std::abs(stride.factor) <= kHalideLimit;
    dim.set_stride(holds ? HExpr(static_cast<int32_t>(stride.factor)) : HExpr());
  }
}

void Maker::declare_packed(Image& image) {
  const std::string base = name_of(*image.buffer);
  Halide::Param<int32_t> start(base + "_start");
  image.start = start;
  take(start);
  for (size_t d = 0; d < image.buffer->dims.size(); ++d) {
    const Term& stride = image.buffer->dims[d].stride;
    if (stride.is_static()) {
      image.strides.push_back(HExpr(static_cast<int32_t>(stride.factor)));
      continue;
    }
    Halide::Param<int32_t> given(base + "_stride" + std::to_string(d));
    image.strides.push_back(given);
    take(given);
  }
}

void Maker::declare() {
  Halide::Param<int32_t> count("count"), position("position"), key("key");
  if (signature_.listed) {
    out_.list = list_;
    out_.arguments.push_back(list_);
    take(count);
  } else {
    take(position);
    take(key);
  }
  list_.dim(0).set_min(0).set_stride(1);
  list_.dim(1).set_min(0).set_stride(2);

  std::vector<HExpr> extents;
  for (size_t l = 0; l < plan_.window.size(); ++l) {
    if (signature_.fixed[l]) {
      extents.emplace_back(static_cast<int32_t>(plan_.window[l].extent.factor));
      continue;
    }
    Halide::Param<int32_t> extent("extent" + std::to_string(l));
    take(extent);
    extents.emplace_back(extent);
  }
  Halide::Region domain;
  for (size_t l = extents.size(); l-- > 0;) domain.push_back({0, extents[l]});
  if (signature_.listed) domain.push_back({0, count});
  const Halide::RDom walk = domain.empty() ? Halide::RDom() : Halide::RDom(domain, "walk");
  for (size_t l = 0; l < plan_.window.size(); ++l) out_.window.push_back(walk[static_cast<int>(plan_.window.size() - 1 - l)]);
  if (signature_.listed) out_.entry = walk[static_cast<int>(plan_.window.size())];
  pos_ = signature_.listed ? HExpr(list_(0, out_.entry)) : position;
  key_ = signature_.listed ? HExpr(list_(1, out_.entry)) : key;

  for (const auto& [buffers, images] : {std::pair{&signature_.inputs, &inputs_}, std::pair{&signature_.results, &results_}})
    for (const SignatureBuffer& buffer : *buffers) {
      images->emplace_back();
      images->back().buffer = &buffer;
      if (buffer.packed) declare_packed(images->back());
    }
  for (Image& image : inputs_) {
    image.param =
        Halide::ImageParam(Halide::UInt(image.buffer->bits), static_cast<int>(rank(*image.buffer)), name_of(*image.buffer));
    describe(*image.buffer, 0, [&](int d) { return image.param.dim(d); });
    out_.arguments.push_back(image.param);
    out_.inputs.push_back(image.param);
  }
}

HExpr Maker::extent(const Image& image, size_t d) const {
  const int dim = static_cast<int>(d);
  return image.param.defined() ? image.param.dim(dim).extent() : out_.apply.output_buffers()[0].dim(dim).extent();
}

HExpr Maker::coordinate(const SignatureDim& dim) const {
  if (dim.walks == SignatureDim::Walks::key) return key_;
  return dim.walks == SignatureDim::Walks::position ? pos_ : HExpr(out_.window[static_cast<size_t>(dim.loop)]);
}

HExpr Maker::element(const Image& image) const {
  HExpr number = image.start;
  for (size_t d = 0; d < image.buffer->dims.size(); ++d) number = number + coordinate(image.buffer->dims[d]) * image.strides[d];
  return number;
}

std::vector<HExpr> Maker::place(const Image& image) const {
  if (image.buffer->packed) {
    const int per_byte = 8 / bits(tensor(image.buffer->tensor).dtype);
    return {Halide::unsafe_promise_clamped(element(image) >> (per_byte == 2 ? 1 : 2), 0, extent(image, 0) - 1)};
  }
  std::vector<HExpr> at;
  for (size_t d = 0; d < image.buffer->dims.size(); ++d) {
    const SignatureDim& dim = image.buffer->dims[d];
    const HExpr where = coordinate(dim);
    // The entries guarantee that positions and keys are in bounds. unsafe_promise_clamped() tells Halide so, and
    // emits no code.
    at.push_back(dim.walks == SignatureDim::Walks::window ? where
                                                          : Halide::unsafe_promise_clamped(where, 0, extent(image, d) - 1));
  }
  return at;
}

HExpr Maker::byte_shift(const Image& image) const {
  const int width = bits(tensor(image.buffer->tensor).dtype);
  const HExpr within = Halide::cast(Halide::UInt(8), element(image) & (8 / width - 1));
  return within * Halide::cast(Halide::UInt(8), width);
}

Parts Maker::load(int t) const {
  Parts parts;
  const auto take = [&](const HExpr& value, const Image& image) {
    HExpr& part = image.buffer->half == 0 ? parts.a : parts.b;
    part = value;
    if (!image.buffer->packed) return;
    const int width = bits(tensor(t).dtype);
    part = (value >> byte_shift(image)) & unsigned_constant(8, (uint64_t{1} << width) - 1);
  };
  for (const Image& image : inputs_)
    if (image.buffer->tensor == t) take(image.param(place(image)), image);
  for (size_t i = 0; i < results_.size(); ++i) {
    if (results_[i].buffer->tensor != t) continue;
    const Halide::FuncRef now = out_.apply(place(results_[0]));
    take(results_.size() == 1 ? HExpr(now) : HExpr(now[static_cast<int>(i)]), results_[i]);
  }
  return parts;
}

Parts Maker::load_input(const lowered::Graph::Input& input) const {
  return load(signature_.body.input(input.op, input.index).number);
}

void Maker::define() {
  std::vector<Halide::Var> pure;
  for (size_t d = 0; d < rank(*results_[0].buffer); ++d) pure.emplace_back("d" + std::to_string(d));
  std::vector<HExpr> nothing, values;
  for (const Image& image : results_) nothing.push_back(Halide::undef(Halide::UInt(image.buffer->bits)));
  if (results_.size() == 1)
    out_.apply(pure) = nothing[0];
  else
    out_.apply(pure) = Halide::Tuple(nothing);

  const std::vector<Parts> stored =
      evaluate(*signature_.body.graph, has_f16_, [&](const lowered::Graph::Input& input) { return load_input(input); });
  for (const Image& image : results_) {
    const Parts& parts = stored[static_cast<size_t>(tensor(image.buffer->tensor).index)];
    values.push_back(image.buffer->half == 0 ? parts.a : parts.b);
  }
  const std::vector<HExpr> at = place(results_[0]);
  if (results_[0].buffer->packed) {
    const HExpr shift = byte_shift(results_[0]);
    const int width = bits(tensor(plan_.result(0)).dtype);
    const HExpr mask = unsigned_constant(8, (uint64_t{1} << width) - 1) << shift;
    values[0] = (HExpr(out_.apply(at)) & ~mask) | (values[0] << shift);
  }
  if (values.size() == 1)
    out_.apply(at) = values[0];
  else
    out_.apply(at) = Halide::Tuple(values);

  // The min of dim 0 is 0, but Halide is not told. If it knew, it could prove that offsets of vectors in the result are multiples of a vector, and
  // would load current values as if the result's base were aligned to whole vectors, like an allocation of Halide's. Of several results, the
  // mins of the first hold for all.
  for (size_t i = 0; i < results_.size(); ++i) {
    Halide::OutputImageParam buffer = out_.apply.output_buffers()[i];
    describe(*results_[i].buffer,
             i > 0                                                ? std::numeric_limits<int>::max()
             : plan_.window.empty() || results_[0].buffer->packed ? 0
                                                                  : 1,
             [&](int d) { return buffer.dim(d); });
  }
}

}  // namespace

HalidePipeline make_pipeline(const BuildRequest& request, const BodySignature& signature) {
  return Maker(request, signature).make();
}

std::string plain_names(const std::string& text) {
  static const auto& numbered = *new const std::regex(R"((result|_im)\$[0-9]+)");
  static const auto& image = *new const std::regex(R"((\w)_im\b)");
  return std::regex_replace(std::regex_replace(text, numbered, "$1"), image, "$1");
}

std::string print_algorithm(const HalidePipeline& pipeline, const Plan& plan, bool listed) {
  const auto list = [](std::ostringstream& out, const std::vector<HExpr>& exprs) {
    for (size_t i = 0; i < exprs.size(); ++i) out << (i == 0 ? "" : ", ") << exprs[i];
  };
  std::ostringstream text;
  if (listed)
    text << "for " << pipeline.entry.name() << " in the list's entries (position, key):\n";
  else
    text << "at a position and its key:\n";
  std::string indent = "  ";
  for (size_t l = 0; l < plan.window.size(); ++l, indent += "  ") {
    const Term& extent = plan.window[l].extent;
    text << indent << "for " << pipeline.window[l].name() << " in window loop " << l;
    if (extent.is_static()) text << ", " << extent.factor << " long";
    text << ":\n";
  }
  const Halide::Tuple values = pipeline.apply.update_values();
  text << indent << "result(";
  list(text, pipeline.apply.update_args());
  text << ") = ";
  list(text, values.as_vector());
  // Halide prints every coordinate that is a key or a position as unsafe_promise_clamped(...). They are printed as
  // `key` and `position`, the names that body_signature.h uses.
  static const auto& key = *new const std::regex(R"(unsafe_promise_clamped\((?:list\(1, [^)]*\)|\(int32\)key|key), 0, [^)]*\))");
  static const auto& position =
      *new const std::regex(R"(unsafe_promise_clamped\((?:list\(0, [^)]*\)|\(int32\)position|position), 0, [^)]*\))");
  return std::regex_replace(std::regex_replace(plain_names(text.str()), key, "key"), position, "position") + "\n";
}

}  // namespace strew::inline v0
