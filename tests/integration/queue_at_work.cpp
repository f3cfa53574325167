#include "tests/integration/queue_at_work.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

namespace tests {
namespace {

namespace fs = std::filesystem;

constexpr int kConflict = 6;

constexpr const char* kSearch = R"(optics_group: {label: unit, pixel_size: 2.0, voltage: 300.0}
defocus_search_config: {defocus_min: 0.0, defocus_max: 200.0, defocus_step: 200.0}
orientation_search_config: {psi_step: 30.0, theta_step: 90.0, symmetry: C2}
preprocessing_filters: {}
computational_config: {gpu_ids: cpu}
)";

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// margay-<instance>-<item>-a<attempt>
int item_of(const std::string& token) {
  const size_t end = token.rfind("-a");
  const size_t begin = token.rfind('-', end - 1);
  return std::stoi(token.substr(begin + 1, end - begin - 1));
}

}  // namespace

QueueAtWork::QueueAtWork(const std::string& engine, int slots) { write_files(engine, slots); }

// Jobs that a failed test left are given up, so that they do not outlive their folder.
QueueAtWork::~QueueAtWork() {
  let_searches_go();
  if (daemon_ && daemon_->running()) {
    becomes_true([this] {
      return !fs::exists(scratch_ / "effects") || item_states().empty() ||
             effects("started") == effects("finished");
    });
    kill_daemon(SIGKILL);
  }
}

void QueueAtWork::write_files(const std::string& engine, int slots) const {
  const std::string fake = scratch_ / "engine";
  fs::copy_file(MARGAY_SOURCE_DIR "/tests/fakes/fake_engine.sh", fake);
  write(scratch_ / "volume.mrc", "a template volume");
  write(scratch_ / "search.yaml", kSearch);
  write(scratch_ / "site.yaml", "state: " + (scratch_ / "state") +
                                    "\nengine: " + (engine.empty() ? fake : engine) +
                                    "\ntick: 20ms\nlocal: {slots: " + std::to_string(slots) +
                                    ", threads: 1}\nintervals: {resolve: 100ms, retry: 100ms}\n");
}

bool QueueAtWork::becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2400; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

void QueueAtWork::start_daemon(const std::string& crash_point) {
  std::vector<std::string> environment;
  if (!crash_point.empty()) environment.push_back("MARGAY_CRASHPOINT=" + crash_point);
  daemon_ = std::make_unique<Program>(
      std::vector<std::string>{MARGAY_BIN_DIR "/margayd", "--config", scratch_ / "site.yaml"},
      scratch_.path(), environment);
  const bool answered =
      becomes_true([this] { return !daemon_->running() || margay({"status"}).exit_code == 0; });
  if (!answered) throw std::runtime_error("margayd neither answers nor ends");
}

Finished QueueAtWork::kill_daemon(int signal) {
  if (daemon_->running()) daemon_->signal(signal);
  return daemon_->wait();
}

bool QueueAtWork::daemon_ends() {
  return becomes_true([this] { return !daemon_->running(); });
}

Finished QueueAtWork::margay(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), MARGAY_BIN_DIR "/margay");
  return run_program(arguments, scratch_.path(),
                     {"MARGAY_SOCKET=" + (scratch_ / "state/margay.sock")});
}

void QueueAtWork::margay_until_done(const std::vector<std::string>& arguments) {
  Finished last;
  const bool done = becomes_true([&] {
    if (!daemon_->running()) start_daemon();
    last = margay(arguments);
    return last.exit_code == 0 || last.exit_code == kConflict;
  });
  if (!done) throw std::runtime_error("margay " + arguments.front() + ": " + last.error);
}

std::string QueueAtWork::make_micrograph(const std::string& name) const {
  std::string path = scratch_ / name;
  if (!fs::exists(path)) write(path, "a micrograph named " + name);
  return path;
}

void QueueAtWork::add_template() {
  margay_until_done({"template", "add", scratch_ / "volume.mrc", "--name", "volume", "--config",
                     scratch_ / "search.yaml"});
}

std::vector<std::string> QueueAtWork::enqueue_command(const std::string& micrograph) const {
  return {"enqueue",     micrograph, "--template",          "volume", "--defocus-u", "10200",
          "--defocus-v", "9800",     "--astigmatism-angle", "35"};
}

void QueueAtWork::let_searches_wait() const { write(scratch_ / "wait", ""); }

void QueueAtWork::let_searches_go() const { write(scratch_ / "go", ""); }

std::map<int, std::string> QueueAtWork::item_states() const {
  const Finished listed = margay({"list", "--json"});
  std::map<int, std::string> states;
  if (listed.exit_code != 0) return states;
  const auto document = nlohmann::json::parse(listed.output);
  for (const auto& item : document.at("items")) {
    states[item.at("id").get<int>()] = item.at("state").get<std::string>();
  }
  return states;
}

bool QueueAtWork::all_ended() const {
  const auto states = item_states();
  for (const auto& [item, state] : states) {
    if (state == "QUEUED" || state == "ACTIVE") return false;
  }
  return !states.empty();
}

std::map<int, int> QueueAtWork::effects(const std::string& what) const {
  std::map<int, int> counts;
  std::ifstream file(scratch_ / "effects");
  for (std::string word, token; file >> word >> token;) {
    if (word == what) ++counts[item_of(token)];
  }
  return counts;
}

}  // namespace tests
