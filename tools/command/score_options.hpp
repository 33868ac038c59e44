#pragma once
// The options of `simdattn run` that change which keys a query sees and what is added to its scores.

#include "array.hpp"
#include "simdattn/simdattn.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simdattn::command {

/// As the user gave them.
struct ScoreOptions {
  std::string mask, alibi, sinks;
  std::string past_key, past_value;
  std::vector<std::int64_t> window; ///< left and right, or nothing
  std::vector<std::int64_t> kv_lengths;
  std::optional<float> softcap;
};

/// The files' contents; the tensors of a call point into it.
struct ScoreInputs {
  Array mask, alibi, sinks;
  Array past_key, past_value;
  std::vector<std::int64_t> kv_lengths;
};

void add_score_options(CLI::App& app, ScoreOptions& options);

/// Reads the files. Past keys and values must have the query's rank. Throws InputError.
ScoreInputs load_score_inputs(const ScoreOptions& options, std::size_t query_rank);

void set_score_inputs(const ScoreInputs& inputs, AttentionTensors& tensors);

/// Throws InputError for numbers that are none.
void set_score_options(const ScoreOptions& options, AttentionOptions& attention);

} // namespace simdattn::command
