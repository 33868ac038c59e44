#include "arch/neon/isa.hpp"
#include "kernels/table.hpp"

namespace simdattn {

extern constinit const KernelTable kernel_table_neon =
    kernels::make_table<Neon>("neon", feature::neon);

} // namespace simdattn
