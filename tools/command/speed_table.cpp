#include "speed_table.hpp"
namespace simdattn::command {
void print_speed_tables(int) {}
} // namespace simdattn::command
