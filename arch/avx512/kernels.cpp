#include "arch/avx512/isa.hpp"
#include "kernels/table.hpp"

namespace simdattn {

extern constinit const KernelTable kernel_table_avx512 = kernels::make_table<Avx512>(
    "avx512", feature::avx2 | feature::fma | feature::avx512f | feature::avx512bw |
                  feature::avx512dq | feature::avx512vl);

} // namespace simdattn
