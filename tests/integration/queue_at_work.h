// A real margayd on a scratch folder, driven by the real margay, with an engine of the test's own
// that records in one file, `effects`, what was really run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/program.h"

namespace tests {

// Whether margayd takes the memory that it takes at a site: the sanitizers multiply it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kTrueMemory = false;
#else
constexpr bool kTrueMemory = true;
#endif
constexpr int64_t kMostMemoryKb = 200'000;

struct QueueOptions {
  std::string engine{};  // empty: the fake one
  // Lines of the site's configuration besides `state` and `engine`. Empty: this machine alone.
  std::string site{};
  std::string user{};                      // who runs margayd and margay; empty: who runs the test
  std::vector<std::string> environment{};  // of margayd
};

class QueueAtWork {
 public:
  // On this machine alone. With `engine` empty the fake one is used.
  explicit QueueAtWork(const std::string& engine = "", int slots = 2);
  explicit QueueAtWork(const QueueOptions& options);
  ~QueueAtWork();

  const ScratchFolder& folder() const { return scratch_; }
  // Runs until it answers, or has ended by itself. `crash_point` as in MARGAY_CRASHPOINT.
  void start_daemon(const std::string& crash_point = "");
  Finished kill_daemon(int signal);
  void signal_daemon(int signal) const { daemon_->signal(signal); }
  // What the running daemon has logged.
  std::string daemon_log() const { return daemon_->error_so_far(); }
  bool daemon_runs() const { return daemon_ && daemon_->running(); }
  // Ended by itself within a generous time.
  bool daemon_ends();
  Finished wait_for_daemon() { return daemon_->wait(); }
  // Of the running daemon, since its start.
  int64_t most_memory_kb() const;

  Finished margay(const std::vector<std::string>& arguments) const;
  // Again and again until it is done or turns out to be done already: what a user does whose daemon
  // went away. Restarts the daemon, without a crash point, when it is gone.
  void margay_until_done(const std::vector<std::string>& arguments);
  // Made once.
  std::string make_micrograph(const std::string& name) const;
  void add_template();
  std::vector<std::string> enqueue_command(const std::string& micrograph) const;
  // The lines of the site's configuration anew, for the daemon's next start or reload.
  void configure(const std::string& site) const;

  // The fake engine's.
  void let_searches_wait() const;
  void let_searches_go() const;
  // Shell lines that the fake engine runs first, for one item or for every other.
  void let_search_do(const std::string& what, int item = 0) const;

  // The state of each item, by number.
  std::map<int, std::string> item_states() const;
  bool all_ended() const;
  // How often the fake engine recorded `what` ("started", "finished"), by item.
  std::map<int, int> effects(const std::string& what) const;

  static bool becomes_true(const std::function<bool()>& condition);

 private:
  void write_files() const;
  void give_to_user() const;
  std::string program(const std::string& name) const;

  QueueOptions options_;
  ScratchFolder scratch_;
  std::unique_ptr<Program> daemon_;
};

}  // namespace tests
