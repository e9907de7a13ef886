// One oneDNN convolution behind a C interface, for onednn_peer.py. Images and filters come and go as plain
// tensors; the reorders to and from the formats and the dtype that the primitive works in are part of a run.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using dnnl::memory;

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

enum class Op : int { forward, input, filter };

// As onednn_peer.py lays it out.
struct Problem {
  std::int64_t op, rank, n, c_in, c_out, groups;
  std::int64_t size[3], filter[3], out[3], stride[3], dilation[3], before[3], after[3];
  std::int64_t dtype, compute_dtype, first;  // dtypes: 0 f32, 1 f64, 2 bf16, 3 f16
};

memory::data_type dtype_of(std::int64_t number) {
  constexpr memory::data_type kTypes[] = {memory::data_type::f32, memory::data_type::f64, memory::data_type::bf16,
                                          memory::data_type::f16};
  return kTypes[number];
}

memory::dims with_spatial(memory::dims leading, const std::int64_t* sizes, std::int64_t rank) {
  leading.insert(leading.end(), sizes, sizes + rank);
  return leading;
}

memory::format_tag image_tag(const Problem& p) {
  using tag = memory::format_tag;
  if (p.first != 0) return p.rank == 2 ? tag::nchw : tag::ncdhw;
  return p.rank == 2 ? tag::nhwc : tag::ndhwc;
}

// (spatial..., in, out) beside channels-last images, (out, in, spatial...) beside channels-first ones. With groups the
// out channels are (group, out of a group).
memory::format_tag filter_tag(const Problem& p) {
  using tag = memory::format_tag;
  const bool flat = p.rank == 2;
  if (p.first != 0) return p.groups > 1 ? (flat ? tag::goihw : tag::goidhw) : (flat ? tag::oihw : tag::oidhw);
  return p.groups > 1 ? (flat ? tag::hwigo : tag::dhwigo) : (flat ? tag::hwio : tag::dhwio);
}

class Convolution {
 public:
  explicit Convolution(const Problem& p)
      : op_(static_cast<Op>(p.op)),
        stride_(with_spatial({}, p.stride, p.rank)),
        dilation_(with_spatial({}, p.dilation, p.rank)),
        before_(with_spatial({}, p.before, p.rank)),
        after_(with_spatial({}, p.after, p.rank)) {
    for (memory::dim& step : dilation_) step -= 1;  // oneDNN counts the cells between taps
    const memory::dims filter_dims =
        p.groups > 1 ? memory::dims{p.groups, p.c_out / p.groups, p.c_in / p.groups} : memory::dims{p.c_out, p.c_in};
    const memory::dims input = with_spatial({p.n, p.c_in}, p.size, p.rank);
    const memory::dims output = with_spatial({p.n, p.c_out}, p.out, p.rank);
    const memory::dims filter = with_spatial(filter_dims, p.filter, p.rank);
    const auto type = dtype_of(p.dtype), compute = dtype_of(p.compute_dtype);
    input_ = memory({input, type, image_tag(p)}, engine_);
    output_ = memory({output, type, image_tag(p)}, engine_);
    filter_ = memory({filter, type, filter_tag(p)}, engine_);
    in_desc_ = {input, compute, image_tag(p)};
    out_desc_ = {output, compute, image_tag(p)};
    filter_desc_ = {filter, compute, memory::format_tag::any};
    add_steps();
  }

  void* buffer(int which) const {
    const memory* const all[] = {&input_, &filter_, &output_};
    return all[which]->get_data_handle();
  }

  const std::string& kernel() const { return kernel_; }

  void run() {
    for (Step& step : steps_) step.primitive.execute(stream_, step.arguments);
    stream_.wait();
  }

 private:
  using Arguments = std::unordered_map<int, memory>;
  struct Step {
    dnnl::primitive primitive;
    Arguments arguments;
  };

