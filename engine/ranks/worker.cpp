#include "engine/ranks/worker.h"

#include <system_error>
#include <utility>
#include <variant>

#include "engine/comm/join.h"

namespace engine {

Worker::Worker(RankGroupOptions options)
    : RankSession(std::move(options)),
      connection_(comm::join(options_.place.rendezvous, options_.place.nonce, options_.place.rank,
                             comm::Timeout(options_.timeout))) {
  receiver_ = std::thread([this] { receive_messages(); });
  try {
    heartbeat_thread_ = std::thread([this] { run_heartbeats(); });
  } catch (const std::system_error&) {
    connection_->shut_down();
    receiver_.join();
    throw;
  }
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    failure_taken_ = true;
    end_session();
  }
  connection_->shut_down();
  receiver_.join();
  heartbeat_thread_.join();
}

Communicator& Worker::start(int device, const std::string& identity) {
  send(DeviceClaim{identity});
  std::string kind;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || start_; });
    throw_failure();
    kind = *start_;
  }
  return first_communicator(kind, device, {connection_->local_address()});
}

void Worker::fail(const Error& error) {
  send(Failed{static_cast<int>(error.code()), error.what()});
}

void Worker::put(const std::string& name, const std::vector<char>& value) {
  {
    const std::lock_guard lock(mutex_);
    keep(name, value);
  }
  send(StoreEntry{name, value});
}

void Worker::send(const RankMessage& message) {
  try {
    connection_->send(encode(message), options_.timeout);
  } catch (const comm::ConnectionLost&) {
    // The thread that receives finds the same, after rank 0's last message.
  }
}

void Worker::heartbeat(const std::string& hang) {
  if (hang.empty()) {
    send(Heartbeat{});
  } else {
    fail(Error(ExitCode::kDeviceFault, hang));
  }
}

void Worker::receive_messages() {
  std::string why;
  try {
    while (auto message = receive_within(*connection_, options_.timeout)) {
      handle(decode(*message));
    }
    why = "it has been silent for " + seconds_text(options_.timeout);
  } catch (const std::exception& e) {
    why = e.what();
  }
  end_with(Error(ExitCode::kDeviceFault, "rank " + std::to_string(options_.place.rank) +
                                             " ends because rank 0 was lost: " + why),
           false);
}

void Worker::handle(RankMessage message) {
  if (const auto* failed = std::get_if<Failed>(&message)) {
    end_with(Error(static_cast<ExitCode>(failed->code), failed->what), true);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (auto* entry = std::get_if<StoreEntry>(&message)) {
    keep(entry->name, std::move(entry->value));
  } else if (auto* start = std::get_if<Start>(&message)) {
    start_ = std::move(start->communicator);
    changed_.notify_all();
  } else if (auto* order = std::get_if<Order>(&message)) {
    over_ = over_ || order->kind == OrderKind::kEnd;
    take(std::move(*order));
  }
}

void Worker::end_with(const Error& failure, bool by_leader) {
  const std::lock_guard lock(mutex_);
  if (!over_ && set_failure(failure)) ended_by_leader_ = by_leader;
}

}  // namespace engine
