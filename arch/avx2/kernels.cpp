#include "arch/avx2/isa.hpp"
#include "kernels/table.hpp"

namespace simdattn {

extern constinit const KernelTable kernel_table_avx2 =
    kernels::make_table<Avx2>("avx2", feature::avx2 | feature::fma);

} // namespace simdattn
