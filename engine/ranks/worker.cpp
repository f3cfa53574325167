#include "engine/ranks/worker.h"

#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>
#include <variant>

#include "engine/comm/join.h"

namespace engine {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{5000};

}  // namespace

Worker::Worker(RankGroupOptions options)
    : options_(std::move(options)),
      watchdog_(options_.timeout),
      connection_(comm::join(options_.place.rendezvous, options_.place.nonce, options_.place.rank,
                             comm::Timeout(options_.timeout))) {
  receiver_ = std::thread([this] { receive_messages(); });
  try {
    heartbeat_thread_ = std::thread([this] { send_heartbeats(); });
  } catch (const std::system_error&) {
    connection_->shut_down();
    receiver_.join();
    throw;
  }
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    end_taken_ = true;
  }
  changed_.notify_all();
  local_store_.close();
  connection_->shut_down();
  receiver_.join();
  heartbeat_thread_.join();
}

Communicator& Worker::start(int device, const std::string& identity) {
  send(DeviceClaim{identity});
  std::string kind;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return end_ || communicator_; });
    if (end_) {
      end_taken_ = true;
      std::rethrow_exception(end_);
    }
    kind = *communicator_;
  }
  group_communicator_ = std::make_unique<GroupCommunicator>(
      GroupCommunicator::Place{.kind = kind,
                               .rank = options_.place.rank,
                               .addresses = {connection_->local_address()},
                               .timeout = options_.timeout,
                               .is_cancelled = [this] { return superseded(); },
                               .device = device},
      *this);
  std::vector<int> all(static_cast<size_t>(options_.place.size));
  std::iota(all.begin(), all.end(), 0);
  return group_communicator_->of(all, "start");
}

void Worker::ready(const Ready& ready) { send(ready); }

void Worker::ask(uint32_t done, double best_z) { send(WorkRequest{done, best_z}); }

void Worker::request_stop() { send(StopRequest{}); }

void Worker::fail(const Error& error) {
  send(Failed{static_cast<int>(error.code()), error.what()});
}

std::optional<Order> Worker::next(milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return end_ || !orders_.empty(); });
  if (!orders_.empty()) {
    Order order = std::move(orders_.front());
    orders_.pop_front();
    return order;
  }
  if (end_) {
    end_taken_ = true;
    std::rethrow_exception(end_);
  }
  if (group_lost_ && group_lost_->expired()) {
    throw Error(ExitCode::kDeviceFault, group_lost_why_);
  }
  return std::nullopt;
}

Communicator& Worker::communicator_for(const Order& merge) {
  {
    const std::lock_guard lock(mutex_);
    group_lost_.reset();
  }
  return group_communicator_->of(merge.participants, "round " + std::to_string(merge.round));
}

void Worker::communicator_lost(const std::string& why) {
  group_communicator_->drop();
  const std::lock_guard lock(mutex_);
  group_lost_.emplace(2 * options_.timeout);
  group_lost_why_ = why;
}

void Worker::send(const RankMessage& message) {
  try {
    connection_->send(encode(message), options_.timeout);
  } catch (const comm::ConnectionLost&) {
    // The listener finds the same, after rank 0's last words.
  }
}

void Worker::put(const std::string& name, const std::vector<char>& value) {
  local_store_.put(name, value);
  send(StoreEntry{name, value});
}

std::vector<char> Worker::get(const std::string& name) {
  return local_store_.get(name, comm::Timeout(options_.timeout, [this] { return superseded(); }));
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
  end_with(ExitCode::kDeviceFault,
           std::make_exception_ptr(
               Error(ExitCode::kDeviceFault, "rank " + std::to_string(options_.place.rank) +
                                                 " ends because rank 0 was lost: " + why)));
}

void Worker::handle(RankMessage message) {
  if (auto* failed = std::get_if<Failed>(&message)) {
    const auto code = static_cast<ExitCode>(failed->code);
    end_with(code, std::make_exception_ptr(EndedByLeader(code, std::move(failed->what))));
    return;
  }
  if (auto* entry = std::get_if<StoreEntry>(&message)) {
    local_store_.put(entry->name, std::move(entry->value));
    return;
  }
  const std::lock_guard lock(mutex_);
  if (auto* start = std::get_if<Start>(&message)) {
    communicator_ = std::move(start->communicator);
  } else if (auto* order = std::get_if<Order>(&message)) {
    if (order->kind == OrderKind::kYield) {
      should_yield_ = true;
      return;
    }
    // A round follows where somebody is to hurry.
    if (order->kind == OrderKind::kMerge) should_yield_ = false;
    over_ = over_ || order->kind == OrderKind::kEnd;
    orders_.push_back(std::move(*order));
  }
  changed_.notify_all();
}

void Worker::end_with(ExitCode code, std::exception_ptr end) {
  const std::lock_guard lock(mutex_);
  if (end_ || over_) return;
  end_code_ = code;
  end_ = std::move(end);
  ended_at_ = Clock::now();
  local_store_.close();
  changed_.notify_all();
}

bool Worker::superseded() {
  const std::lock_guard lock(mutex_);
  return end_ || has_merge(orders_);
}

void Worker::send_heartbeats() {
  const milliseconds pause = std::min(options_.timeout / 4, kGrace / 5);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, pause, [&] { return ending_; });
    lock.unlock();
    const std::string hang = watchdog_.tick(pause);
    if (hang.empty()) {
      send(Heartbeat{});
    } else {
      send(Failed{static_cast<int>(ExitCode::kDeviceFault), hang});
    }
    lock.lock();
    if (end_ && !end_taken_ && Clock::now() - ended_at_ > kGrace) {
      // The thread that should take it does not come back from its device or from the network.
      std::_Exit(static_cast<int>(end_code_));
    }
  }
}

}  // namespace engine
