#include "dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace simdattn {

#define SIMDATTN_ISA(name) extern constinit const KernelTable kernel_table_##name;
#include "arch/isa_list.def"

namespace {

constexpr Implementation implementations[] = {
#define SIMDATTN_ISA(name) Implementation(kernel_table_##name),
#include "arch/isa_list.def"
};
constexpr int count = static_cast<int>(sizeof implementations / sizeof implementations[0]);

std::atomic<const Implementation*> set_by_caller{nullptr};

bool runs_on(const Implementation& implementation, CpuFeatures features) noexcept {
  return (implementation.table->required & ~features) == 0;
}

/// Says which features of an implementation this CPU lacks.
Status unsupported(const char* origin, const Implementation& implementation) noexcept {
  const CpuFeatures missing = implementation.table->required & ~cpu_features();
  char names[100] = "";
  for (const FeatureName& feature : feature_names) {
    if ((missing & feature.bit) == 0) continue;
    std::strncat(names, names[0] == '\0' ? "" : ", ", sizeof names - std::strlen(names) - 1);
    std::strncat(names, feature.name, sizeof names - std::strlen(names) - 1);
  }
  return Status::error(StatusCode::unsupported_implementation,
                       "%s: this CPU can't run implementation '%s': it lacks %s", origin,
                       implementation.table->name, names);
}

/// Names every implementation that the library was built with.
Status unknown(const char* origin, const char* name) noexcept {
  char names[100] = "";
  for (const Implementation& implementation : implementations) {
    std::strncat(names, names[0] == '\0' ? "" : ", ", sizeof names - std::strlen(names) - 1);
    std::strncat(names, implementation.table->name, sizeof names - std::strlen(names) - 1);
  }
  return Status::error(StatusCode::unsupported_implementation,
                       "%s: unknown implementation '%.60s'; it must be one of %s", origin, name,
                       names);
}

/// The environment is read once: a call must not race with a caller's setenv.
struct FromEnvironment {
  const Implementation* implementation = nullptr;
  Status status;

  FromEnvironment() noexcept {
    const char* name = std::getenv("SIMDATTN_ISA");
    if (name == nullptr || name[0] == '\0') {
      implementation = best_implementation(implementations, count, cpu_features());
      return;
    }
    implementation = find_implementation(name);
    if (implementation == nullptr) {
      status = unknown("SIMDATTN_ISA", name);
    } else if (!implementation_supported(implementation)) {
      status = unsupported("SIMDATTN_ISA", *implementation);
    }
  }
};

const FromEnvironment& from_environment() noexcept {
  static const FromEnvironment result;
  return result;
}

} // namespace

int implementation_count() noexcept { return count; }

const Implementation* implementation_at(int index) noexcept {
  return index >= 0 && index < count ? &implementations[index] : nullptr;
}

const Implementation* find_implementation(const char* name) noexcept {
  if (name == nullptr) return nullptr;
  for (const Implementation& implementation : implementations) {
    if (std::strcmp(implementation.table->name, name) == 0) return &implementation;
  }
  return nullptr;
}

const char* implementation_name(const Implementation* implementation) noexcept {
  return implementation == nullptr ? "" : implementation->table->name;
}

bool implementation_supported(const Implementation* implementation) noexcept {
  return implementation != nullptr && runs_on(*implementation, cpu_features());
}

Status set_implementation(const Implementation* implementation) noexcept {
  if (implementation != nullptr && !implementation_supported(implementation)) {
    return unsupported("set_implementation", *implementation);
  }
  set_by_caller.store(implementation, std::memory_order_relaxed);
  return {};
}

Status active_implementation(const Implementation** implementation) noexcept {
  if (implementation == nullptr) {
    return Status::error(StatusCode::invalid_argument,
                         "implementation is nullptr; it must point to where to write");
  }
  return choose_implementation(nullptr, implementation);
}

const Implementation* best_implementation(const Implementation* candidates, int candidate_count,
                                          CpuFeatures features) noexcept {
  for (int i = 0; i < candidate_count; ++i) {
    if (runs_on(candidates[i], features)) return &candidates[i];
  }
  return nullptr;
}

Status choose_implementation(const Implementation* requested,
                             const Implementation** chosen) noexcept {
  if (requested != nullptr) {
    if (!implementation_supported(requested))
      return unsupported("context.implementation", *requested);
    *chosen = requested;
    return {};
  }
  if (const Implementation* set = set_by_caller.load(std::memory_order_relaxed)) {
    *chosen = set;
    return {};
  }
  const FromEnvironment& environment = from_environment();
  if (environment.status.ok()) *chosen = environment.implementation;
  return environment.status;
}

} // namespace simdattn
