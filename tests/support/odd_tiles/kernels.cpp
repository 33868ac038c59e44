#include "kernels/table.hpp"
#include "tests/support/odd_tiles/isa.hpp"

namespace simdattn {

extern constinit const KernelTable kernel_table_odd_tiles = kernels::make_table<OddTiles>("odd", 0);

} // namespace simdattn
