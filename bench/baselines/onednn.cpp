#include "onednn.hpp"

#include "onednn_api.hpp"
#include "onednn_layout.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <omp.h>

namespace simdattn::baseline {
namespace {

/// oneDNN's threads are OpenMP's: as many as asked for, while this lives.
class ThreadCount {
public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

private:
  int before_;
};

/// Runs `body`, and turns what it throws into a Status.
template <class Body>
Status caught(const Body& body) noexcept {
  try {
    return body();
  } catch (const dnnl::error& error) {
    return Status::error(StatusCode::invalid_argument, "oneDNN: %s", error.what());
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::out_of_memory, "oneDNN: out of memory");
  }
}

/// An input that no primitive writes to; memory objects have one kind of handle for both.
void* handle_of(const TensorView& view) { return const_cast<void*>(view.data); }

/// Whether scale and causal are all that is asked for.
bool is_plain(const AttentionTensors& tensors, const AttentionOptions& options) {
  for (const TensorView* optional :
       {&tensors.mask, &tensors.past_key, &tensors.past_value, &tensors.kv_lengths,
        &tensors.query_lengths, &tensors.query_offsets, &tensors.alibi_slopes, &tensors.sinks,
        &tensors.query_starts, &tensors.kv_starts}) {
    if (optional->data != nullptr) return false;
  }
  return tensors.query.type == DataType::f32 && tensors.key.type == DataType::f32 &&
         tensors.value.type == DataType::f32 && tensors.output.type == DataType::f32 &&
         options.window_left == -1 && options.window_right == -1 && options.softcap == 0 &&
         options.modifier.modify == nullptr;
}

Status refuse_unfit(const AttentionTensors& tensors, const AttentionOptions& options, int threads) {
  if (DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP) {
    return Status::error(StatusCode::invalid_argument,
                         "this oneDNN does not run on OpenMP: it can't be told to use %d threads",
                         threads);
  }
  if (!is_plain(tensors, options)) {
    return Status::error(StatusCode::invalid_argument,
                         "the oneDNN baseline knows f32 tensors, scale and causal only");
  }
  const auto queries = static_cast<long long>(tensors.query.size[2]);
  const auto keys = static_cast<long long>(tensors.key.size[2]);
  if (options.causal == Causal::bottom_right && queries > keys) {
    return Status::error(
        StatusCode::invalid_argument,
        "oneDNN gives NaN where a row sees no key: with causal bottom_right, %lld queries "
        "need as many keys, not %lld",
        queries, keys);
  }
  return {};
}

dnnl::primitive_attr with_our_scratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Status refuse_unoptimised(const std::vector<OnednnStep>& steps) {
  for (const OnednnStep& step : steps) {
    if (step.implementation.rfind("ref", 0) == 0) {
      return Status::error(StatusCode::invalid_argument,
                           "oneDNN computes %s by its unoptimised \"%s\": not a fair contender",
                           step.name.c_str(), step.implementation.c_str());
    }
  }
  return {};
}

} // namespace

struct OnednnAttention::Primitives {
  explicit Primitives(int thread_count) : threads(thread_count) {}

  /// Appends one primitive to the chain.
  template <class Primitive, class PrimitiveDesc>
  void add(const char* name, const PrimitiveDesc& desc, const api::Arguments& arguments) {
    steps.push_back({name, desc.impl_info_str()});
    wanted_scratch.push_back(desc.scratchpad_desc());
    calls.push_back({Primitive(desc), arguments});
  }
  void build(const Layout& layout, const Sizes& sizes, float scale, Causal causal);
  void add_scores(const Layout& layout, const Sizes& sizes, float scale, Causal causal);
  void share_scratch();

  struct Call {
    dnnl::primitive primitive;
    api::Arguments arguments;
  };
  int threads;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::memory query, key, value, output, scores;
  std::vector<Call> calls;
  std::vector<OnednnStep> steps;
  std::vector<dnnl::memory::desc> wanted_scratch; ///< by each call
  dnnl::memory scratch;
};