  void add_reorder(const memory& from, const memory& to) {
    steps_.push_back({dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  }

  memory read(const memory& plain, const memory::desc& wanted) {
    if (plain.get_desc() == wanted) return plain;
    memory own(wanted, engine_);
    add_reorder(plain, own);
    return own;
  }

  memory made(const memory& plain, const memory::desc& wanted) {
    return plain.get_desc() == wanted ? plain : memory(wanted, engine_);
  }

  void give_back(const memory& own, const memory& plain) {
    if (own.get_desc() != plain.get_desc()) add_reorder(own, plain);
  }

  dnnl::convolution_forward::primitive_desc forward_as(dnnl::prop_kind kind) {
    return {engine_, kind, kDirect, in_desc_, filter_desc_, out_desc_, stride_, dilation_, before_, after_};
  }

  // A gradient's descriptor; it wants the forward one as a hint.
  template <class Descriptor>
  Descriptor gradient() {
    return {engine_, kDirect,   in_desc_, filter_desc_, out_desc_,
            stride_, dilation_, before_,  after_,       forward_as(dnnl::prop_kind::forward_training)};
  }

  void add_steps() {
    switch (op_) {
      case Op::forward: return add_forward(forward_as(dnnl::prop_kind::forward_inference));
      case Op::input: return add_input(gradient<dnnl::convolution_backward_data::primitive_desc>());
      case Op::filter: return add_filter(gradient<dnnl::convolution_backward_weights::primitive_desc>());
    }
  }

  void add_forward(const dnnl::convolution_forward::primitive_desc& d) {
    kernel_ = d.impl_info_str();
    const memory in = read(input_, d.src_desc()), filter = read(filter_, d.weights_desc());
    const memory out = made(output_, d.dst_desc());
    steps_.push_back(
        {dnnl::convolution_forward(d), {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DST, out}}});
    give_back(out, output_);
  }

  void add_input(const dnnl::convolution_backward_data::primitive_desc& d) {
    kernel_ = d.impl_info_str();
    const memory filter = read(filter_, d.weights_desc()), out = read(output_, d.diff_dst_desc());
    const memory in = made(input_, d.diff_src_desc());
    steps_.push_back({dnnl::convolution_backward_data(d),
                      {{DNNL_ARG_DIFF_DST, out}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DIFF_SRC, in}}});
    give_back(in, input_);
  }

  void add_filter(const dnnl::convolution_backward_weights::primitive_desc& d) {
    kernel_ = d.impl_info_str();
    const memory in = read(input_, d.src_desc()), out = read(output_, d.diff_dst_desc());
    const memory filter = made(filter_, d.diff_weights_desc());
    steps_.push_back({dnnl::convolution_backward_weights(d),
                      {{DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_DST, out}, {DNNL_ARG_DIFF_WEIGHTS, filter}}});
    give_back(filter, filter_);
  }

  Op op_;
  memory::dims stride_, dilation_, before_, after_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  memory input_, filter_, output_;  // plain, the caller's
  memory::desc in_desc_, filter_desc_, out_desc_;
  std::vector<Step> steps_;
  std::string kernel_;
};

std::string last_error;

// Answers what the function answers, or `otherwise` with the sentence kept for onednn_error().
template <class T, class Function>
T guarded(T otherwise, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    last_error = error.what();
    return otherwise;
  }
}

}  // namespace

extern "C" {

Convolution* onednn_make(const Problem* problem) {
  return guarded<Convolution*>(nullptr, [&] { return new Convolution(*problem); });
}

void onednn_free(Convolution* convolution) { delete convolution; }

// 0 input, 1 filter, 2 output.
void* onednn_buffer(const Convolution* convolution, int which) { return convolution->buffer(which); }

const char* onednn_kernel(const Convolution* convolution) { return convolution->kernel().c_str(); }

// 0 when it worked.
int onednn_run(Convolution* convolution) {
  return guarded(1, [&] {
    convolution->run();
    return 0;
  });
}

const char* onednn_error() { return last_error.c_str(); }

const char* onednn_version() {
  static char text[64];
  const dnnl_version_t* v = dnnl_version();
  std::snprintf(text, sizeof(text), "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
  return text;
}

}  // extern "C"
