// Finds TensorFlow's C functions with dlsym, and translates status codes.
#include "api.h"

#include <dlfcn.h>

#include <utility>

namespace convgrad::tensorflow {
namespace {

Api found;

// Codes of TensorFlow (those of absl::StatusCode) beside ours.
constexpr std::pair<StatusCode, int> kCodes[] = {{StatusCode::ok, 0},
                                                 {StatusCode::invalid_argument, 3},
                                                 {StatusCode::unimplemented, 12},
                                                 {StatusCode::resource_exhausted, 8},
                                                 {StatusCode::internal, 13},
                                                 {StatusCode::cancelled, 1}};

Status not_found(std::string_view what) {
  std::string sentence(what);
  return Status(
      ErrorDetail{.code = StatusCode::unimplemented, .message = std::move(sentence), .argument = "tensorflow"});
}

}  // namespace

const Api& api() { return found; }

Status find_api() {
  void* const library = dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return not_found(
        "TensorFlow is not in this process: libtensorflow_framework.so.2 is not loaded; import tensorflow first");
  }
  Api wanted;
  const char* missing = nullptr;
#define CONVGRAD_TF_FUNCTION(result, name, ...)                                       \
  wanted.name = reinterpret_cast<decltype(wanted.name)>(dlsym(library, "TF_" #name)); \
  if (wanted.name == nullptr) missing = "TF_" #name;
#include "functions.inc"
#undef CONVGRAD_TF_FUNCTION
  if (missing != nullptr) {
    return not_found("this TensorFlow lacks the C function " + std::string(missing) +
                     "; releases from 2.12 on have it");
  }
  found = wanted;
  return {};
}

Status TfStatus::taken() const {
  const int code = api().GetCode(status_.get());
  if (code == 0) return {};
  StatusCode ours = StatusCode::internal;
  for (const auto& [mine, theirs] : kCodes) {
    if (theirs == code) ours = mine;
  }
  return Status(ErrorDetail{.code = ours, .message = api().Message(status_.get())});
}

TF_Status* TfStatus::set(const Status& status) {
  int code = 13;
  for (const auto& [mine, theirs] : kCodes) {
    if (mine == status.code()) code = theirs;
  }
  api().SetStatus(status_.get(), code, status.message().c_str());
  return status_.get();
}

}  // namespace convgrad::tensorflow
