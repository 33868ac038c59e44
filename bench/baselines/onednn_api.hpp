#pragma once
// The calls that oneDNN 2 and 3 spell differently, under one name each.

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace simdattn::baseline::api {

using Arguments = std::unordered_map<int, dnnl::memory>;

#if DNNL_VERSION_MAJOR >= 3

using Softmax = dnnl::softmax_forward;

inline dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine,
                                                    const dnnl::memory::desc& a,
                                                    const dnnl::memory::desc& b,
                                                    const dnnl::memory::desc& product,
                                                    const dnnl::primitive_attr& attributes) {
  return {engine, a, b, product, attributes};
}

inline Softmax::primitive_desc describe_softmax(const dnnl::engine& engine,
                                                const dnnl::memory::desc& rows, int axis,
                                                const dnnl::primitive_attr& attributes) {
  return {engine,
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::softmax_accurate,
          rows,
          rows,
          axis,
          attributes};
}

/// Multiplies the product of a matmul by `scale`, which is an argument of every execution.
inline void scale_product(const dnnl::engine& engine, float scale, dnnl::primitive_attr& attributes,
                          Arguments& arguments) {
  attributes.set_scales_mask(DNNL_ARG_SRC, 0);
  const dnnl::memory::desc one({1}, dnnl::memory::data_type::f32, dnnl::memory::dims{1});
  dnnl::memory factor(one, engine);
  *static_cast<float*>(factor.get_data_handle()) = scale;
  arguments[DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC] = factor;
}

#else

using Softmax = dnnl::softmax_v2_forward;

inline dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine,
                                                    const dnnl::memory::desc& a,
                                                    const dnnl::memory::desc& b,
                                                    const dnnl::memory::desc& product,
                                                    const dnnl::primitive_attr& attributes) {
  return {dnnl::matmul::desc(a, b, product), attributes, engine};
}

inline Softmax::primitive_desc describe_softmax(const dnnl::engine& engine,
                                                const dnnl::memory::desc& rows, int axis,
                                                const dnnl::primitive_attr& attributes) {
  const Softmax::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate,
                           rows, rows, axis);
  return {desc, attributes, engine};
}

/// Multiplies the product of a matmul by `scale`, which becomes part of the primitive.
inline void scale_product(const dnnl::engine&, float scale, dnnl::primitive_attr& attributes,
                          Arguments&) {
  attributes.set_output_scales(0, {scale});
}

#endif

} // namespace simdattn::baseline::api
