#ifndef SIMDATTN_SIMDATTN_H
#define SIMDATTN_SIMDATTN_H
/** @file
 * Scaled dot-product attention for C and for whatever calls C: the same calls as
 * simdattn/attention.hpp, staged.hpp and implementation.hpp, whose comments say what each tensor
 * and option means.
 *
 * Every struct begins with its size as the caller compiled it, so that it can grow: set it with the
 * SIMDATTN_…_INIT macros, or zero the struct and set `struct_size = sizeof(struct)`. A member that
 * the caller's struct does not have yet, or leaves at 0, asks for nothing. An enum, offset or
 * pointer is a number of fixed width.
 */
#include "simdattn/export.hpp"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Codes of simdattn_status. */
enum {
  SIMDATTN_OK = 0,
  SIMDATTN_INVALID_ARGUMENT = 1,
  SIMDATTN_UNSUPPORTED_IMPLEMENTATION = 2,
  SIMDATTN_WORKSPACE_TOO_SMALL = 3,
  SIMDATTN_OUT_OF_MEMORY = 4
};

/** Element types of simdattn_tensor. */
enum {
  SIMDATTN_NONE = 0,
  SIMDATTN_F32 = 1,
  SIMDATTN_F16 = 2,
  SIMDATTN_BF16 = 3,
  SIMDATTN_BOOL = 4,
  SIMDATTN_I64 = 5
};

/** See simdattn::Causal. */
enum { SIMDATTN_CAUSAL_NONE = 0, SIMDATTN_CAUSAL_TOP_LEFT = 1, SIMDATTN_CAUSAL_BOTTOM_RIGHT = 2 };

/** Stages of simdattn_attention_scores(). */
enum { SIMDATTN_STAGE_RAW = 0, SIMDATTN_STAGE_CAPPED = 1, SIMDATTN_STAGE_MASKED = 2 };

/** What a call returns. message names the argument, its value and what it must be; empty on
 * success. */
typedef struct simdattn_status {
  int32_t code;      /**< SIMDATTN_OK or what went wrong */
  char message[240]; /**< ends with a 0 */
} simdattn_status;

/** A tensor [batch, heads, seq, dim], strides in elements; data == NULL: absent. Outputs are
 * written. */
typedef struct simdattn_tensor {
  void* data;        /**< the first element */
  int32_t type;      /**< SIMDATTN_F32 and so on */
  int64_t shape[4];  /**< batch, heads, seq, dim */
  int64_t stride[4]; /**< along each axis */
} simdattn_tensor;

/** See simdattn::AttentionTensors. */
typedef struct simdattn_tensors {
  size_t struct_size;     /**< sizeof(simdattn_tensors) */
  simdattn_tensor query;  /**< [B, Hq, Lq, D] */
  simdattn_tensor key;    /**< [B, Hkv, Lnew, D] */
  simdattn_tensor value;  /**< [B, Hkv, Lnew, Dv] */
  simdattn_tensor output; /**< [B, Hq, Lq, Dv] */
  simdattn_tensor lse;    /**< optional [B, Hq, Lq, 1] */
  simdattn_tensor
      weights; /**< optional [B, Hq, Lq, Lkv]; simdattn_attention_scores() writes the scores here */
  simdattn_tensor mask;     /**< optional, bool, f32, f16 or bf16, each axis that of weights or 1 */
  simdattn_tensor past_key; /**< optional [B, Hkv, Lpast, D] */
  simdattn_tensor past_value;    /**< optional [B, Hkv, Lpast, Dv] */
  simdattn_tensor kv_lengths;    /**< optional i64 [B] */
  simdattn_tensor query_lengths; /**< optional i64 [B] */
  simdattn_tensor query_offsets; /**< optional i64 [B] */
  simdattn_tensor alibi_slopes;  /**< optional [B or 1, Hq or 1] */
  simdattn_tensor sinks;         /**< optional [B or 1, Hq or 1] */
  simdattn_tensor query_starts;  /**< optional i64 [N + 1] */
  simdattn_tensor kv_starts;     /**< optional i64 [N + 1] */
} simdattn_tensors;

/** See simdattn::ScoreTile. */
typedef struct simdattn_score_tile {
  float* scores;      /**< score (0, 0) */
  int64_t row_stride; /**< from one query to the next, in elements */
  int64_t key_stride; /**< from one key to the next, in elements */
  int64_t batch;      /**< batch entry, or sequence of a ragged batch */
  int64_t head;       /**< query head */
  int64_t first_row;  /**< number of the first query */
  int64_t first_key;  /**< number of the first key */
  int64_t row_count;  /**< queries in the tile */
  int64_t key_count;  /**< keys in the tile */
} simdattn_score_tile;

