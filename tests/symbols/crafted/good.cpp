#include "table.hpp"

namespace crafted {
namespace {
int entry(int x) { return x + 1; }
} // namespace
constinit const Table table{entry};
} // namespace crafted
