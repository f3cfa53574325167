#include "scheduler/http/http_client.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::api {
namespace {

constexpr std::string_view kLengthHeader = "\r\nContent-Length: ";
constexpr std::string_view kStart = "HTTP/1.1 ";

std::string advice(const std::string& socket, int error) {
  switch (error) {
    case ENOENT:
      return "no daemon: socket '" + socket +
             "' does not exist; start margayd, or give its socket with --socket or MARGAY_SOCKET";
    case ECONNREFUSED:
      return "no daemon listens at '" + socket +
             "'; start margayd, or check --socket and MARGAY_SOCKET";
    case EACCES:
    case EPERM:
      return "permission denied for socket '" + socket +
             "'; ask the administrator to add you to its group (see 'ls -l')";
    case EAGAIN:
    case ETIMEDOUT:
      return "the daemon at '" + socket + "' does not answer; see its log";
    case ECONNRESET:
    case EPIPE:
      return "the daemon at '" + socket + "' ended while it answered; see its log and try again";
    default:
      return "cannot reach the daemon at '" + socket + "': " + std::strerror(error);
  }
}

std::string request_text(const Call& call) {
  std::string text = call.method + " " + call.target + " HTTP/1.1\r\nHost: margay\r\n";
  text += "Connection: close\r\n";
  if (call.method != "GET") {
    text += "Content-Type: application/json\r\n";
    text += "Content-Length: " + std::to_string(call.body.size()) + "\r\n";
  }
  return text + "\r\n" + call.body;
}

std::optional<size_t> content_length(const std::string& head) {
  const size_t at = head.find(kLengthHeader);
  if (at == std::string::npos) return std::nullopt;
  size_t length = 0;
  const char* begin = head.data() + at + kLengthHeader.size();
  const auto end = std::from_chars(begin, head.data() + head.size(), length);
  return end.ec == std::errc() ? std::optional(length) : std::nullopt;
}

std::optional<Answer> parse(const std::string& text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with(kStart)) return std::nullopt;
  Answer answer;
  const char* digits = text.data() + kStart.size();
  if (std::from_chars(digits, text.data() + end, answer.status).ec != std::errc()) {
    return std::nullopt;
  }
  answer.body = text.substr(end + 4);
  const std::optional<size_t> length = content_length(text.substr(0, end + 2));
  if (length && *length != answer.body.size()) return std::nullopt;
  return answer;
}

// Every answer ends with the connection, which the daemon may close before it has read a request
// that it refuses: the system then reports a reset behind the answer.
std::string receive(int connection) {
  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t count = ::read(connection, block.data(), block.size());
    if (count > 0) text.append(block.data(), static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno == ECONNRESET && !text.empty())) return text;
    if (count < 0 && errno != EINTR) base::throw_errno("receive");
  }
}

}  // namespace

Answer HttpClient::call(const Call& call) const {
  try {
    const Descriptor connection = connect_to(socket_, timeout_);
    try {
      send_with_files(connection.get(), request_text(call), call.files);
    } catch (const std::system_error& error) {
      // The daemon refused before it had read all: its answer has the reason.
      if (error.code().value() != EPIPE) throw;
    }
    if (const std::optional<Answer> answer = parse(receive(connection.get()))) return *answer;
  } catch (const std::system_error& error) {
    throw Unreachable(advice(socket_, error.code().value()));
  }
  throw Unreachable("the answer at '" + socket_ +
                    "' is cut short or not HTTP; is it margayd's socket?");
}

}  // namespace scheduler::api
