// The browser of this desktop, where there is one.
#pragma once

#include <string>

namespace convgrad::studio {

// Opens an address by a file that only this user may read, so that the token stands in no list of processes. The file
// goes when this object does.
class BrowserStart {
 public:
  BrowserStart() = default;
  ~BrowserStart();
  BrowserStart(const BrowserStart&) = delete;
  BrowserStart& operator=(const BrowserStart&) = delete;
  void open(const std::string& address);

 private:
  std::string file_;
};

}  // namespace convgrad::studio
