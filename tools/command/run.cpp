// `simdattn run`: attention on .npy files.

#include "npy_file.hpp"
#include "output_files.hpp"
#include "peak/measure.hpp"
#include "peak/median.hpp"
#include "score_options.hpp"
#include "subcommand.hpp"
#include "verify.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace simdattn::command {
namespace {

struct RunOptions {
  std::string query, key, value;
  std::string output, weights, lse;
  std::string causal = "none";
  std::optional<float> scale;
  std::string isa;
  int threads = 0;
  bool verify = false;
  ScoreOptions score;
};

struct Inputs {
  Array query, key, value;
  ScoreInputs score;
  std::int64_t key_count = 0; ///< with the past
};

/// Results of one call, in memory of their own; weights and lse are empty when they are not wanted.
struct Results {
  Array output, weights, lse;
};

Inputs load_inputs(const RunOptions& options) {
  Inputs inputs;
  inputs.query = load_npy("--query", options.query);
  inputs.key = load_npy("--key", options.key);
  inputs.value = load_npy("--value", options.value);
  const std::size_t rank = inputs.query.shape.size();
  const auto require_same_rank = [rank](const std::string& file, const Array& array) {
    if (array.shape.size() == rank) return;
    throw InputError(file + ": shape is " + shape_text(array.shape) + ", must have " +
                     std::to_string(rank) + " dimensions, like the query");
  };
  require_same_rank("--key " + options.key, inputs.key);
  require_same_rank("--value " + options.value, inputs.value);
  inputs.score = load_score_inputs(options.score, rank);
  inputs.key_count = inputs.key.shape.end()[-2];
  if (!inputs.score.past_key.data.empty()) {
    inputs.key_count += inputs.score.past_key.shape.end()[-2];
  }
  return inputs;
}

void refuse_input_as_output(const RunOptions& options) {
  using NamedFile = std::pair<const char*, const std::string*>;
  const NamedFile inputs[] = {{"--query", &options.query},
                              {"--key", &options.key},
                              {"--value", &options.value},
                              {"--mask", &options.score.mask},
                              {"--alibi", &options.score.alibi},
                              {"--sinks", &options.score.sinks},
                              {"--past-key", &options.score.past_key},
                              {"--past-value", &options.score.past_value}};
  const NamedFile outputs[] = {
      {"--output", &options.output}, {"--weights", &options.weights}, {"--lse", &options.lse}};
  for (const auto& [output_name, output] : outputs) {
    for (const auto& [input_name, input] : inputs) {
      std::error_code no_such_file;
      if (output->empty() || !std::filesystem::equivalent(*output, *input, no_such_file)) continue;
      throw InputError(std::string(output_name) + " " + *output + ": is the " + input_name +
                       " file");
    }
  }
}

// An array with the query's axes up to the sequence, then `last`.
Array result_array(const Array& query, std::optional<std::int64_t> last) {
  Shape shape(query.shape.begin(), query.shape.end() - 1);
  if (last) shape.push_back(*last);
  return zeros(DataType::f32, shape);
}

Results make_results(const RunOptions& options, const Inputs& inputs) {
  Results results;
  results.output = result_array(inputs.query, inputs.value.shape.back());
  if (!options.weights.empty()) {
    results.weights = result_array(inputs.query, inputs.key_count);
  }
  if (!options.lse.empty()) results.lse = result_array(inputs.query, std::nullopt);
  return results;
}

AttentionTensors make_tensors(const Inputs& inputs, Results& results) {
  AttentionTensors tensors;
  tensors.query = tensor_view(inputs.query);
  tensors.key = tensor_view(inputs.key);
  tensors.value = tensor_view(inputs.value);
  const std::int64_t* size = tensors.query.size;
  const auto view = [size](Array& result, std::int64_t last) {
    if (result.data.empty()) return MutableTensorView{};
    return bhsd(values(result), size[0], size[1], size[2], last);
  };
  tensors.output = view(results.output, tensors.value.size[3]);
  tensors.weights = view(results.weights, inputs.key_count);
  set_score_inputs(inputs.score, tensors);
  tensors.lse = view(results.lse, 1);
  return tensors;
}

Causal parse_causal(const std::string& name) {
  if (name == "top_left") return Causal::top_left;
  if (name == "bottom_right") return Causal::bottom_right;
  return Causal::none;
}

// The library names a tensor and its axis in [batch, heads, seq, dim]; this adds the files and
// their own shapes.
void require_call_ok(const Status& status, const RunOptions& options, const Inputs& inputs) {
  if (status.ok()) return;
  throw InputError(std::string(status.message()) + "\n  --query " + options.query + " has shape " +
                   shape_text(inputs.query.shape) + "\n  --key " + options.key + " has shape " +
                   shape_text(inputs.key.shape) + "\n  --value " + options.value + " has shape " +
                   shape_text(inputs.value.shape));
}

struct Timing {
  double seconds = 0; // the median
  int calls = 0;
};

// A few calls; only one when it is a long one.
template <class Call>
Timing time_calls(const Call& call) {
  constexpr int most_calls = 7;
  constexpr double most_seconds = 0.2;
  std::vector<double> times;
  double sum = 0;
  do {
    const auto start = std::chrono::steady_clock::now();
    require_ok(call());
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    sum += times.back();
  } while (times.size() < most_calls && sum < most_seconds);
  return {peak::median(times), static_cast<int>(times.size())};
}

void print_shape(const char* name, const Array& array) {
  if (!array.data.empty()) std::printf("%-15s %s\n", name, shape_text(array.shape).c_str());
}

void print_call(const Inputs& inputs, const Results& results, const Implementation* implementation,
                const Timing& timing, double flops) {
  print_shape("query", inputs.query);
  print_shape("key", inputs.key);
  print_shape("value", inputs.value);
  print_shape("past key", inputs.score.past_key);
  print_shape("past value", inputs.score.past_value);
  print_shape("mask", inputs.score.mask);
  print_shape("output", results.output);
  print_shape("weights", results.weights);
  print_shape("lse", results.lse);
  std::printf("%-15s %s\n", "implementation", implementation_name(implementation));
  std::printf("%-15s %.3f ms (median of %d, after a first call)\n", "time", timing.seconds * 1e3,
              timing.calls);
  std::printf("%-15s %.1f\n", "GFLOP/s", flops / timing.seconds * 1e-9);
}

// The open files of one call; nullptr where one is not wanted.
struct ResultStreams {
  std::ostream *output, *weights, *lse;
};

ResultStreams open_results(OutputFiles& files, const RunOptions& options) {
  const auto open = [&files](const char* option, const std::string& path) {
    return path.empty() ? nullptr : &files.open(option, path);
  };
  return {open("--output", options.output), open("--weights", options.weights),
          open("--lse", options.lse)};
}

void write_results(const ResultStreams& streams, const Results& results) {
  save_npy(*streams.output, results.output);
  if (streams.weights != nullptr) save_npy(*streams.weights, results.weights);
  if (streams.lse != nullptr) save_npy(*streams.lse, results.lse);
}

int run(const RunOptions& options) {
  refuse_input_as_output(options);
  if (options.scale && !std::isfinite(*options.scale)) {
    throw InputError("--scale: must be a finite number that a float32 can hold");
  }
  AttentionOptions attention;
  attention.scale = options.scale;
  attention.causal = parse_causal(options.causal);
  set_score_options(options.score, attention);
  Context context;
  context.threads = options.threads;
  context.implementation = implementation_option(options.isa);
  if (context.implementation == nullptr) require_ok(active_implementation(&context.implementation));

  const Inputs inputs = load_inputs(options);
  Results results = make_results(options, inputs);
  const AttentionTensors tensors = make_tensors(inputs, results);
  OutputFiles files; // opened before the work, so that a bad place shows at once
  const ResultStreams streams = open_results(files, options);
  const auto call = [&] { return scaled_dot_product_attention(tensors, attention, context); };
  require_call_ok(call(), options, inputs);
  const Timing timing = time_calls(call);
  print_call(inputs, results, context.implementation, timing,
             peak::attention_flops(tensors, attention));
  const bool right = !options.verify || print_deviations(verify(tensors, attention));

  write_results(streams, results);
  files.commit();
  return right ? exit_success : exit_beyond_tolerance;
}

} // namespace

