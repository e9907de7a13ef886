// The bodies of requests, read member by member. A page inside one stays text until the library reads it, so that its
// own strict rules hold.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convgrad/graph/page.h"
#include "studio/server/messages.h"

namespace convgrad::studio {

class Body {
 public:
  // Refuses text that is no JSON object, and members that are none of these.
  static Result<Body> read(std::string_view text, std::vector<std::string_view> members);

  bool has(std::string_view name) const { return members_.contains(name); }
  // The member as it stands in the text; empty when it is missing.
  std::string_view text(std::string_view name) const;

  // Refuse a member that is missing or of another kind.
  Result<Json> value(std::string_view name) const;
  Result<std::string> string(std::string_view name) const;
  Result<std::int64_t> integer(std::string_view name) const;
  Result<std::vector<std::int64_t>> integers(std::string_view name) const;
  Result<graph::PagePin> pin(std::string_view name) const;                // ["y", "output"]
  Result<std::vector<graph::PagePin>> pins(std::string_view name) const;  // [["y", "output"], ...]
  // Refuses one of more nodes, too.
  Result<graph::Page> page(std::int64_t most_nodes) const;
  // The member "engine"; empty, the cheapest, when it is missing. Refuses one that the library would refuse.
  Result<std::string> engine() const;

 private:
  std::map<std::string, std::string_view, std::less<>> members_;
};

Status refused_member(std::string_view name, std::string got, std::string wanted);
Result<std::string> from_base64(std::string_view name, std::string_view text);
std::string to_base64(std::string_view bytes);

}  // namespace convgrad::studio
