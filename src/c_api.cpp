// The C calls: structs read as far as the caller has them, then the C++ call.

#include "dispatch.hpp"
#include "simdattn/simdattn.h"
#include "simdattn/simdattn.hpp"

#include <algorithm>
#include <cstring>

// What a pointer to the opaque C type points to.
struct simdattn_implementation {};

namespace {

using namespace simdattn;

const Implementation* from_c(const simdattn_implementation* implementation) noexcept {
  return reinterpret_cast<const Implementation*>(implementation);
}

const simdattn_implementation* to_c(const Implementation* implementation) noexcept {
  return reinterpret_cast<const simdattn_implementation*>(implementation);
}

simdattn_status to_c(const Status& status) noexcept {
  simdattn_status result = {};
  static_assert(sizeof result.message == Status::message_capacity);
  result.code = static_cast<std::int32_t>(status.code());
  std::memcpy(result.message, status.message(), std::strlen(status.message()) + 1);
  return result;
}

/// Copies what the caller's struct has of ours; the rest stays 0. A struct from a later version is
/// good as long as what we don't know of it is 0.
template <class Struct>
Status read_struct(const char* name, const Struct* given, bool required, Struct* known) noexcept {
  *known = Struct{};
  if (given == nullptr) {
    if (!required) return {};
    return Status::error(StatusCode::invalid_argument, "%s is NULL; it must point to a struct",
                         name);
  }
  const std::size_t size = given->struct_size;
  if (size < sizeof given->struct_size) {
    return Status::error(
        StatusCode::invalid_argument,
        "%s->struct_size is %zu; it must be the size of the struct, as SIMDATTN_…_INIT sets it",
        name, size);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof *known &&
      std::any_of(bytes + sizeof *known, bytes + size, [](unsigned char b) { return b != 0; })) {
    return Status::error(
        StatusCode::invalid_argument,
        "%s->struct_size is %zu; what lies past the %zu bytes that this version knows must be 0",
        name, size, sizeof *known);
  }
  std::memcpy(known, given, std::min(size, sizeof *known));
  return {};
}

/// A type from outside; what is no type at all becomes none, which every check rejects by name.
DataType type_from_c(std::int32_t type) noexcept {
  return type >= 0 && type <= SIMDATTN_I64 ? static_cast<DataType>(type) : DataType::none;
}

template <class View>
View view_of(const simdattn_tensor& tensor) noexcept {
  View view;
  view.data = tensor.data;
  view.type = type_from_c(tensor.type);
  std::copy_n(tensor.shape, 4, view.size);
  std::copy_n(tensor.stride, 4, view.stride);
  return view;
}

AttentionTensors tensors_of(const simdattn_tensors& given) noexcept {
  AttentionTensors tensors;
  tensors.query = view_of<TensorView>(given.query);
  tensors.key = view_of<TensorView>(given.key);
  tensors.value = view_of<TensorView>(given.value);
  tensors.output = view_of<MutableTensorView>(given.output);
  tensors.lse = view_of<MutableTensorView>(given.lse);
  tensors.weights = view_of<MutableTensorView>(given.weights);
  tensors.mask = view_of<TensorView>(given.mask);
  tensors.past_key = view_of<TensorView>(given.past_key);
  tensors.past_value = view_of<TensorView>(given.past_value);
  tensors.kv_lengths = view_of<TensorView>(given.kv_lengths);
  tensors.query_lengths = view_of<TensorView>(given.query_lengths);
  tensors.query_offsets = view_of<TensorView>(given.query_offsets);
  tensors.alibi_slopes = view_of<TensorView>(given.alibi_slopes);
  tensors.sinks = view_of<TensorView>(given.sinks);
  tensors.query_starts = view_of<TensorView>(given.query_starts);
  tensors.kv_starts = view_of<TensorView>(given.kv_starts);
  return tensors;
}

/// Calls the C modifier that `user`, the caller's options, names.
void modify_through_c(void* user, const ScoreTile& tile) {
  const auto& options = *static_cast<const simdattn_options*>(user);
  const simdattn_score_tile c_tile{tile.scores,    tile.row_stride, tile.key_stride,
                                   tile.batch,     tile.head,       tile.first_row,
                                   tile.first_key, tile.row_count,  tile.key_count};
  options.modify(options.modify_user, &c_tile);
}

AttentionOptions options_of(simdattn_options& given) noexcept {
  AttentionOptions options;
  if (given.has_scale != 0) options.scale = given.scale;
  // A number that is no kind of causality must reach the check that rejects it, not wrap around to
  // one that is.
  options.causal =
      static_cast<Causal>(std::clamp(given.causal, std::int32_t{-1}, std::int32_t{255}));
  if (given.has_window != 0) {
    options.window_left = given.window_left;
    options.window_right = given.window_right;
  }
  options.softcap = given.softcap;
  if (given.modify != nullptr) options.modifier = {modify_through_c, &given};
  return options;
}

Context context_of(const simdattn_context& given) noexcept {
  Context context;
  context.threads = given.threads;
  context.implementation = from_c(given.implementation);
  context.workspace = given.workspace;
  context.workspace_bytes = given.workspace_bytes;
  context.parallel_for = {given.parallel_for, given.pool};
  return context;
}

/// Reads the three structs that most calls have and hands them on.
template <class Call>
simdattn_status with_structs(const simdattn_tensors* tensors, const simdattn_options* options,
                             const simdattn_context* context, Call call) noexcept {
  simdattn_tensors known_tensors;
  simdattn_options known_options;
  simdattn_context known_context;
  if (Status status = read_struct("tensors", tensors, true, &known_tensors); !status.ok())
    return to_c(status);
  if (Status status = read_struct("options", options, false, &known_options); !status.ok())
    return to_c(status);
  if (Status status = read_struct("context", context, false, &known_context); !status.ok())
    return to_c(status);
  return to_c(
      call(tensors_of(known_tensors), options_of(known_options), context_of(known_context)));
}

/// The same for calls on single tensors.
template <class Call>
simdattn_status with_context(std::initializer_list<const simdattn_tensor*> tensors,
                             const simdattn_context* context, Call call) noexcept {
  for (const simdattn_tensor* tensor : tensors) {
    if (tensor == nullptr) {
      return to_c(Status::error(StatusCode::invalid_argument,
                                "a tensor is NULL; each must point to a simdattn_tensor"));
    }
  }
  simdattn_context known_context;
  if (Status status = read_struct("context", context, false, &known_context); !status.ok())
    return to_c(status);
  return to_c(call(context_of(known_context)));
}

} // namespace

