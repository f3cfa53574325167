#include "engine/ranks/worker.h"

#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>
#include <variant>

namespace engine {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{5000};

}  // namespace

Member::Member(CrewOptions options)
    : options_(std::move(options)),
      pulse_(options_.timeout),
      link_(comm::join(options_.place.meeting, options_.place.nonce, options_.place.rank,
                       comm::Patience(options_.timeout))) {
  listener_ = std::thread([this] { listen(); });
  try {
    beater_ = std::thread([this] { beat(); });
  } catch (const std::system_error&) {
    link_->shut();
    listener_.join();
    throw;
  }
}

Member::~Member() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    end_taken_ = true;
  }
  changed_.notify_all();
  board_.close();
  link_->shut();
  listener_.join();
  beater_.join();
}

Communicator& Member::start(int device, const std::string& identity) {
  send(Here{identity});
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
  groups_ = std::make_unique<Groups>(Groups::Place{.kind = kind,
                                                   .rank = options_.place.rank,
                                                   .addresses = {link_->local_address()},
                                                   .timeout = options_.timeout,
                                                   .of_no_use = [this] { return superseded(); },
                                                   .device = device},
                                     *this);
  std::vector<int> all(static_cast<size_t>(options_.place.size));
  std::iota(all.begin(), all.end(), 0);
  return groups_->of(all, "start");
}

void Member::ready(const Ready& ready) { send(ready); }

void Member::ask(uint32_t done, double best_z) { send(Ask{done, best_z}); }

void Member::want_stop() { send(StopWish{}); }

void Member::fail(const Error& error) {
  send(Failed{static_cast<int>(error.code()), error.what()});
}

std::optional<Order> Member::next(milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return end_ || !orders_.empty(); });
  if (!orders_.empty()) {
    Order order = std::move(orders_.front());
    orders_.pop_front();
    return order;
  }
  if (end_) {
    end_taken_ = true;
    std::rethrow_exception(end_);
  }
  if (group_lost_ && group_lost_->ended()) {
    throw Error(ExitCode::kDeviceFault, group_lost_why_);
  }
  return std::nullopt;
}

Communicator& Member::group(const Order& merge) {
  {
    const std::lock_guard lock(mutex_);
    group_lost_.reset();
  }
  return groups_->of(merge.members, "round " + std::to_string(merge.round));
}

void Member::group_is_lost(const std::string& why) {
  groups_->drop();
  const std::lock_guard lock(mutex_);
  group_lost_.emplace(2 * options_.timeout);
  group_lost_why_ = why;
}

void Member::send(const RankMessage& message) {
  try {
    link_->send(encode(message), options_.timeout);
  } catch (const comm::LinkLost&) {
    // The listener finds the same, after rank 0's last words.
  }
}

void Member::put(const std::string& name, const std::vector<char>& value) {
  board_.put(name, value);
  send(Notice{name, value});
}

std::vector<char> Member::get(const std::string& name) {
  return board_.get(name, comm::Patience(options_.timeout, [this] { return superseded(); }));
}

void Member::listen() {
  std::string why;
  try {
    while (auto message = hear_within(*link_, options_.timeout)) {
      hear(decode(*message));
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

void Member::hear(RankMessage message) {
  if (auto* failed = std::get_if<Failed>(&message)) {
    const auto code = static_cast<ExitCode>(failed->code);
    end_with(code, std::make_exception_ptr(Dismissed(code, std::move(failed->what))));
    return;
  }
  if (auto* notice = std::get_if<Notice>(&message)) {
    board_.put(notice->name, std::move(notice->value));
    return;
  }
  const std::lock_guard lock(mutex_);
  if (auto* start = std::get_if<Start>(&message)) {
    communicator_ = std::move(start->communicator);
  } else if (auto* order = std::get_if<Order>(&message)) {
    if (order->kind == OrderKind::kHurry) {
      hurried_ = true;
      return;
    }
    // A round follows where somebody is to hurry.
    if (order->kind == OrderKind::kMerge) hurried_ = false;
    over_ = over_ || order->kind == OrderKind::kEnd;
    orders_.push_back(std::move(*order));
  }
  changed_.notify_all();
}

void Member::end_with(ExitCode code, std::exception_ptr end) {
  const std::lock_guard lock(mutex_);
  if (end_ || over_) return;
  end_code_ = code;
  end_ = std::move(end);
  ended_at_ = Clock::now();
  board_.close();
  changed_.notify_all();
}

bool Member::superseded() {
  const std::lock_guard lock(mutex_);
  return end_ || has_merge(orders_);
}

void Member::beat() {
  const milliseconds pause = std::min(options_.timeout / 4, kGrace / 5);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, pause, [&] { return ending_; });
    lock.unlock();
    const std::string hang = pulse_.tick(pause);
    if (hang.empty()) {
      send(Beat{});
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
