#include "support/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

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

}  // namespace convgrad::test
