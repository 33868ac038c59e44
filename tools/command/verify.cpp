#include "verify.hpp"

#include "reference/reference.hpp"

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

namespace simdattn::command {
namespace {

double difference(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double distance = std::abs(actual - expected);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

double used_tolerance(double difference, double tolerance) {
  if (difference == 0) return 0;
  const double used = difference / tolerance;
  return std::isfinite(difference) && !std::isnan(used) ? used
                                                        : std::numeric_limits<double>::infinity();
}

/// The part of an input that one head of one batch entry sees; an axis of size 1 serves all.
TensorView part_of(const TensorView& view, std::int64_t batch, std::int64_t head) {
  if (view.data == nullptr) return view;
  const std::int64_t element = view.type == DataType::f32   ? 4
                               : view.type == DataType::i64 ? 8
                                                            : 1;
  TensorView part = view;
  const std::int64_t offset = (view.size[0] == 1 ? 0 : batch * view.stride[0]) +
                              (view.size[1] == 1 ? 0 : head * view.stride[1]);
  part.data = static_cast<const char*>(view.data) + offset * element;
  part.size[0] = part.size[1] = 1;
  return part;
}

template <class View, class Pointer>
View one_head(const View& view, std::int64_t batch, std::int64_t head, Pointer data) {
  View slice = view;
  slice.data = data + batch * view.stride[0] + head * view.stride[1];
  slice.size[0] = slice.size[1] = 1;
  return slice;
}

/// What the oracle needs for one query head.
AttentionTensors one_head_of_inputs(const AttentionTensors& tensors, std::int64_t batch,
                                    std::int64_t head, std::int64_t kv_head) {
  AttentionTensors slice;
  slice.query = part_of(tensors.query, batch, head);
  slice.key = part_of(tensors.key, batch, kv_head);
  slice.value = part_of(tensors.value, batch, kv_head);
  slice.past_key = part_of(tensors.past_key, batch, kv_head);
  slice.past_value = part_of(tensors.past_value, batch, kv_head);
  slice.mask = part_of(tensors.mask, batch, head);
  slice.alibi_slopes = part_of(tensors.alibi_slopes, batch, head);
  slice.sinks = part_of(tensors.sinks, batch, head);
  slice.kv_lengths = part_of(tensors.kv_lengths, batch, head);
  return slice;
}

// Takes over into `worst` what a head's elements show, when it is more than what was seen before.
void compare_head(const MutableTensorView& actual, std::int64_t batch, std::int64_t head,
                  const std::vector<double>& expected,
                  const std::function<double(double)>& tolerance, Deviation& worst) {
  const MutableTensorView slice = one_head(actual, batch, head, static_cast<float*>(actual.data));
  const std::int64_t columns = slice.size[3];
  for (std::int64_t i = 0; i < slice.size[2]; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const double element =
          static_cast<float*>(slice.data)[i * slice.stride[2] + c * slice.stride[3]];
      const double wanted = expected[static_cast<std::size_t>(i * columns + c)];
      const double distance = difference(element, wanted);
      const double allowed = tolerance(wanted);
      const double used = used_tolerance(distance, allowed);
      if (!worst.place.empty() && used <= worst.used) continue;
      worst.actual = element;
      worst.expected = wanted;
      worst.difference = distance;
      worst.tolerance = allowed;
      worst.used = used;
      worst.place = "[batch " + std::to_string(batch) + ", head " + std::to_string(head) +
                    ", query " + std::to_string(i) +
                    (columns == 1 ? "]" : ", column " + std::to_string(c) + "]");
    }
  }
}

} // namespace

std::vector<Deviation> verify(const AttentionTensors& tensors, const AttentionOptions& options) {
  Deviation output{.tensor = "output"};
  Deviation weights{.tensor = "weights"};
  Deviation lse{.tensor = "lse"};
  const std::int64_t heads = tensors.query.size[1];
  for (std::int64_t batch = 0; batch < tensors.query.size[0]; ++batch) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t kv_head = head / (heads / tensors.key.size[1]);
      const AttentionTensors slice = one_head_of_inputs(tensors, batch, head, kv_head);
      const reference::Expected expected = reference::attention(slice, options);
      const reference::Tolerance tolerance = reference::tolerance(slice, options);
      compare_head(
          tensors.output, batch, head, expected.output, [&](double) { return tolerance.output; },
          output);
      if (tensors.weights.data != nullptr) {
        compare_head(
            tensors.weights, batch, head, expected.weights,
            [&](double) { return tolerance.weights; }, weights);
      }
      if (tensors.lse.data != nullptr) {
        compare_head(
            tensors.lse, batch, head, expected.lse,
            [&](double value) { return tolerance.lse(value); }, lse);
      }
    }
  }
  std::vector<Deviation> deviations{output};
  if (tensors.weights.data != nullptr) deviations.push_back(weights);
  if (tensors.lse.data != nullptr) deviations.push_back(lse);
  return deviations;
}

bool print_deviations(const std::vector<Deviation>& deviations) {
  bool all_within = true;
  for (const Deviation& deviation : deviations) {
    all_within = all_within && deviation.within();
    if (deviation.place.empty()) {
      std::printf("  %-8s empty\n", deviation.tensor);
    } else {
      std::printf("  %-8s %s: worst at %s, %.3g from the reference, tolerance %.3g\n",
                  deviation.tensor, deviation.within() ? "ok" : "WRONG", deviation.place.c_str(),
                  deviation.difference, deviation.tolerance);
    }
    if (!deviation.within()) {
      std::printf("           is %.9g, must be %.9g\n", deviation.actual, deviation.expected);
    }
  }
  return all_within;
}

} // namespace simdattn::command
