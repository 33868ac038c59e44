/* The C header as an engine in C uses it: results against plain loops in double, every error by its code, and structs
 * of earlier and later versions. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simdattn/simdattn.h"

enum { heads = 2, queries = 5, keys = 37, dim = 24 };

static int failures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      ++failures;                                                                                                      \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                        \
    }                                                                                                                  \
  } while (0)

static float query[heads * queries * dim], key[heads * keys * dim], value[heads * keys * dim];
static float output[heads * queries * dim], lse[heads * queries];
static uint8_t mask[queries * keys];

static void fill(float* data, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
  }
}

static simdattn_tensor dense(void* data, int32_t type, int64_t batch, int64_t h, int64_t seq, int64_t d) {
  simdattn_tensor tensor = {data, type, {batch, h, seq, d}, {h * seq * d, seq * d, d, 1}};
  return tensor;
}

static simdattn_tensors call_tensors(void) {
  simdattn_tensors tensors = SIMDATTN_TENSORS_INIT;
  tensors.query = dense(query, SIMDATTN_F32, 1, heads, queries, dim);
  tensors.key = dense(key, SIMDATTN_F32, 1, heads, keys, dim);
  tensors.value = dense(value, SIMDATTN_F32, 1, heads, keys, dim);
  tensors.output = dense(output, SIMDATTN_F32, 1, heads, queries, dim);
  return tensors;
}

/* The largest difference of `output` from the formula, with mask and softcap as given. */
static double worst_error(const uint8_t* allowed, double softcap) {
  double worst = 0;
  for (int row = 0; row < heads * queries; ++row) {
    const int head = row / queries;
    double weight[keys], sum = 0, expected[dim] = {0};
    for (int j = 0; j < keys; ++j) {
      double score = 0;
      for (int d = 0; d < dim; ++d) score += (double)query[row * dim + d] * (double)key[(head * keys + j) * dim + d];
      score /= sqrt((double)dim);
      if (softcap > 0) score = softcap * tanh(score / softcap);
      weight[j] = allowed == NULL || allowed[row % queries * keys + j] ? exp(score) : 0;
      sum += weight[j];
    }
    for (int j = 0; j < keys; ++j) {
      for (int d = 0; d < dim; ++d) expected[d] += weight[j] / sum * (double)value[(head * keys + j) * dim + d];
    }
    for (int d = 0; d < dim; ++d) worst = fmax(worst, fabs(expected[d] - (double)output[row * dim + d]));
  }
  return worst;
}

static void test_results(void) {
  simdattn_tensors tensors = call_tensors();
  simdattn_options options = SIMDATTN_OPTIONS_INIT;
  simdattn_context context = SIMDATTN_CONTEXT_INIT;
  CHECK(simdattn_attention(&tensors, NULL, NULL).code == SIMDATTN_OK);
  CHECK(worst_error(NULL, 0) < 2e-6);

  for (int i = 0; i < queries * keys; ++i) mask[i] = i % 3 != 1;
  tensors.mask = dense(mask, SIMDATTN_BOOL, 1, 1, queries, keys);
  tensors.lse = dense(lse, SIMDATTN_F32, 1, heads, queries, 1);
  options.softcap = 2.0f;
  size_t bytes = 0;
  CHECK(simdattn_workspace_size(&tensors, &options, &context, &bytes).code == SIMDATTN_OK && bytes > 0);
  context.workspace = malloc(bytes);
  context.workspace_bytes = bytes;
  for (int32_t i = 0; i < simdattn_implementation_count(); ++i) {
    context.implementation = simdattn_implementation_at(i);
    if (!simdattn_implementation_supported(context.implementation)) continue;
    CHECK(simdattn_workspace_size(&tensors, &options, &context, &bytes).code == SIMDATTN_OK);
    context.workspace = realloc(context.workspace, bytes);
    context.workspace_bytes = bytes;
    memset(output, 0xff, sizeof output);
    const simdattn_status status = simdattn_attention(&tensors, &options, &context);
    CHECK(status.code == SIMDATTN_OK && status.message[0] == '\0');
    CHECK(worst_error(mask, 2.0) < 4e-6);
  }
  context.workspace_bytes = 1;
  CHECK(simdattn_attention(&tensors, &options, &context).code == SIMDATTN_WORKSPACE_TOO_SMALL);
  free(context.workspace);
}