void OnednnAttention::Primitives::add_scores(const Layout& layout, const Sizes& sizes, float scale,
                                             Causal causal) {
  api::Arguments arguments{{DNNL_ARG_SRC, query}, {DNNL_ARG_WEIGHTS, key}, {DNNL_ARG_DST, scores}};
  dnnl::primitive_attr attributes = with_our_scratch();
  api::scale_product(engine, scale, attributes, arguments);
  if (causal != Causal::none) {
    dnnl::post_ops add_mask;
    add_mask.append_binary(dnnl::algorithm::binary_add, layout.mask);
    attributes.set_post_ops(add_mask);
    arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] =
        causal_mask(engine, layout, sizes, causal);
  }
  add<dnnl::matmul>(
      "scores", api::describe_matmul(engine, layout.query, layout.key, layout.scores, attributes),
      arguments);
}

void OnednnAttention::Primitives::build(const Layout& layout, const Sizes& sizes, float scale,
                                        Causal causal) {
  query = dnnl::memory(layout.query, engine, nullptr);
  key = dnnl::memory(layout.key, engine, nullptr);
  value = dnnl::memory(layout.value, engine, nullptr);
  output = dnnl::memory(layout.output, engine, nullptr);
  scores = dnnl::memory(layout.scores, engine);
  add_scores(layout, sizes, scale, causal);
  const int last_axis = layout.group_axis ? 4 : 3;
  add<api::Softmax>("softmax",
                    api::describe_softmax(engine, layout.scores, last_axis, with_our_scratch()),
                    {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
  add<dnnl::matmul>(
      "weighted sum",
      api::describe_matmul(engine, layout.scores, layout.value, layout.output, with_our_scratch()),
      {{DNNL_ARG_SRC, scores}, {DNNL_ARG_WEIGHTS, value}, {DNNL_ARG_DST, output}});
  share_scratch();
}

/// One buffer, as large as the largest that a call wants, serves all of them in turn.
void OnednnAttention::Primitives::share_scratch() {
  const auto largest =
      std::max_element(wanted_scratch.begin(), wanted_scratch.end(),
                       [](const auto& a, const auto& b) { return a.get_size() < b.get_size(); });
  scratch = dnnl::memory(*largest, engine);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].arguments[DNNL_ARG_SCRATCHPAD] =
        dnnl::memory(wanted_scratch[i], engine, scratch.get_data_handle());
  }
}

OnednnAttention::OnednnAttention(std::unique_ptr<Primitives> primitives) noexcept
    : primitives_(std::move(primitives)) {}

OnednnAttention::~OnednnAttention() = default;

Status OnednnAttention::create(const AttentionTensors& tensors, const AttentionOptions& options,
                               int threads, std::unique_ptr<OnednnAttention>* attention) noexcept {
  return caught([&]() -> Status {
    if (Status status = refuse_unfit(tensors, options, threads); !status.ok()) return status;
    const ThreadCount thread_count(threads);
    auto primitives = std::make_unique<Primitives>(threads);
    const float default_scale = 1.0f / std::sqrt(static_cast<float>(tensors.query.size[3]));
    const Sizes sizes(tensors);
    primitives->build(Layout(tensors, sizes), sizes, options.scale.value_or(default_scale),
                      options.causal);
    if (Status status = refuse_unoptimised(primitives->steps); !status.ok()) return status;
    attention->reset(new OnednnAttention(std::move(primitives)));
    return {};
  });
}

Status OnednnAttention::run(const AttentionTensors& tensors) noexcept {
  return caught([&]() -> Status {
    const ThreadCount thread_count(primitives_->threads);
    primitives_->query.set_data_handle(handle_of(tensors.query));
    primitives_->key.set_data_handle(handle_of(tensors.key));
    primitives_->value.set_data_handle(handle_of(tensors.value));
    primitives_->output.set_data_handle(tensors.output.data);
    for (const Primitives::Call& call : primitives_->calls) {
      call.primitive.execute(primitives_->stream, call.arguments);
    }
    primitives_->stream.wait();
    return {};
  });
}

const float* OnednnAttention::weights() const noexcept {
  return static_cast<const float*>(primitives_->scores.get_data_handle());
}

std::size_t OnednnAttention::memory() const noexcept {
  return primitives_->scores.get_desc().get_size() + primitives_->scratch.get_desc().get_size();
}

const std::vector<OnednnStep>& OnednnAttention::steps() const noexcept {
  return primitives_->steps;
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
         std::to_string(version->patch);
}

} // namespace simdattn::baseline