simdattn_status simdattn_attention(const simdattn_tensors* tensors, const simdattn_options* options,
                                   const simdattn_context* context) {
  return with_structs(tensors, options, context, scaled_dot_product_attention);
}

simdattn_status simdattn_workspace_size(const simdattn_tensors* tensors,
                                        const simdattn_options* options,
                                        const simdattn_context* context, size_t* bytes) {
  return with_structs(tensors, options, context, [&](const auto& t, const auto& o, const auto& c) {
    return workspace_size(t, o, c, bytes);
  });
}

simdattn_status simdattn_attention_scores(const simdattn_tensors* tensors, int32_t stage,
                                          const simdattn_options* options,
                                          const simdattn_context* context) {
  return with_structs(tensors, options, context, [&](const auto& t, const auto& o, const auto& c) {
    return attention_scores(
        t, static_cast<ScoreStage>(std::clamp(stage, std::int32_t{-1}, std::int32_t{255})), o, c);
  });
}

simdattn_status simdattn_attention_softmax(const simdattn_tensor* scores,
                                           const simdattn_tensor* weights,
                                           const simdattn_context* context) {
  return with_context({scores, weights}, context, [&](const Context& c) {
    return attention_softmax(view_of<TensorView>(*scores), view_of<MutableTensorView>(*weights), c);
  });
}

simdattn_status simdattn_attention_weighted_sum(const simdattn_tensor* weights,
                                                const simdattn_tensor* value,
                                                const simdattn_tensor* output,
                                                const simdattn_context* context) {
  return with_context({weights, value, output}, context, [&](const Context& c) {
    return attention_weighted_sum(view_of<TensorView>(*weights), view_of<TensorView>(*value),
                                  view_of<MutableTensorView>(*output), c);
  });
}

int32_t simdattn_implementation_count(void) { return implementation_count(); }

const simdattn_implementation* simdattn_implementation_at(int32_t index) {
  return to_c(implementation_at(index));
}

const simdattn_implementation* simdattn_find_implementation(const char* name) {
  return to_c(find_implementation(name));
}

const char* simdattn_implementation_name(const simdattn_implementation* implementation) {
  return implementation_name(from_c(implementation));
}

int32_t simdattn_implementation_supported(const simdattn_implementation* implementation) {
  return implementation_supported(from_c(implementation)) ? 1 : 0;
}

simdattn_status simdattn_set_implementation(const simdattn_implementation* implementation) {
  return to_c(set_implementation(from_c(implementation)));
}

simdattn_status simdattn_active_implementation(const simdattn_implementation** implementation) {
  const Implementation* active = nullptr;
  const Status status = active_implementation(implementation == nullptr ? nullptr : &active);
  if (status.ok()) *implementation = to_c(active);
  return to_c(status);
}

const char* simdattn_version(void) { return version(); }
