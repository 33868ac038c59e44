#include "arch/scalar/isa.hpp"
#include "kernels/table.hpp"

namespace simdattn {

extern constinit const KernelTable kernel_table_scalar = kernels::make_table<Scalar>("scalar", 0);

} // namespace simdattn
