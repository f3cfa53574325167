#include "scheduler/api/http_server.h"

#include <httplib.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

namespace scheduler::api {
namespace {

constexpr size_t kLongestPath = 200;  // no route is longer
constexpr size_t kLargestBody = 16U << 20U;
constexpr int kLookForStop = 100;  // ms
constexpr std::chrono::milliseconds kShortagePause{10};

// Reads ahead like httplib's own stream, and keeps the files that come with the bytes.
class PeerStream : public httplib::Stream {
 public:
  PeerStream(int socket, std::chrono::seconds timeout) : socket_(socket), timeout_(timeout) {}

  bool is_readable() const override { return position_ < filled_ || wait_for(POLLIN); }
  bool is_writable() const override { return wait_for(POLLOUT); }

  ssize_t read(char* out, size_t size) override {
    if (position_ == filled_) {
      if (!wait_for(POLLIN)) return -1;
      const Received received = receive_with_files(socket_, buffer_.data(), buffer_.size(), files_);
      files_lost_ = files_lost_ || received.files_lost || files_.size() > kMostFilesPassed;
      if (received.bytes <= 0) return received.bytes;
      if (files_lost_) files_.clear();
      position_ = 0;
      filled_ = static_cast<size_t>(received.bytes);
    }
    const size_t count = std::min(size, filled_ - position_);
    std::memcpy(out, buffer_.data() + position_, count);
    position_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    if (!wait_for(POLLOUT)) return -1;
    return ::send(socket_, bytes, size, MSG_NOSIGNAL);
  }

  // The "port" that httplib copies into each request is our socket: the key to its connection. A
  // client has no way to set it.
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = socket_;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  socket_t socket() const override { return socket_; }

  std::vector<Descriptor> take_files() { return std::move(files_); }
  bool files_lost() const { return files_lost_; }

 private:
  bool wait_for(short event) const {
    pollfd entry{.fd = socket_, .events = event, .revents = 0};
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count();
    int ready = 0;
    do {
      ready = ::poll(&entry, 1, static_cast<int>(wait));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

  int socket_;
  std::chrono::seconds timeout_;
  std::array<char, 16384> buffer_{};
  size_t position_ = 0;
  size_t filled_ = 0;
  std::vector<Descriptor> files_;
  bool files_lost_ = false;
};

struct Connection {
  PeerStream* stream = nullptr;
  Peer peer;
};

Response refusal(int status, const std::string& kind, const std::string& message) {
  return {.status = status,
          .body = R"({"error":{"kind":")" + kind + R"(","message":")" + message + R"("}})"};
}

void put(const Response& from, httplib::Response& to) {
  to.status = from.status;
  to.set_content(from.body, from.content_type);
}

// Batches of passed files are open at the same time in every thread.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class HttpServer::Implementation : private httplib::Server {
 public:
  Implementation(const ServerOptions& options, api::Handler handler)
      : options_(options),
        handler_(std::move(handler)),
        listener_(listen_at(options.socket, options.group)),
        pool_(static_cast<size_t>(options.threads)) {
    raise_file_limit();
    add_routes();
    thread_ = std::thread([this] { accept_connections(); });
  }

  ~Implementation() override {
    ::unlink(options_.socket.c_str());
    stopping_ = true;
    thread_.join();
    {
      // Silent callers would keep us waiting; requests that are being answered continue.
      const std::lock_guard lock(mutex_);
      for (const auto& [socket, connection] : connections_) ::shutdown(socket, SHUT_RD);
    }
    pool_.shutdown();
  }

 private:
  void add_routes() {
    set_payload_max_length(kLargestBody);
    set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (request.path.size() <= kLongestPath) return HandlerResponse::Unhandled;
      put(refusal(404, "not_found", "no such address"), response);
      return HandlerResponse::Handled;
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      if (response.status == 404) put(refusal(404, "not_found", "no such address"), response);
      if (response.status == 413)
        put(refusal(413, "invalid", "the request is too large"), response);
      if (response.status == 400) put(refusal(400, "invalid", "not a valid request"), response);
    });
    const auto route = [this](const httplib::Request& request, httplib::Response& response) {
      serve(request, response);
    };
    Get(R"(/[A-Za-z0-9/_.-]*)", route);
    Post(R"(/[A-Za-z0-9/_.-]*)", route);
  }

  void serve(const httplib::Request& from, httplib::Response& to) {
    Request request{.method = from.method, .path = from.path, .body = from.body};
    for (const auto& [key, value] : from.params) request.query[key] = value;
    {
      const std::lock_guard lock(mutex_);
      const Connection& connection = connections_.at(from.remote_port);
      request.peer = connection.peer;
      request.files = connection.stream->take_files();
      request.files_lost = connection.stream->files_lost();
    }
    put(handler_(request), to);
  }

  // Replaces the base class's loop, which ends for good at a transient shortage of descriptors and
  // lets child processes inherit the connections.
  void accept_connections() {
    while (!stopping_) {
      pollfd entry{.fd = listener_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&entry, 1, kLookForStop) <= 0) continue;
      const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (socket >= 0) {
        pool_.enqueue([this, socket] { process_and_close_socket(socket); });
      } else {
        std::this_thread::sleep_for(kShortagePause);
      }
    }
  }

  // One request for each connection, so that passed files cannot belong to another request.
  bool process_and_close_socket(socket_t socket) override {
    const Descriptor owner(socket);
    const std::optional<Peer> peer = peer_of(socket);
    if (!peer || stopping_) return false;
    PeerStream stream(socket, options_.read_timeout);
    remember(socket, {.stream = &stream, .peer = *peer});
    bool closed = false;
    const bool served = process_request(stream, true, closed, nullptr);
    forget(socket);
    ::shutdown(socket, SHUT_RDWR);
    return served;
  }

  void remember(int socket, const Connection& connection) {
    const std::lock_guard lock(mutex_);
    connections_[socket] = connection;
  }

  void forget(int socket) {
    const std::lock_guard lock(mutex_);
    connections_.erase(socket);
  }

  ServerOptions options_;
  api::Handler handler_;
  std::mutex mutex_;
  std::map<int, Connection> connections_;
  std::atomic<bool> stopping_ = false;
  Descriptor listener_;
  httplib::ThreadPool pool_;
  std::thread thread_;
};

HttpServer::HttpServer(const ServerOptions& options, api::Handler handler)
    : implementation_(std::make_unique<Implementation>(options, std::move(handler))) {}

HttpServer::~HttpServer() = default;

}  // namespace scheduler::api
