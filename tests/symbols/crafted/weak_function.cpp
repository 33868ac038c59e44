#include "table.hpp"

namespace crafted {
[[gnu::noinline]] inline int shared_helper(int x) { return x + 1; }
namespace {
int entry(int x) { return shared_helper(x); }
} // namespace
constinit const Table table{entry};
} // namespace crafted
