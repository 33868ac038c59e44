#pragma once
// A unit as it should be has this one symbol; each of the other files here breaks the rule in one way.
namespace crafted {
struct Table {
  int (*entry)(int);
};
extern const Table table;
} // namespace crafted
