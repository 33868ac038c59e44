// What tools/peers.py calls through ctypes beside the library's own C functions: the named shapes
// and the machine's limits.

#include "peak/measure.hpp"
#include "peak/peak.hpp"
#include "simdattn/export.hpp"
#include "support/implementations.hpp"
#include "support/problem.hpp"

#include <iterator>

namespace simdattn::bench {
extern "C" {

/// A named shape, and what its figures are computed from.
struct NamedShape {
  const char* name;
  std::int64_t batch, heads, kv_heads, queries, keys, dim, value_dim;
  std::int32_t causal; ///< as in simdattn_options
  std::int32_t bshd;   ///< 1: tensors lie as [batch, seq, heads, dim]; 0: [batch, heads, seq, dim]
  std::int32_t few_queries; ///< 1: reading keys and values may be the limit
  double flops;
};

/// Writes the shape at an index; 0 when there is none.
SIMDATTN_API int simdattn_bench_shape_at(int index, NamedShape* shape) {
  const Shape* found = shape_at(index);
  if (found == nullptr) return 0;
  *shape = {found->name,
            found->batch,
            found->heads,
            found->kv_heads,
            found->queries,
            found->keys,
            found->dim,
            found->value_dim,
            static_cast<std::int32_t>(found->causal),
            found->layout == Layout::bshd,
            few_queries(*found),
            peak::attention_flops(tensors_of(*found, {}), options_of(*found))};
  return 1;
}

/// peak::fma_gflops() of the best implementation.
SIMDATTN_API double simdattn_bench_fma_gflops(int threads, double seconds) {
  return peak::fma_gflops(best_implementation(), threads, seconds);
}

/// peak::read_gigabytes_per_second() of the best implementation.
SIMDATTN_API double simdattn_bench_read_gigabytes(const void* data, std::size_t bytes, int threads,
                                                  double seconds) {
  return peak::read_gigabytes_per_second(best_implementation(), data, bytes, threads, seconds);
}

} // extern "C"
} // namespace simdattn::bench
