// Turns what may escape from the standard library or a lent callback into a Status.
#pragma once

#include <exception>
#include <new>

#include "convgrad/status.h"

namespace convgrad {

template <class Call>
auto guarded(const Call& call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::exception& error) {
    return Status::internal(error.what());
  } catch (...) {
    return Status::internal("an unknown exception was caught");
  }
}

}  // namespace convgrad
