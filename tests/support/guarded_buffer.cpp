#include "guarded_buffer.hpp"

#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace simdattn::test {

namespace {
// Bytes between the end of a buffer and its guard page. None, but that qemu 7.2 reads a whole vector for the operand of
// a scalar FMA or a masked load: .ci/emulated asks for that much.
std::size_t slack() {
  const char* bytes = std::getenv("SIMDATTN_TEST_GUARD_SLACK");
  return bytes != nullptr ? std::strtoul(bytes, nullptr, 10) : 0;
}
} // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, Placement placement) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t behind = placement == Placement::back ? slack() : 0;
  const std::size_t inner = (bytes + behind + page - 1) / page * page;
  mapped_bytes_ = inner + 2 * page;
  void* pages = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<std::byte*>(pages);
  if (inner > 0 && mprotect(pages_ + page, inner, PROT_READ | PROT_WRITE) != 0)
    throw std::bad_alloc();
  data_ = pages_ + page + (placement == Placement::back ? inner - bytes - behind : 0);
}

GuardedBuffer::~GuardedBuffer() {
  if (pages_ != nullptr) munmap(pages_, mapped_bytes_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

} // namespace simdattn::test
