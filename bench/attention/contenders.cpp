#include "contenders.hpp"

#include "baselines/reference.hpp"
#include "simdattn/implementation.hpp"
#include "support/run.hpp"

#include <cstring>
#include <memory>

#ifdef SIMDATTN_HAVE_ONEDNN
#include "baselines/onednn.hpp"
#endif

namespace simdattn::bench {
namespace {

Contender make_reference(BenchProblem& problem) {
  Contender contender;
  contender.call = [&problem]() -> Status {
    baseline::run_reference(problem.tensors(), problem.options());
    return {};
  };
  contender.isa = best_implementation();
  contender.label = "naive, scalar, double";
  return contender;
}

#ifdef SIMDATTN_HAVE_ONEDNN
Contender make_onednn(BenchProblem& problem, int threads) {
  Contender contender;
  std::unique_ptr<baseline::OnednnAttention> made;
  contender.ready =
      baseline::OnednnAttention::create(problem.tensors(), problem.options(), threads, &made);
  if (!contender.ready.ok()) return contender;
  contender.label = baseline::onednn_version();
  for (const baseline::OnednnStep& step : made->steps())
    contender.label += ", " + step.implementation;
  contender.memory = made->memory();
  const std::shared_ptr<baseline::OnednnAttention> attention = std::move(made);
  contender.call = [&problem, attention] { return attention->run(problem.tensors()); };
  contender.isa = best_implementation();
  return contender;
}
#endif

bool reference_takes_part(const Shape& shape, int threads) {
  const double pairs = static_cast<double>(shape.batch * shape.heads * shape.queries) *
                       static_cast<double>(shape.keys);
  return threads == 1 && pairs * static_cast<double>(shape.dim + shape.value_dim) < 5e8;
}

} // namespace

std::vector<const char*> contender_names(const Shape& shape, int threads) {
  std::vector<const char*> names = supported_implementations();
#ifdef SIMDATTN_HAVE_ONEDNN
  names.push_back("onednn");
#endif
  if (reference_takes_part(shape, threads)) names.push_back("reference");
  return names;
}

Contender make_ours(const Implementation* implementation, const AttentionTensors& tensors,
                    const AttentionOptions& options, int threads) {
  Context context;
  context.threads = threads;
  context.implementation = implementation;
  std::size_t bytes = 0;
  Contender contender;
  contender.ready = workspace_size(tensors, options, context, &bytes);
  const auto workspace = std::make_shared<std::vector<std::byte>>(bytes);
  context.workspace = workspace->data();
  context.workspace_bytes = bytes;
  contender.call = [tensors, options, context, workspace] {
    return scaled_dot_product_attention(tensors, options, context);
  };
  contender.isa = implementation_name(implementation);
  contender.memory = bytes;
  return contender;
}

Contender make_contender(const std::string& name, BenchProblem& problem, int threads) {
#ifdef SIMDATTN_HAVE_ONEDNN
  if (name == "onednn") return make_onednn(problem, threads);
#endif
  if (name == "reference") return make_reference(problem);
  return make_ours(find_implementation(name.c_str()), problem.tensors(), problem.options(),
                   threads);
}

} // namespace simdattn::bench