static void test_steps(void) {
  static float scores[heads * queries * keys], weights[heads * queries * keys];
  simdattn_tensors tensors = call_tensors();
  tensors.weights = dense(scores, SIMDATTN_F32, 1, heads, queries, keys);
  CHECK(simdattn_attention_scores(&tensors, SIMDATTN_STAGE_RAW, NULL, NULL).code == SIMDATTN_OK);
  const simdattn_tensor softmax = dense(weights, SIMDATTN_F32, 1, heads, queries, keys);
  CHECK(simdattn_attention_softmax(&tensors.weights, &softmax, NULL).code == SIMDATTN_OK);
  memset(output, 0xff, sizeof output);
  CHECK(simdattn_attention_weighted_sum(&softmax, &tensors.value, &tensors.output, NULL).code == SIMDATTN_OK);
  CHECK(worst_error(NULL, 0) < 2e-6);
  CHECK(simdattn_attention_scores(&tensors, 7, NULL, NULL).code == SIMDATTN_INVALID_ARGUMENT);
  CHECK(simdattn_attention_softmax(NULL, &softmax, NULL).code == SIMDATTN_INVALID_ARGUMENT);
}

static void test_errors(void) {
  simdattn_tensors tensors = call_tensors();
  simdattn_options options = SIMDATTN_OPTIONS_INIT;
  CHECK(simdattn_attention(NULL, NULL, NULL).code == SIMDATTN_INVALID_ARGUMENT);
  tensors.key.shape[3] = 23;
  const simdattn_status status = simdattn_attention(&tensors, NULL, NULL);
  CHECK(status.code == SIMDATTN_INVALID_ARGUMENT && strstr(status.message, "key") != NULL);
  tensors = call_tensors();
  tensors.query.type = 99;
  CHECK(simdattn_attention(&tensors, NULL, NULL).code == SIMDATTN_INVALID_ARGUMENT);
  tensors = call_tensors();
  for (int32_t causal = -1; causal <= 1000; causal += 1001) {
    options.causal = causal;
    CHECK(simdattn_attention(&tensors, &options, NULL).code == SIMDATTN_INVALID_ARGUMENT);
  }
  CHECK(simdattn_find_implementation("no such") == NULL);
  CHECK(simdattn_implementation_at(-1) == NULL);
  CHECK(simdattn_active_implementation(NULL).code == SIMDATTN_INVALID_ARGUMENT);
}

/* A caller compiled against an earlier header, and one against a later. */
static void test_struct_sizes(void) {
  simdattn_tensors tensors = call_tensors();
  tensors.struct_size = offsetof(simdattn_tensors, lse);
  tensors.mask.data = mask; /* past the end that the caller has: must not be read */
  CHECK(simdattn_attention(&tensors, NULL, NULL).code == SIMDATTN_OK);
  tensors.struct_size = 0;
  CHECK(simdattn_attention(&tensors, NULL, NULL).code == SIMDATTN_INVALID_ARGUMENT);

  struct {
    simdattn_tensors known;
    uint64_t later;
  } grown = {call_tensors(), 0};
  grown.known.struct_size = sizeof grown;
  CHECK(simdattn_attention(&grown.known, NULL, NULL).code == SIMDATTN_OK);
  grown.later = 1;
  CHECK(simdattn_attention(&grown.known, NULL, NULL).code == SIMDATTN_INVALID_ARGUMENT);
}

int main(void) {
  fill(query, heads * queries * dim, 1);
  fill(key, heads * keys * dim, 2);
  fill(value, heads * keys * dim, 3);
  test_results();
  test_steps();
  test_errors();
  test_struct_sizes();
  const simdattn_implementation* active = NULL;
  CHECK(simdattn_active_implementation(&active).code == SIMDATTN_OK);
  printf("simdattn %s, %s: %d failures\n", simdattn_version(), simdattn_implementation_name(active), failures);
  return failures != 0;
}
