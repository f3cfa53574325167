#include "scheduler/http/http_server.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "scheduler/http/closer.h"
#include "scheduler/http/connection.h"
#include "scheduler/http/listener.h"
#include "scheduler/http/worker_threads.h"

namespace scheduler::api {
namespace {

using Clock = std::chrono::steady_clock;
using Phase = Connection::Phase;
using Progress = Connection::Progress;

constexpr size_t kLongestPath = 200;  // no route is longer
constexpr int kAcceptedAtOnce = 64;
constexpr std::chrono::milliseconds kShortagePause{10};
constexpr std::chrono::milliseconds kDrainTime{1'000};
constexpr std::chrono::milliseconds kLastAnswers{1'000};

short events_of(Phase phase) {
  switch (phase) {
    case Phase::kReading:
    case Phase::kDraining:
      return POLLIN;
    case Phase::kWriting:
      return POLLOUT;
    case Phase::kQueued:
    case Phase::kRunning:
      return 0;
  }
  return 0;
}

int wait_of(Time until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

}  // namespace

class HttpServer::Loop {
 public:
  Loop(const ServerOptions& options, Handler handler)
      : options_(options),
        handler_(std::move(handler)),
        listener_(options.socket, options.group),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        next_check_(Clock::now() + options.check_interval),
        quick_(options.threads.quick),
        slow_(options.threads.slow) {
    if (!wake_) base::throw_errno("eventfd");
    allow_many_files();
    thread_ = std::thread([this] { run(); });
  }

  ~Loop() {
    stopping_ = true;
    wake();
    thread_.join();
  }

 private:
  struct Client {
    Connection connection;
    Time deadline = Time::max();
    Time turn{};
    bool takes_long = false;
  };
  struct Answer {
    uint64_t id = 0;
    std::string text;
  };
  using Clients = std::map<uint64_t, Client>;

  void run() {
    while (!is_finished()) {
      wait_for_events();
      if (!stopping_ && Clock::now() >= next_check_) look_around();
      take_answers();
      expire();
      if (!stopping_) start_requests();
    }
  }

  // Stopping, those are forgotten whose request nobody has begun to answer.
  bool is_finished() {
    if (!stopping_) return false;
    if (last_answers_ == Time::max()) {
      last_answers_ = Clock::now() + kLastAnswers;
      listener_.remove_file();
    }
    for (auto entry = clients_.begin(); entry != clients_.end();) {
      const auto current = entry++;
      const Phase phase = current->second.connection.phase();
      const bool is_answered =
          phase == Phase::kRunning || (phase == Phase::kWriting && Clock::now() < last_answers_);
      if (!is_answered) drop(current);
    }
    return clients_.empty();
  }

  void wait_for_events() {
    std::vector<pollfd> entries = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    const bool accepts = !stopping_ && Clock::now() >= accept_again_;
    entries.push_back({.fd = accepts ? listener_.socket() : -1, .events = POLLIN, .revents = 0});
    std::vector<uint64_t> ids;
    for (const auto& [id, client] : clients_) {
      const Phase phase = client.connection.phase();
      // A running request is finished even when its client has gone.
      const int socket = phase == Phase::kRunning ? -1 : client.connection.socket();
      entries.push_back({.fd = socket, .events = events_of(phase), .revents = 0});
      ids.push_back(id);
    }
    if (::poll(entries.data(), entries.size(), wait_of(next_event())) <= 0) return;
    if (entries[0].revents != 0) {
      uint64_t count = 0;
      while (::read(wake_.get(), &count, sizeof(count)) > 0) {
      }
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      if (entries[i + 2].revents != 0) serve(clients_.find(ids[i]));
    }
    if (entries[1].revents != 0) accept_clients();
  }

  Time next_event() const {
    const Time now = Clock::now();
    Time next = stopping_ ? last_answers_ : next_check_;
    if (next <= now && stopping_) next = Time::max();
    if (accept_again_ > now) next = std::min(next, accept_again_);
    for (const auto& [id, client] : clients_) {
      next = std::min(next, client.deadline);
      const bool waits = client.connection.phase() == Phase::kQueued && client.turn > now;
      if (waits) next = std::min(next, client.turn);
    }
    return next;
  }

  // Returns false when nobody else waits.
  bool accept_clients() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      Descriptor socket(
          ::accept4(listener_.socket(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) {
        const bool shortage = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
        if (shortage) accept_again_ = Clock::now() + kShortagePause;
        return false;
      }
      const std::optional<Peer> peer = options_.peer(socket.get());
      if (!peer) continue;
      const bool privileged = peer->uid == 0 || peer->uid == ::geteuid();
      const auto refused = no_room_for_connection(options_.limits, held_by(peer->uid),
                                                  static_cast<int>(clients_.size()), privileged);
      if (refused) {
        closer_.close(
            peer->uid,
            turn_away(std::move(socket), answer_text(refusal(refused->status, refused->sentence))));
        continue;
      }
      clients_.emplace(++last_id_, Client{.connection = Connection(std::move(socket), *peer),
                                          .deadline = Clock::now() + options_.read_timeout});
    }
    return true;
  }

  std::map<uid_t, Held> held() const {
    std::map<uid_t, Held> users;
    for (const auto& [id, client] : clients_) {
      const Connection& connection = client.connection;
      Held& user = users[connection.peer().uid];
      ++user.connections;
      user.body_bytes += connection.body_bytes();
      user.files += connection.files();
      user.answer_bytes += connection.answer_bytes();
      if (connection.phase() == Phase::kRunning) {
        ++(client.takes_long ? user.running_long : user.running);
      }
    }
    return users;
  }

  Held held_by(uid_t uid) const {
    const auto users = held();
    const auto found = users.find(uid);
    Held user = found == users.end() ? Held() : found->second;
    user.connections += closer_.stuck(uid, Clock::now());
    return user;
  }

  // Does what the client is ready for.
  void serve(Clients::iterator entry) {
    Client& client = entry->second;
    switch (client.connection.phase()) {
      case Phase::kReading:
        return read(entry);
      case Phase::kWriting:
        return write(entry);
      case Phase::kDraining:
        if (client.connection.drain() == Progress::kGone) return drop(entry);
        return closer_.close(client.connection.peer().uid, client.connection.take_files());
      case Phase::kQueued:  // it has hung up
        return drop(entry);
      case Phase::kRunning:
        return;
    }
  }

  // Ends the connection.
  void drop(Clients::iterator entry) {
    Connection& connection = entry->second.connection;
    closer_.close(connection.peer().uid, connection.take_descriptors());
    clients_.erase(entry);
  }

  void read(Clients::iterator entry) {
    Client& client = entry->second;
    try {
      const Progress progress = client.connection.read(options_.limits.body);
      if (progress == Progress::kGone) return drop(entry);
      if (progress != Progress::kWaits || client.connection.files() > 0) check_room(client);
      if (progress == Progress::kDone) queue(client);
    } catch (const RequestRefused& refused) {
      answer(entry, answer_text(refusal(refused.status(), refused.what())));
    }
  }

  void check_room(const Client& client) const {
    const Held user = held_by(client.connection.peer().uid);
    const auto refused = no_room_for_request(options_.limits, user);
    if (refused) throw RequestRefused(refused->status, refused->sentence);
  }

  void queue(Client& client) {
    const Connection& connection = client.connection;
    if (connection.head().path.size() > kLongestPath) throw RequestRefused(404, "no such address");
    const int rate = options_.limits.requests_per_second;
    const auto turn = rate_.turn(connection.peer().uid, Clock::now(), rate);
    if (!turn) {
      throw RequestRefused(429, "you send more than " + std::to_string(rate) +
                                    " requests each second, as many as "
                                    "limits.requests_per_second allows; send fewer");
    }
    client.turn = *turn;
    client.deadline = Time::max();
    client.takes_long = options_.takes_long && options_.takes_long(connection.head());
  }

  void start_requests() {
    for (;;) {
      std::vector<Waiting> waiting;
      for (const auto& [id, client] : clients_) {
        if (client.connection.phase() != Phase::kQueued) continue;
        waiting.push_back({.id = id,
                           .uid = client.connection.peer().uid,
                           .turn = client.turn,
                           .takes_long = client.takes_long});
      }
      if (waiting.empty()) return;
      const auto next = next_to_run(waiting, held(), options_.threads, Clock::now());
      if (!next) return;
      start(*next);
    }
  }

  void start(uint64_t id) {
    Client& client = clients_.at(id);
    auto request = std::make_shared<Request>(client.connection.take_request());
    (client.takes_long ? slow_ : quick_).give([this, id, request]() mutable {
      Answer answer{.id = id, .text = answer_text(handler_(*request))};
      closer_.close(request->peer.uid, std::move(request->files));
      request.reset();
      const std::scoped_lock lock(mutex_);
      answers_.push_back(std::move(answer));
      wake();
    });
  }

  void take_answers() {
    std::vector<Answer> answers;
    {
      const std::scoped_lock lock(mutex_);
      answers.swap(answers_);
    }
    for (Answer& ready : answers) answer(clients_.find(ready.id), std::move(ready.text));
  }

  void answer(Clients::iterator entry, std::string text) {
    has_answered_ = true;
    Connection& connection = entry->second.connection;
    closer_.close(connection.peer().uid, connection.take_files());
    connection.start_answer(std::move(text));
    entry->second.deadline = Clock::now() + options_.write_timeout;
    write(entry);
  }

  void write(Clients::iterator entry) {
    Connection& connection = entry->second.connection;
    const Progress progress = connection.write();
    if (progress != Progress::kWaits) {
      drop(entry);
    } else if (connection.phase() == Phase::kDraining) {
      entry->second.deadline = Clock::now() + kDrainTime;
    }
  }

  void expire() {
    const Time now = Clock::now();
    for (auto entry = clients_.begin(); entry != clients_.end();) {
      const auto current = entry++;
      if (current->second.deadline > now) continue;
      if (current->second.connection.phase() == Phase::kReading) {
        answer(current, answer_text(refusal(408, "the request did not arrive whole in time")));
      } else {
        drop(current);
      }
    }
  }

  void look_around() {
    next_check_ = Clock::now() + options_.check_interval;
    rate_.forget_quiet(Clock::now());
    look_after_socket();
    const bool is_quiet = std::none_of(clients_.begin(), clients_.end(), [](const auto& entry) {
      return entry.second.connection.phase() == Phase::kRunning;
    });
    if (!has_answered_ || !is_quiet || !options_.when_quiet) return;
    has_answered_ = false;
    options_.when_quiet();
  }

  void look_after_socket() {
    if (listener_.is_in_place()) {
      trouble_.clear();
      return;
    }
    while (accept_clients()) continue;  // who has connected to the old one already
    try {
      listener_.restore();
      spdlog::warn("socket {}: its file was removed or replaced; made again", listener_.path());
    } catch (const std::runtime_error& error) {
      if (trouble_ != error.what()) spdlog::error("{}; trying again", error.what());
      trouble_ = error.what();
    }
  }

  void wake() const {
    const uint64_t one = 1;
    // A full counter wakes as well.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

  ServerOptions options_;
  Handler handler_;
  Closer closer_;
  Listener listener_;
  Descriptor wake_;
  // Only the loop's thread uses these.
  Clients clients_;
  RateLimit rate_;
  uint64_t last_id_ = 0;
  Time accept_again_{};
  Time next_check_;
  Time last_answers_ = Time::max();
  bool has_answered_ = false;  // since when_quiet
  std::string trouble_;        // why the socket cannot be made again

  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<Answer> answers_;
  WorkerThreads quick_;
  WorkerThreads slow_;
  std::thread thread_;
};

HttpServer::HttpServer(const ServerOptions& options, Handler handler)
    : loop_(std::make_unique<Loop>(options, std::move(handler))) {}

HttpServer::~HttpServer() = default;

}  // namespace scheduler::api