Subcommand add_run(CLI::App& parent) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* app = parent.add_subcommand(
      "run", "Compute attention on float32 .npy files: softmax(scale · Q Kᵀ + bias) V");
  const char* shapes = ".npy file: [batch, heads, seq, dim], [batch, seq, dim] or [seq, dim]";
  app->add_option("--query", options->query, shapes)->required();
  app->add_option("--key", options->key, ".npy file of the same rank")->required();
  app->add_option("--value", options->value, ".npy file of the same rank")->required();
  app->add_option("--output", options->output, "File for the result, of the same rank")->required();
  app->add_option("--weights", options->weights, "File for the softmax: [..., query seq, key seq]");
  app->add_option("--lse", options->lse, "File for each row's log-sum-exp: [..., query seq]");
  app->add_option("--causal", options->causal,
                  "Hide later keys: which ends of queries and keys belong together")
      ->check(CLI::IsMember({"none", "top_left", "bottom_right"}));
  app->add_option("--scale", options->scale, "Factor of the scores; 1/sqrt(dim) by default");
  app->add_option("--isa", options->isa, "Implementation, as `simdattn info` lists them");
  add_score_options(*app, options->score);
  add_threads_option(*app, options->threads);
  app->add_flag("--verify", options->verify,
                "Compare with the scalar reference; exit with 1 when a result is out of tolerance");
  refuse_empty_values(*app);
  return {app, [options] { return run(*options); }};
}

} // namespace simdattn::command
