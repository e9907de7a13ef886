// Who may come in: the token, the Host and the Origin of a request, and what every answer says to the browser.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convgrad::studio {

// 32 random bytes of the system as hex. Throws std::runtime_error when the system has none.
std::string new_token();
// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b);

// What the door looks at; texts are empty where a header is missing.
struct Visitor {
  std::string_view method, host, origin, fetch_site, cookies, content_encoding;
};

class Door {
 public:
  Door(int port, std::string token) : port_(port), token_(std::move(token)) {}

  // The sentence of a refusal; empty: come in. The token is looked at last, so that a browser led here by another site
  // learns nothing of it.
  std::string refusal(const Visitor& visitor) const;
  // The same for the printed address, whose token stands in the query.
  std::string address_refusal(const Visitor& visitor, std::string_view token) const;

  std::string cookie() const;   // of the answer that lets a browser in
  std::string address() const;  // http://127.0.0.1:PORT/?token=TOKEN

 private:
  std::string wrong_way(const Visitor& visitor) const;
  bool is_ours(std::string_view host) const;
  std::string cookie_name() const;

  const int port_;
  const std::string token_;
};

// Of every answer.
const std::vector<std::pair<std::string, std::string>>& safety_headers();

}  // namespace convgrad::studio
