// Messages between the door and a worker: a line of JSON that says what it is, then any bytes. On the wire a message is
// the lengths of both, 4 and 8 bytes in the machine's order (both ends are the same program), then head and body.
#pragma once

#include <optional>
#include <string>

#include "cli/answer.h"

namespace convgrad::studio {

using cli::Json;

struct Message {
  Json head;
  std::string body = {};
};

// False when the other end is gone.
bool write_message(int fd, const Message& message);
// No value when the other end is gone, or has sent what is no message.
std::optional<Message> read_message(int fd);

}  // namespace convgrad::studio
