#include "tests/fakes/scripted_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tests {
namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

int local_listener(int& port) {
  const int listener = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  checked(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), "bind");
  checked(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port = ntohs(address.sin_port);
  return listener;
}

int unix_listener(const std::string& path) {
  const int listener = checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  checked(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  return listener;
}

// False: the other side is gone.
bool send_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

ScriptedRequest parse_head(const std::string& head) {
  ScriptedRequest request;
  const size_t blank = head.find(' ');
  const size_t second = head.find(' ', blank + 1);
  request.method = head.substr(0, blank);
  request.path = head.substr(blank + 1, second - blank - 1);
  for (size_t line = head.find("\r\n") + 2; line < head.size();) {
    const size_t end = head.find("\r\n", line);
    const size_t colon = head.find(": ", line);
    if (colon < end) {
      request.headers[lower(head.substr(line, colon - line))] =
          head.substr(colon + 2, end - colon - 2);
    }
    line = end + 2;
  }
  return request;
}

// What came too early stays in `buffer`.
std::optional<ScriptedRequest> receive(int connection, std::string& buffer) {
  std::array<char, 1 << 16> piece;
  const auto more = [&] {
    const ssize_t count = ::recv(connection, piece.data(), piece.size(), 0);
    if (count > 0) buffer.append(piece.data(), static_cast<size_t>(count));
    return count > 0;
  };
  while (buffer.find("\r\n\r\n") == buffer.npos) {
    if (!more()) return std::nullopt;
  }
  const size_t body = buffer.find("\r\n\r\n") + 4;
  ScriptedRequest request = parse_head(buffer.substr(0, body - 2));
  const auto length = request.headers.find("content-length");
  const size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (buffer.size() < body + size) {
    if (!more()) return std::nullopt;
  }
  request.body = buffer.substr(body, size);
  buffer.erase(0, body + size);
  return request;
}

}  // namespace

int closed_port() {
  int port = 0;
  ::close(local_listener(port));
  return port;
}

ScriptedHttp::ScriptedHttp(Handler handler, const std::string& socket_path)
    : handler_(std::move(handler)) {
  int port = 0;
  listener_ = socket_path.empty() ? local_listener(port) : unix_listener(socket_path);
  url_ = socket_path.empty() ? "http://127.0.0.1:" + std::to_string(port) : "unix:" + socket_path;
  checked(::listen(listener_, 16), "listen");
  acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedHttp::~ScriptedHttp() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
  }
  ended_.notify_all();
  acceptor_.join();
  for (std::thread& server : servers_) server.join();
  for (const int connection : connections_) ::close(connection);
  ::close(listener_);
}

void ScriptedHttp::accept_all() {
  for (;;) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (connection < 0 || ending_) {
      if (connection >= 0) ::close(connection);
      return;
    }
    connections_.push_back(connection);
    const int number = static_cast<int>(connections_.size());
    servers_.emplace_back([this, connection, number] { serve(connection, number); });
  }
}

void ScriptedHttp::serve(int connection, int number) {
  const int at_once = 1;  // means nothing to a Unix socket
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  std::string buffer;
  while (auto request = receive(connection, buffer)) {
    request->connection = number;
    if (!answer(connection, *request)) break;
  }
  ::shutdown(connection, SHUT_RDWR);
}

// False: this connection is over.
bool ScriptedHttp::answer(int connection, const ScriptedRequest& request) {
  ScriptedAnswer answer;
  {
    std::unique_lock lock(mutex_);
    requests_.push_back(request);
    answer = handler_(request);
    if (answer.ending == ScriptedAnswer::Ending::kHang) {
      ended_.wait(lock, [this] { return ending_; });
      return false;
    }
  }
  if (answer.ending == ScriptedAnswer::Ending::kDrop) return false;
  const std::string& text = answer.shared_body != nullptr ? *answer.shared_body : answer.body;
  const std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " SCRIPTED\r\n" +
                           answer.more_headers + "Content-Length: " + std::to_string(text.size()) +
                           "\r\n\r\n";
  const bool whole = answer.ending == ScriptedAnswer::Ending::kWhole;
  const std::string_view body(text.data(), text.size() / (whole ? 1 : 2));
  return send_all(connection, head) && send_all(connection, body) && whole;
}

std::vector<ScriptedRequest> ScriptedHttp::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<ScriptedRequest> ScriptedHttp::requests(const std::string& method,
                                                    const std::string& path) const {
  std::vector<ScriptedRequest> found = requests();
  std::erase_if(found, [&](const ScriptedRequest& request) {
    return request.method != method || !request.path.starts_with(path);
  });
  return found;
}

}  // namespace tests
