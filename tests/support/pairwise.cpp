#include "pairwise.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace simdattn::test {
namespace {

// The pairs of choices that no combination holds yet.
class OpenPairs {
public:
  explicit OpenPairs(const std::vector<int>& levels) : first_(levels.size()) {
    std::exclusive_scan(levels.begin(), levels.end(), first_.begin(), 0);
    total_ = first_.back() + levels.back();
    open_.assign(static_cast<std::size_t>(total_ * total_), false);
    for (std::size_t f = 0; f < levels.size(); ++f)
      for (std::size_t g = f + 1; g < levels.size(); ++g)
        for (int x = 0; x < levels[f]; ++x)
          for (int y = 0; y < levels[g]; ++y)
            at(f, x, g, y) = at(g, y, f, x) = true;
  }

  std::vector<bool>::reference at(std::size_t f, int x, std::size_t g, int y) {
    return open_[static_cast<std::size_t>((first_[f] + x) * total_ + first_[g] + y)];
  }

  // How many open pairs the choice x of factor f closes, given what is decided.
  int gain(const Combination& combination, std::size_t f, int x) {
    int pairs = 0;
    for (std::size_t g = 0; g < combination.size(); ++g)
      if (g != f && combination[g] >= 0) pairs += at(f, x, g, combination[g]) ? 1 : 0;
    return pairs;
  }

  void close(const Combination& combination) {
    for (std::size_t f = 0; f < combination.size(); ++f)
      for (std::size_t g = 0; g < combination.size(); ++g)
        if (f != g) at(f, combination[f], g, combination[g]) = false;
  }

private:
  std::vector<int> first_;
  int total_ = 0;
  std::vector<bool> open_;
};

// Decides every open factor, in random order, by the most open pairs that a choice closes. False
// when none is allowed.
bool complete(Combination& combination, const std::vector<int>& levels, OpenPairs& pairs,
              const std::function<bool(const Combination&)>& allowed, std::mt19937& random) {
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t f : order) {
    if (combination[f] >= 0) continue;
    int best = -1, best_gain = -1;
    const int start = static_cast<int>(random() % static_cast<unsigned>(levels[f]));
    for (int step = 0; step < levels[f]; ++step) {
      const int x = (start + step) % levels[f];
      const int gain = pairs.gain(combination, f, x);
      combination[f] = x;
      if (gain > best_gain && allowed(combination)) best = x, best_gain = gain;
    }
    combination[f] = best;
    if (best < 0) return false;
  }
  return true;
}

} // namespace

std::vector<Combination> pairwise(const std::vector<int>& levels,
                                  const std::function<bool(const Combination&)>& allowed) {
  std::mt19937 random(7);
  OpenPairs pairs(levels);
  std::vector<Combination> combinations;
  for (std::size_t f = 0; f < levels.size(); ++f)
    for (std::size_t g = f + 1; g < levels.size(); ++g)
      for (int x = 0; x < levels[f]; ++x)
        for (int y = 0; y < levels[g]; ++y)
          for (int attempt = 0; attempt < 20 && pairs.at(f, x, g, y); ++attempt) {
            Combination combination(levels.size(), -1);
            combination[f] = x;
            combination[g] = y;
            if (!allowed(combination)) break;
            if (!complete(combination, levels, pairs, allowed, random)) continue;
            pairs.close(combination);
            combinations.push_back(std::move(combination));
          }
  return combinations;
}

} // namespace simdattn::test
