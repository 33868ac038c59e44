#include "differential/trial.hpp"

#include "reference/agreement.hpp"

#include <cstddef>
#include <cstring>
#include <sstream>
#include <vector>

namespace simdattn::differential {
namespace {

constexpr std::size_t most_texts = 5;

// The bodies one after the other, the last one first.
void run_backwards(void*, int workers, void (*body)(void* job, int worker), void* job) {
  for (int worker = workers - 1; worker >= 0; --worker)
    body(job, worker);
}

// A workspace of any alignment, full of NaN, with a guard behind it.
class Workspace {
public:
  Workspace(std::size_t bytes, std::size_t misalignment)
      : bytes_(bytes), offset_(misalignment), memory_(misalignment + bytes + guard, 0xff) {}
  void* data() noexcept { return memory_.data() + offset_; }
  bool overrun() const noexcept {
    for (std::size_t n = 0; n < memory_.size(); ++n)
      if ((n < offset_ || n >= offset_ + bytes_) && memory_[n] != 0xff) return true;
    return false;
  }

private:
  static constexpr std::size_t guard = 64;
  std::size_t bytes_, offset_;
  std::vector<unsigned char> memory_;
};

struct Demand {
  double value;
  double tolerance;
};

// What is wrong with one result; `demand_at` is told the place in dense order.
std::string check(const char* name, const StridedMemory<float>& actual,
                  const std::function<Demand(std::size_t)>& demand_at,
                  bool (*agree)(float, double, double) = reference::agrees) {
  if (!actual.present()) return "";
  std::ostringstream text;
  std::size_t index = 0, wrong = 0;
  for_each_index(actual.size(), [&](auto b, auto h, auto i, auto d) {
    const Demand demand = demand_at(index++);
    const float value = actual.at(b, h, i, d);
    if (!is_untouched(value) && agree(value, demand.value, demand.tolerance)) return;
    if (++wrong > 3) return;
    text << name << '[' << b << "][" << h << "][" << i << "][" << d << "] is ";
    if (is_untouched(value))
      text << "unwritten";
    else
      text << value;
    text << ", must be " << demand.value << " within " << demand.tolerance << '\n';
  });
  if (wrong > 0) text << wrong << " of " << index << " elements of " << name << " are wrong\n";
  if (!actual.surroundings_untouched()) text << "something beside " << name << " was written\n";
  return text.str();
}

} // namespace

Trial::Trial(std::uint64_t seed, std::uint64_t index) : Trial(seed, index, Random(seed, index)) {}

Trial::Trial(std::uint64_t seed, std::uint64_t index, Random random)
    : seed_(seed), index_(index), call_(draw_case(random), random) {
  const AttentionTensors tensors = call_.tensors();
  const AttentionOptions options = call_.options();
  if (const auto stage = call_.description().stage) {
    scores_ = reference::scores(tensors, options, *stage);
    return;
  }
  expected_ = reference::attention(tensors, options);
  tolerance_ = reference::tolerance(tensors, options, expected_);
}

std::string Trial::run(const Implementation* implementation) {
  const std::string what = failure(implementation);
  if (what.empty()) return what;
  std::ostringstream text;
  text << what << describe() << "\nsimdattn check --seed " << seed_ << " --case " << index_
       << " --isa " << implementation_name(implementation);
  return text.str();
}

std::string Trial::failure(const Implementation* implementation) {
  for (StridedMemory<float>* result : {&call_.output, &call_.lse, &call_.weights})
    if (result->present()) result->reset();
  bool workspace_overrun = false;
  if (const Status status = execute(implementation, workspace_overrun); !status.ok())
    return std::string(status.message()) + '\n';
  if (workspace_overrun) return "memory behind the workspace was written\n";
  if (call_.modifier_misplaced()) return "the modifier was called where there are no scores\n";
  return check_results();
}

Status Trial::execute(const Implementation* implementation, bool& workspace_overrun) {
  const Case& c = call_.description();
  const AttentionTensors tensors = call_.tensors();
  const AttentionOptions options = call_.options();
  Context context;
  context.implementation = implementation;
  context.threads = c.threads;
  if (c.own_pool) context.parallel_for = {&run_backwards, nullptr};
  if (c.stage) return attention_scores(tensors, *c.stage, options, context);
  if (!c.workspace_misalignment) return scaled_dot_product_attention(tensors, options, context);
  std::size_t bytes = 0;
  if (Status status = workspace_size(tensors, options, context, &bytes); !status.ok())
    return status;
  Workspace workspace(bytes, *c.workspace_misalignment);
  context.workspace = workspace.data();
  context.workspace_bytes = bytes;
  Status status = scaled_dot_product_attention(tensors, options, context);
  workspace_overrun = workspace.overrun();
  return status;
}

std::string Trial::check_results() const {
  const auto columns = static_cast<std::size_t>(call_.description().columns());
  const auto value_dim = static_cast<std::size_t>(call_.description().value_dim);
  if (call_.description().stage)
    return check("scores", call_.weights, [&](std::size_t n) -> Demand {
      return {scores_.values[n], scores_.errors[n]};
    });
  return check(
             "output", call_.output,
             [&](std::size_t n) -> Demand {
               return {expected_.output[n], tolerance_.rows[n / value_dim].output};
             },
             reference::output_agrees) +
         check("lse", call_.lse,
               [&](std::size_t n) -> Demand {
                 return {expected_.lse[n], tolerance_.rows[n].lse(expected_.lse[n])};
               }) +
         check("weights", call_.weights, [&](std::size_t n) -> Demand {
           const double value = expected_.weights[n];
           return {value, value == 0 ? 0 : tolerance_.rows[n / columns].weights};
         });
}

Report run_trials(std::uint64_t seed, std::uint64_t count,
                  const std::vector<const Implementation*>& implementations,
                  const std::function<bool(const Report&)>& go_on) {
  Report report;
  while (report.cases < count) {
    Trial trial(seed, report.cases);
    for (const Implementation* implementation : implementations) {
      std::string text = trial.run(implementation);
      if (text.empty()) continue;
      ++report.failures;
      if (report.first_failures.size() < most_texts)
        report.first_failures.push_back(std::move(text));
    }
    ++report.cases;
    if (!go_on(report)) break;
  }
  return report;
}

} // namespace simdattn::differential
