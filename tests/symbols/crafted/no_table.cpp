namespace crafted {
namespace {
[[gnu::used]] int entry(int x) { return x + 1; }
} // namespace
} // namespace crafted
