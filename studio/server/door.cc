#include "studio/server/door.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>

#include "cli/answer.h"

namespace convgrad::studio {
namespace {

using cli::in_quotes;
using cli::printable;

constexpr std::string_view kHosts[] = {"127.0.0.1", "localhost", "[::1]"};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The value of a cookie in "a=1; b=2"; empty when there is none of that name.
std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = cookies.find(';');
    const std::string_view one = trimmed(cookies.substr(0, end));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
    cookies.remove_prefix(end == std::string_view::npos ? cookies.size() : end + 1);
  }
  return {};
}

}  // namespace

std::string new_token() {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the system gives no random numbers for the token");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(i < b.size() ? b[i] : '\0');
  return different == 0;
}

bool Door::is_ours(std::string_view host) const {
  for (const std::string_view name : kHosts) {
    if (host == fmt::format("{}:{}", name, port_)) return true;
  }
  return false;
}

// A page of another site may send requests here, and its own name may be made to lead here; neither names us.
std::string Door::wrong_way(const Visitor& visitor) const {
  if (!is_ours(visitor.host))
    return fmt::format("the Host header is {}, wanted 127.0.0.1:{}", in_quotes(printable(visitor.host)), port_);
  constexpr std::string_view kScheme = "http://";
  const bool ours = visitor.origin.starts_with(kScheme) && is_ours(visitor.origin.substr(kScheme.size()));
  if (!visitor.origin.empty() && !ours)
    return fmt::format("the Origin header is {}, wanted http://127.0.0.1:{}", in_quotes(printable(visitor.origin)),
                       port_);
  if (visitor.fetch_site == "cross-site" && visitor.method != "GET")
    return "the request comes from a page of another site";
  if (!visitor.content_encoding.empty()) return "a compressed body is not taken";
  return {};
}

std::string Door::refusal(const Visitor& visitor) const {
  std::string why = wrong_way(visitor);
  if (!why.empty() || same_secret(token_, cookie_value(visitor.cookies, cookie_name()))) return why;
  return "the token is missing or wrong: open the address that convgrad studio printed";
}

std::string Door::address_refusal(const Visitor& visitor, std::string_view token) const {
  std::string why = wrong_way(visitor);
  if (!why.empty() || same_secret(token_, token)) return why;
  return "the token is wrong: open the address that convgrad studio printed";
}

std::string Door::cookie_name() const { return fmt::format("convgrad_studio_{}", port_); }

std::string Door::cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), token_);
}

std::string Door::address() const { return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_); }

// style-src-attr: the canvas library places its nodes by style attributes. blob and data images: pictures to save.
const std::vector<std::pair<std::string, std::string>>& safety_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: "
       "blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"}};
  return headers;
}

}  // namespace convgrad::studio
