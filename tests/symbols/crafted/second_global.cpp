#include "table.hpp"

namespace crafted {
int entry(int x);
int entry(int x) { return x + 1; }
constinit const Table table{entry};
} // namespace crafted
