// `simdattn info`: what this machine offers and what the library makes of it.

#include "cpu_features.hpp"
#include "dispatch.hpp"
#include "execute.hpp"
#include "subcommand.hpp"

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace simdattn::command {
namespace {

using Json = nlohmann::ordered_json;

// As Linux calls the processor; empty where it doesn't say.
std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

Json names_of(CpuFeatures features) {
  Json names = Json::array();
  for (const FeatureName& feature : feature_names) {
    if ((features & feature.bit) != 0) names.push_back(feature.name);
  }
  return names;
}

Json describe(const Implementation& implementation, const Implementation* active) {
  const KernelTable& table = *implementation.table;
  const TileSizes& tiles = table.tiles;
  return {{"name", table.name},
          {"supported", implementation_supported(&implementation)},
          {"active", &implementation == active},
          {"requires", names_of(table.required)},
          {"tiles",
           {{"lanes", tiles.lanes},
            {"panel_rows", tiles.panel_rows},
            {"score_keys", tiles.score_keys},
            {"output_dims", tiles.output_dims},
            {"row_block", tiles.row_block},
            {"key_block", tiles.key_block},
            {"key_block_large_dim", tiles.key_block_large_dim},
            {"key_block_one_panel", tiles.key_block_one_panel}}}};
}

Json collect() {
  const Implementation* active = nullptr;
  const Status status = active_implementation(&active);
  const CacheSizes caches = cache_sizes();
  Json info = {{"version", version()},
               {"cpu", cpu_name()},
               {"features", names_of(cpu_features())},
               {"threads", thread_limit({})},
               {"openmp", SIMDATTN_WITH_OPENMP != 0},
               {"cache_bytes", {{"l1", caches.l1}, {"l2", caches.l2}, {"l3", caches.l3}}},
               {"implementations", Json::array()}};
  for (int index = 0; index < implementation_count(); ++index) {
    info["implementations"].push_back(describe(*implementation_at(index), active));
  }
  if (!status.ok()) info["error"] = status.message();
  return info;
}

std::string joined(const Json& names) {
  std::string text;
  for (const Json& name : names)
    text += (text.empty() ? "" : " ") + name.get<std::string>();
  return text.empty() ? "none" : text;
}

std::string kibibytes(const Json& bytes) {
  const auto count = bytes.get<std::size_t>();
  return count == 0 ? "unknown" : std::to_string(count / 1024) + " KiB";
}

void print_implementation(const Json& implementation) {
  const char* state = implementation["active"].get<bool>()      ? "active"
                      : implementation["supported"].get<bool>() ? "supported"
                                                                : "not supported by this CPU";
  std::printf("  %s: %s, requires %s\n   ", implementation["name"].get<std::string>().c_str(),
              state, joined(implementation["requires"]).c_str());
  for (const auto& [name, size] : implementation["tiles"].items())
    std::printf(" %s %d", name.c_str(), size.get<int>());
  std::printf("\n");
}

void print(const Json& info) {
  const auto text = [&info](const char* name) { return info[name].get<std::string>(); };
  const Json& caches = info["cache_bytes"];
  std::printf("simdattn %s\n", text("version").c_str());
  std::printf("cpu       %s\n", text("cpu").empty() ? "unknown" : text("cpu").c_str());
  std::printf("features  %s\n", joined(info["features"]).c_str());
  std::printf("caches    L1 %s, L2 %s, L3 %s\n", kibibytes(caches["l1"]).c_str(),
              kibibytes(caches["l2"]).c_str(), kibibytes(caches["l3"]).c_str());
  std::printf("threads   %d (%s)\n", info["threads"].get<int>(),
              info["openmp"].get<bool>() ? "OpenMP" : "built without OpenMP");
  std::printf("implementations compiled, best first:\n");
  for (const Json& implementation : info["implementations"])
    print_implementation(implementation);
  if (info.contains("error")) std::printf("error     %s\n", text("error").c_str());
}

} // namespace

Subcommand add_info(CLI::App& parent) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* app =
      parent.add_subcommand("info", "Show CPU features, cache sizes, implementations and threads");
  app->add_flag("--json", *as_json, "The same as JSON");
  return {app, [as_json] {
            const Json info = collect();
            if (*as_json) {
              std::printf("%s\n", info.dump(2).c_str());
            } else {
              print(info);
            }
            return exit_success;
          }};
}

} // namespace simdattn::command
