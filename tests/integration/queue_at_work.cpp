#include "tests/integration/queue_at_work.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/json.h"
#include "tests/small_mrc.h"
#include "tests/wait_until.h"

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

QueueAtWork::QueueAtWork(const std::string& engine, int slots)
    : QueueAtWork(QueueOptions{.engine = engine,
                               .site = "tick: 20ms\nlocal: {slots: " + std::to_string(slots) +
                                       ", threads: 1, gpus: 0}\n"
                                       "intervals: {resolve: 100ms, retry: 100ms}\n"}) {}

QueueAtWork::QueueAtWork(const QueueOptions& options) : options_(options) { write_files(); }

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

void QueueAtWork::write_files() const {
  fs::copy_file(MARGAY_SOURCE_DIR "/tests/fakes/fake_engine.sh", scratch_ / "engine");
  write(scratch_ / "volume.mrc", "a template volume");
  write(scratch_ / "search.yaml", kSearch);
  configure(options_.site);
  if (!options_.user.empty()) give_to_user();
}

void QueueAtWork::configure(const std::string& site) const {
  write(scratch_ / "site.yaml",
        "state: " + (scratch_ / "state") +
            "\nengine: " + (options_.engine.empty() ? scratch_ / "engine" : options_.engine) +
            "\njob: " + program("margay-job") +
            (options_.user.empty() ? "" : "\ntemplates: " + (scratch_ / "templates")) + "\n" +
            site);
}

// The folder becomes theirs, with our programs in it: where those were built may be closed to them.
void QueueAtWork::give_to_user() const {
  fs::create_directory(scratch_ / "bin");
  for (const char* name : {"margayd", "margay", "margay-job"}) {
    std::error_code other_disk;
    fs::create_hard_link(MARGAY_BIN_DIR + std::string("/") + name, scratch_ / "bin/" + name,
                         other_disk);
    if (other_disk)
      fs::copy_file(MARGAY_BIN_DIR + std::string("/") + name, scratch_ / "bin/" + name);
  }
  fs::copy(MARGAY_SOURCE_DIR "/templates", scratch_ / "templates");
  give_file(scratch_.path(), options_.user);
}

std::string QueueAtWork::program(const std::string& name) const {
  return (options_.user.empty() ? MARGAY_BIN_DIR : scratch_ / "bin") + "/" + name;
}

bool QueueAtWork::becomes_true(const std::function<bool()>& condition) {
  return tests::becomes_true(condition);
}

void QueueAtWork::start_daemon(const std::string& crash_point) {
  std::vector<std::string> environment = options_.environment;
  if (!crash_point.empty()) environment.push_back("MARGAY_CRASHPOINT=" + crash_point);
  std::vector<std::string> command = become(options_.user);
  command.insert(command.end(), {program("margayd"), "--config", scratch_ / "site.yaml"});
  daemon_ = std::make_unique<Program>(command, scratch_.path(), environment);
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

int64_t QueueAtWork::most_memory_kb() const {
  std::istringstream status(text_of_process("/proc/" + std::to_string(daemon_->pid()) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  }
  throw std::runtime_error("no VmHWM of margayd");
}

Finished QueueAtWork::margay(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = become(options_.user);
  command.push_back(program("margay"));
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, scratch_.path(),
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
  if (!fs::exists(path)) write(path, small_mrc(name));
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

void QueueAtWork::let_search_do(const std::string& what, int item) const {
  write(scratch_ / ("do" + (item == 0 ? "" : "-" + std::to_string(item))), what + "\n");
}

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
