#include "support/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>
#include <cstring>

#include <cstdlib>

namespace convgrad::test {
namespace {

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, Against against) {
  usable_ = (bytes + page()) / page() * page();
  void* mapped = mmap(nullptr, usable_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) std::abort();
  mapping_ = static_cast<char*>(mapped);
  char* usable = mapping_ + page();
  if (mprotect(usable, usable_, PROT_READ | PROT_WRITE) != 0) std::abort();
  data_ = against == Against::end ? usable + usable_ - bytes : usable;
}

GuardedMemory::~GuardedMemory() { munmap(mapping_, usable_ + 2 * page()); }

void GuardedMemory::make_read_only() {
  if (mprotect(mapping_ + page(), usable_, PROT_READ) != 0) std::abort();
}

GuardedCall::GuardedCall(const Operands& given, const Tensor& wanted, GuardedMemory::Against against)
    : first(static_cast<std::size_t>(given.first.bytes()), against),
      second(static_cast<std::size_t>(given.second.bytes()), against),
      result(static_cast<std::size_t>(wanted.bytes()), against) {
  std::memcpy(first.data(), given.first.data(), static_cast<std::size_t>(given.first.bytes()));
  std::memcpy(second.data(), given.second.data(), static_cast<std::size_t>(given.second.bytes()));
  std::memset(result.data(), 0xff, static_cast<std::size_t>(wanted.bytes()));
  first.make_read_only();
  second.make_read_only();
}

bool GuardedCall::gave(const Tensor& wanted) const {
  return std::memcmp(result.data(), wanted.data(), static_cast<std::size_t>(wanted.bytes())) == 0;
}

}  // namespace convgrad::test
