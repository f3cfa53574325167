#include "tests/fakes/fake_http.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <thread>

namespace tests {
namespace {

constexpr int kThreads = 32;
constexpr int kLookForStop = 50;          // ms
constexpr int kClientTimeoutMs = 30'000;  // with a client in the middle of a request
constexpr size_t kLargestBody = 64U << 20U;

// Hands out its socket as the "port" that httplib copies into each request.
class SocketStream : public httplib::Stream {
 public:
  explicit SocketStream(int socket) : socket_(socket) {}

  bool is_readable() const override { return waits_for(POLLIN, kClientTimeoutMs); }
  bool is_writable() const override { return waits_for(POLLOUT, kClientTimeoutMs); }
  ssize_t read(char* out, size_t size) override {
    if (!is_readable()) return -1;
    return ::recv(socket_, out, size, 0);
  }
  ssize_t write(const char* bytes, size_t size) override {
    if (!is_writable()) return -1;
    return ::send(socket_, bytes, size, MSG_NOSIGNAL);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = socket_;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  socket_t socket() const override { return socket_; }

  bool waits_for(short event, int longest_ms) const {
    pollfd entry{.fd = socket_, .events = event, .revents = 0};
    return ::poll(&entry, 1, longest_ms) > 0;
  }

 private:
  int socket_;
};

FakeHttpRequest to_request(const httplib::Request& from) {
  FakeHttpRequest request{.method = from.method,
                          .path = from.path,
                          .target = from.target,
                          .query = {},
                          .user = from.get_header_value("X-SLURM-USER-NAME"),
                          .token = from.get_header_value("X-SLURM-USER-TOKEN"),
                          .content_type = from.get_header_value("Content-Type"),
                          .body = from.body};
  for (const auto& [key, value] : from.params) request.query.emplace(key, value);
  return request;
}

}  // namespace

class FakeHttp::Server : private httplib::Server {
 public:
  Server(int port, const std::string& unix_path, FakeHttp::Handler handler)
      : handler_(std::move(handler)), unix_path_(unix_path) {
    new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    set_payload_max_length(kLargestBody);
    set_tcp_nodelay(true);
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      reply(request, response);
    };
    Get(".*", answer);
    Post(".*", answer);
    Put(".*", answer);
    Delete(".*", answer);
    listen_there(port);
    thread_ = std::thread([this] { listen_after_bind(); });
  }

  ~Server() override {
    stopping_ = true;
    while (!is_running()) std::this_thread::yield();
    stop();
    thread_.join();
    if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
  }

  int port() const { return port_; }

 private:
  void listen_there(int port) {
    bool bound = true;
    if (!unix_path_.empty()) {
      ::unlink(unix_path_.c_str());
      set_address_family(AF_UNIX);
      bound = bind_to_port(unix_path_, 80);
    } else if (port == 0) {
      port_ = bind_to_any_port("127.0.0.1");
      bound = port_ > 0;
    } else {
      bound = bind_to_port("127.0.0.1", port);
      port_ = port;
    }
    if (!bound) throw std::runtime_error("the fake cannot listen at its address");
  }

  // slurmrestd closes the connection after every error.
  void reply(const httplib::Request& request, httplib::Response& response) {
    const FakeHttpReply reply = handler_(to_request(request));
    if (reply.hang_up || stopping_) {
      ::shutdown(request.remote_port, SHUT_RDWR);
      return;
    }
    response.status = reply.status;
    if (!reply.body.empty()) response.set_content(reply.body, reply.content_type);
    if (reply.status >= 400) response.set_header("Connection", "close");
  }

  bool process_and_close_socket(socket_t socket) override {
    SocketStream stream(socket);
    bool closed = false;
    while (!closed && !stopping_) {
      if (!stream.waits_for(POLLIN, kLookForStop)) continue;
      char next = 0;
      if (::recv(socket, &next, 1, MSG_PEEK) <= 0) break;
      if (!process_request(stream, false, closed, nullptr)) break;
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
  }

  FakeHttp::Handler handler_;
  std::string unix_path_;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

FakeHttp::FakeHttp(int port, const std::string& unix_path, Handler handler)
    : server_(std::make_unique<Server>(port, unix_path, std::move(handler))) {}
FakeHttp::~FakeHttp() = default;
int FakeHttp::port() const { return server_->port(); }

}  // namespace tests