/** See simdattn::AttentionOptions. */
typedef struct simdattn_options {
  size_t struct_size;   /**< sizeof(simdattn_options) */
  int32_t has_scale;    /**< 0: 1/√D, whatever scale is */
  float scale;          /**< any finite number */
  int32_t causal;       /**< SIMDATTN_CAUSAL_… */
  int32_t has_window;   /**< 0: no bounds, whatever the next two are */
  int64_t window_left;  /**< −1: no bound */
  int64_t window_right; /**< −1: no bound */
  float softcap;        /**< 0: off */
  void (*modify)(void* user, const simdattn_score_tile* tile); /**< NULL: none */
  void* modify_user;                                           /**< passed to modify */
} simdattn_options;

/** One instruction set's kernels. */
typedef struct simdattn_implementation simdattn_implementation;

/** See simdattn::Context and simdattn::ParallelFor. */
typedef struct simdattn_context {
  size_t struct_size;                            /**< sizeof(simdattn_context) */
  int32_t threads;                               /**< 0: the default */
  const simdattn_implementation* implementation; /**< NULL: the active one */
  void* workspace;                               /**< scratch; NULL: the call allocates its own */
  size_t workspace_bytes; /**< at least what simdattn_workspace_size() says */
  /** A thread pool's; NULL: OpenMP runs the work. */
  void (*parallel_for)(void* pool, int workers, void (*body)(void* job, int worker), void* job);
  void* pool; /**< passed to parallel_for */
} simdattn_context;

/* For C; C++ has simdattn/simdattn.hpp. */
/** Initialises a simdattn_tensors: all absent. */
#define SIMDATTN_TENSORS_INIT                                                                      \
  { .struct_size = sizeof(simdattn_tensors) }
/** Initialises a simdattn_options: nothing asked. */
#define SIMDATTN_OPTIONS_INIT                                                                      \
  { .struct_size = sizeof(simdattn_options) }
/** Initialises a simdattn_context: the defaults. */
#define SIMDATTN_CONTEXT_INIT                                                                      \
  { .struct_size = sizeof(simdattn_context) }

/** softmax(scale · Q Kᵀ + bias) V. options and context may be NULL: nothing asked. */
SIMDATTN_API simdattn_status simdattn_attention(const simdattn_tensors* tensors,
                                                const simdattn_options* options,
                                                const simdattn_context* context);

/** Writes the size, in bytes, of the workspace that the same call needs. */
SIMDATTN_API simdattn_status simdattn_workspace_size(const simdattn_tensors* tensors,
                                                     const simdattn_options* options,
                                                     const simdattn_context* context,
                                                     size_t* bytes);

/** Scores at a stage, to tensors->weights; value, past_value, output and lse are not looked at. */
SIMDATTN_API simdattn_status simdattn_attention_scores(const simdattn_tensors* tensors,
                                                       int32_t stage,
                                                       const simdattn_options* options,
                                                       const simdattn_context* context);

/** weights = softmax(scores) along the last axis. */
SIMDATTN_API simdattn_status simdattn_attention_softmax(const simdattn_tensor* scores,
                                                        const simdattn_tensor* weights,
                                                        const simdattn_context* context);

/** output = weights · V. */
SIMDATTN_API simdattn_status simdattn_attention_weighted_sum(const simdattn_tensor* weights,
                                                             const simdattn_tensor* value,
                                                             const simdattn_tensor* output,
                                                             const simdattn_context* context);

/** How many implementations the library was built with. */
SIMDATTN_API int32_t simdattn_implementation_count(void);
/** The implementation at an index, best first; NULL when there is none. */
SIMDATTN_API const simdattn_implementation* simdattn_implementation_at(int32_t index);
/** The implementation of that name; NULL when there is none. */
SIMDATTN_API const simdattn_implementation* simdattn_find_implementation(const char* name);
/** "scalar", "avx2", "avx512" or "neon". */
SIMDATTN_API const char*
simdattn_implementation_name(const simdattn_implementation* implementation);
/** 1 when this CPU and its operating system can run it, else 0. */
SIMDATTN_API int32_t
simdattn_implementation_supported(const simdattn_implementation* implementation);
/** Makes it the one of calls without one in their context; NULL takes that back. */
SIMDATTN_API simdattn_status
simdattn_set_implementation(const simdattn_implementation* implementation);
/** Writes the implementation that such a call uses now. */
SIMDATTN_API simdattn_status
simdattn_active_implementation(const simdattn_implementation** implementation);

/** "major.minor.patch" of the library that is linked. */
SIMDATTN_API const char* simdattn_version(void);

#ifdef __cplusplus
}
#endif

#endif
