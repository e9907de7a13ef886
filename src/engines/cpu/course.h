// How the units of a program are run: spread over threads, or along with those of other programs (together.h).
#pragma once

#include "engines/spread.h"

namespace convgrad::cpu {

// A unit of a filter gradient has added `done` of its `regions`.
struct Added {
  std::int64_t unit;
  std::int64_t done, regions;
  int worker;
};

struct Course {
  Course(const Policy& given) : policy(given) {}  // NOLINT(google-explicit-constructor): the usual course

  const Policy& policy;
  Status (*run)(void* context, const WorkerUnits& units) = nullptr;  // every unit once; null: spread
  void (*added)(void* context, const Added& added) = nullptr;        // told by filter gradients after each region
  void* context = nullptr;
};

inline Status run_units(const Course& course, const WorkerUnits& units) {
  return course.run == nullptr ? spread(course.policy, units) : course.run(course.context, units);
}

}  // namespace convgrad::cpu
