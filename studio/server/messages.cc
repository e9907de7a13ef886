#include "studio/server/messages.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace convgrad::studio {
namespace {

constexpr std::uint32_t kMostHead = 1 << 20;
constexpr std::uint64_t kMostBody = std::uint64_t{8} << 30;

struct Lengths {
  std::uint32_t head = 0;
  std::uint64_t body = 0;
};
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

bool write_all(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(fd, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int fd, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::string> read_bytes(int fd, std::size_t count) {
  std::string bytes(count, '\0');
  if (!read_all(fd, bytes.data(), count)) return std::nullopt;
  return bytes;
}

}  // namespace

bool write_message(int fd, const Message& message) {
  const std::string head = message.head.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto head_bytes = static_cast<std::uint32_t>(head.size());
  const std::uint64_t body_bytes = message.body.size();
  char lengths[kLengthBytes];
  std::memcpy(lengths, &head_bytes, sizeof(head_bytes));
  std::memcpy(lengths + sizeof(head_bytes), &body_bytes, sizeof(body_bytes));
  return write_all(fd, lengths, sizeof(lengths)) && write_all(fd, head.data(), head.size()) &&
         write_all(fd, message.body.data(), message.body.size());
}

std::optional<Message> read_message(int fd) {
  char bytes[kLengthBytes];
  if (!read_all(fd, bytes, sizeof(bytes))) return std::nullopt;
  Lengths lengths;
  std::memcpy(&lengths.head, bytes, sizeof(lengths.head));
  std::memcpy(&lengths.body, bytes + sizeof(lengths.head), sizeof(lengths.body));
  if (lengths.head > kMostHead || lengths.body > kMostBody) return std::nullopt;
  const std::optional<std::string> head = read_bytes(fd, lengths.head);
  if (!head) return std::nullopt;
  std::optional<std::string> body = read_bytes(fd, lengths.body);
  Json parsed = Json::parse(*head, nullptr, false);
  if (!body || !parsed.is_object()) return std::nullopt;
  return Message{std::move(parsed), std::move(*body)};
}

}  // namespace convgrad::studio
