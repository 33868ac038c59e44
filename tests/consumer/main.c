/* A program in C outside the project: one attention call, checked against the formula. */

#include <math.h>
#include <stdio.h>

#include <simdattn/simdattn.h>

enum { queries = 19, keys = 45, dim = 16 };

static float query[queries * dim], key[keys * dim], value[keys * dim], output[queries * dim];

static void fill(float* numbers, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (float)(seed >> 8 & 0xffff) / 32768.0f - 1.0f;
  }
}

static simdattn_tensor rows(float* numbers, int count) {
  simdattn_tensor tensor = {numbers, SIMDATTN_F32, {1, 1, count, dim}, {count * dim, count * dim, dim, 1}};
  return tensor;
}

/* The largest difference of one row of the output from softmax(scale q Kt) V. */
static double row_error(int row) {
  double sum = 0, expected[dim] = {0}, largest = 0;
  for (int j = 0; j < keys; ++j) {
    double score = 0;
    for (int d = 0; d < dim; ++d) score += (double)query[row * dim + d] * (double)key[j * dim + d];
    const double weight = exp(score / sqrt((double)dim));
    sum += weight;
    for (int d = 0; d < dim; ++d) expected[d] += weight * (double)value[j * dim + d];
  }
  for (int d = 0; d < dim; ++d) {
    const double error = fabs(expected[d] / sum - (double)output[row * dim + d]);
    if (!(error <= largest)) largest = error; /* NaN stays */
  }
  return largest;
}

int main(void) {
  fill(query, queries * dim, 1);
  fill(key, keys * dim, 2);
  fill(value, keys * dim, 3);
  simdattn_tensors tensors = SIMDATTN_TENSORS_INIT;
  tensors.query = rows(query, queries);
  tensors.key = rows(key, keys);
  tensors.value = rows(value, keys);
  tensors.output = rows(output, queries);
  const simdattn_status status = simdattn_attention(&tensors, NULL, NULL);
  if (status.code != SIMDATTN_OK) {
    fprintf(stderr, "%s\n", status.message);
    return 1;
  }
  for (int row = 0; row < queries; ++row) {
    const double error = row_error(row);
    if (!(error <= 2e-6)) {
      fprintf(stderr, "row %d is off by %g\n", row, error);
      return 1;
    }
  }
  printf("simdattn %s: %d rows are right\n", simdattn_version(), (int)queries);
  return 0;
}
