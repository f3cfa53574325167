#include "engine/ranks/rank_group.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace engine {

using std::chrono::milliseconds;

std::string seconds_text(milliseconds time) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

std::optional<comm::Message> receive_within(comm::Connection& connection, milliseconds timeout) {
  comm::Timeout left(timeout);
  std::optional<comm::Message> message;
  while (!message && !left.expired()) message = connection.receive(left.next_check());
  return message;
}

RankSession::RankSession(RankGroupOptions options)
    : options_(std::move(options)), watchdog_(options_.timeout) {
  config_.timeout = options_.timeout;
  config_.is_cancelled = [this] {
    const std::lock_guard lock(mutex_);
    return is_superseded();
  };
}

std::optional<Order> RankSession::next(milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return failure_ || !orders_.empty(); });
  throw_failure();
  if (!orders_.empty()) {
    Order order = std::move(orders_.front());
    orders_.pop_front();
    return order;
  }
  if (until_next_round_ && until_next_round_->expired()) {
    throw Error(ExitCode::kDeviceFault,
                "the connections between the ranks broke, although none of them was lost: " +
                    communicator_lost_why_);
  }
  return std::nullopt;
}

// ------------------------------------------------------------------------------ Communicators ---

Communicator& RankSession::first_communicator(const std::string& kind, int device,
                                              std::vector<std::string> addresses) {
  kind_ = kind;
  device_ = device;
  config_.addresses = std::move(addresses);
  std::vector<int> all(static_cast<size_t>(options_.place.size));
  std::iota(all.begin(), all.end(), 0);
  return communicator(all, "start");
}

Communicator& RankSession::communicator_for(const Order& merge) {
  {
    const std::lock_guard lock(mutex_);
    until_next_round_.reset();
  }
  return communicator(merge.participants, "round " + std::to_string(merge.round));
}

void RankSession::communicator_lost(const std::string& why) {
  communicator_.reset();
  const std::lock_guard lock(mutex_);
  until_next_round_.emplace(2 * options_.timeout);
  communicator_lost_why_ = why;
}

Communicator& RankSession::communicator(const std::vector<int>& participants,
                                        const std::string& name) {
  if (communicator_ && participants == participants_) return *communicator_;
  communicator_.reset();
  participants_ = participants;
  const auto mine = std::find(participants.begin(), participants.end(), options_.place.rank);
  config_.rank = static_cast<int>(mine - participants.begin());
  config_.size = static_cast<int>(participants.size());
  config_.name = name;
  communicator_ = config_.size == 1 ? comm::alone()
                  : kind_ == "nccl" ? comm::make_nccl(config_, *this, device_)
                                    : comm::make_gloo(config_, *this);
  return *communicator_;
}

bool RankSession::is_superseded() const {
  return failure_ || std::any_of(orders_.begin(), orders_.end(), [](const Order& order) {
           return order.kind == OrderKind::kMerge;
         });
}

std::vector<char> RankSession::get(const std::string& name) {
  std::unique_lock lock(mutex_);
  comm::Timeout timeout(options_.timeout);
  while (values_.count(name) == 0) {
    if (ending_ || is_superseded()) {
      throw CommunicatorLost("'" + name + "' is not needed any more: the round has ended");
    }
    if (timeout.expired()) {
      throw CommunicatorLost("no rank has put '" + name + "' within " +
                             std::to_string(timeout.length().count()) + " ms");
    }
    changed_.wait_until(lock, timeout.next_check());
  }
  return values_[name];
}

void RankSession::keep(const std::string& name, std::vector<char> value) {
  values_[name] = std::move(value);
  changed_.notify_all();
}

// ---------------------------------------------------------------------------- Orders, failure ---

void RankSession::take(Order order) {
  if (order.kind == OrderKind::kYield) {
    should_yield_ = true;
    return;
  }
  // A round follows each request to yield.
  if (order.kind == OrderKind::kMerge) should_yield_ = false;
  orders_.push_back(std::move(order));
  changed_.notify_all();
}

bool RankSession::set_failure(const Error& failure) {
  if (failure_) return false;
  failure_ = failure;
  failed_at_ = Clock::now();
  changed_.notify_all();
  return true;
}

void RankSession::throw_failure() {
  if (!failure_) return;
  failure_taken_ = true;
  if (ended_by_leader_) throw EndedByLeader(failure_->code(), failure_->what());
  throw *failure_;
}

void RankSession::end_session() {
  ending_ = true;
  changed_.notify_all();
}

void RankSession::run_heartbeats() {
  const milliseconds pause = std::min(options_.timeout / 4, milliseconds(1000));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [&] { return ending_; })) {
    lock.unlock();
    const std::string hang = watchdog_.tick(pause);
    heartbeat(hang);
    lock.lock();
    exit_if_stuck(hang);
  }
}

// The thread that computes waits for its device or for the network and does not come back: nothing
// but the end of the process ends it. A checkpoint that is being written is worth waiting for.
void RankSession::exit_if_stuck(const std::string& hang) {
  if (!failure_ || failure_taken_ || Clock::now() - failed_at_ <= kGrace) return;
  if (hang.empty() && watchdog_.is_busy_with(Activity::kFiles)) return;
  if (options_.message && !ended_by_leader_) options_.message(failure_->what());
  std::_Exit(static_cast<int>(failure_->code()));
}

}  // namespace engine
