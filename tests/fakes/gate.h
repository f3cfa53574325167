// Where threads wait until a test lets them go: a file system that does not answer.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

namespace tests {

class Gate {
 public:
  void close() { set(false); }
  void open() { set(true); }
  // Returns when the gate is open.
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  void set(bool open) {
    const std::scoped_lock lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
};

// Threads that wait may outlive the test, so that the gate is theirs, too; it opens at its end.
class SharedGate {
 public:
  SharedGate() = default;
  ~SharedGate() { gate_->open(); }
  SharedGate(const SharedGate&) = delete;
  SharedGate& operator=(const SharedGate&) = delete;
  Gate* operator->() const { return gate_.get(); }
  const std::shared_ptr<Gate>& share() const { return gate_; }

 private:
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

}  // namespace tests
