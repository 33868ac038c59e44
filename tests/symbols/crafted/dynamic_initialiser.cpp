#include "table.hpp"

namespace crafted {
namespace {
int entry(int x) { return x + 1; }
int one_more(const volatile int& x) { return x + 1; }
volatile int zero = 0;
const int one = one_more(zero); // runs before main
int entry_by_one(int x) { return entry(x) + one; }
} // namespace
constinit const Table table{entry_by_one};
} // namespace crafted
