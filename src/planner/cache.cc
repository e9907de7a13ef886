#include "planner/cache.h"

#include <algorithm>
#include <array>

#include "base/try_lock.h"

namespace convgrad {
namespace {

constexpr std::size_t kEntries = 256;

// What of a policy a plan depends on.
struct Key {
  Geometry geometry;
  std::string engine;
  int threads;
  std::int64_t workspace_limit;
  MathMode math;
  std::optional<Knobs> knobs;
  Place place;

  Key() = default;
  Key(const Geometry& g, const Policy& p)
      : geometry(g),
        engine(p.engine),
        threads(p.threads),
        workspace_limit(p.workspace_limit),
        math(p.math),
        knobs(p.knobs),
        place(p.place) {}
  bool operator==(const Key&) const = default;
};

std::uint64_t hash_of(const Geometry& g, const Policy& p) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](std::int64_t value) { hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3u; };
  for (const Extents* e : {&g.in, &g.filter, &g.out, &g.stride, &g.dilation, &g.pad_before, &g.pad_after}) {
    for (std::int64_t value : *e) mix(value);
  }
  for (std::int64_t value : {g.n, g.groups, g.c_in, g.c_out, std::int64_t{g.rank}, std::int64_t{p.threads}}) mix(value);
  mix(static_cast<int>(g.direction) * 64 + static_cast<int>(g.dtype) * 8 + static_cast<int>(g.layout));
  return hash;
}

struct Entry {
  std::uint64_t hash = 0;
  std::uint64_t used = 0;  // 0: empty; else the time of the last use
  Key key;
  Plan plan;
};

struct Cache {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::uint64_t clock = 0;
  std::array<Entry, kEntries> entries;
};

Cache& cache() {
  static Cache* const made = new Cache;  // never freed: calls may come while the program ends
  return *made;
}

}  // namespace

std::optional<Plan> remembered(const Geometry& geometry, const Policy& policy) {
  const std::uint64_t hash = hash_of(geometry, policy);
  const TryLock lock(cache().busy);
  if (!lock) return {};
  for (Entry& entry : cache().entries) {
    if (entry.used == 0 || entry.hash != hash || !(entry.key == Key(geometry, policy))) continue;
    entry.used = ++cache().clock;
    return entry.plan;
  }
  return {};
}

void remember(const Geometry& geometry, const Policy& policy, const Plan& plan) {
  Entry made{hash_of(geometry, policy), 0, Key(geometry, policy), plan};
  const TryLock lock(cache().busy);
  if (!lock) return;
  Entry& oldest = *std::min_element(cache().entries.begin(), cache().entries.end(),
                                    [](const Entry& a, const Entry& b) { return a.used < b.used; });
  oldest = std::move(made);
  oldest.used = ++cache().clock;
}

}  // namespace convgrad
