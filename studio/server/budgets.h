// What a request may cost. Each has a sentence of its own when it is passed.
#pragma once

#include <cstdint>

namespace convgrad::studio {

struct Budgets {
  std::int64_t request_bytes = std::int64_t{64} << 20;
  std::int64_t nodes = 20'000;
  std::int64_t tensor_bytes = std::int64_t{2} << 30;  // of all tensors that a run holds at once
  double seconds = 300;                               // of a run, of each step of a loop, of any other request
};

}  // namespace convgrad::studio
