// `simdattn demo`: the lesson, a picture of its weights, and how fast this machine does it.

#include "heat_map.hpp"
#include "lesson.hpp"
#include "output_files.hpp"
#include "speed_table.hpp"
#include "subcommand.hpp"

#include <cstdio>
#include <memory>

namespace simdattn::command {
namespace {

struct DemoOptions {
  std::string picture = "attention_weights.svg";
  int threads = 0;
  bool skip_timing = false;
};

int demo(const DemoOptions& options) {
  OutputFiles files;
  std::ostream& picture = files.open("--picture", options.picture);
  const Lesson lesson = teach();

  HeatMap map;
  map.title = "softmax(Q Kᵀ / √64), batch 0: each row sums to 1";
  map.row_axis = "query";
  map.column_axis = "key";
  map.values = values(lesson.weights);
  map.rows = static_cast<int>(lesson.weights.shape[1]);
  map.columns = static_cast<int>(lesson.weights.shape[2]);
  write_svg(picture, map);
  files.commit();
  std::printf("\nPicture of the weights of batch 0: %s\n", options.picture.c_str());

  if (!options.skip_timing) print_speed_tables(options.threads);
  return lesson.right ? exit_success : exit_beyond_tolerance;
}

} // namespace

Subcommand add_demo(CLI::App& parent) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App* app = parent.add_subcommand(
      "demo", "Walk through the formula, draw its weights, and time this machine");
  app->add_option("--picture", options->picture, "SVG file to write")->capture_default_str();
  app->add_flag("--skip-timing", options->skip_timing, "Leave out the tables of times");
  add_threads_option(*app, options->threads);
  refuse_empty_values(*app);
  return {app, [options] { return demo(*options); }};
}

} // namespace simdattn::command
