#include "tests/unit/scheduler/api/api_fixture.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "db/items.h"
#include "scheduler/cli/program.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {
namespace {

constexpr uid_t kNobody = 65534;

nlohmann::json with_status(const api::Answer& answer) {
  nlohmann::json body = nlohmann::json::parse(answer.body);
  body["status"] = answer.status;
  return body;
}

// As a site that allows all of sbatch's options.
ItemOptions check_sbatch_options(const Caller&, const ItemOptions& options) {
  try {
    slurm::Directives directives;
    for (const auto& [name, value] : options) {
      slurm::add_directive(directives, name, value, "--" + name);
    }
    return directives;
  } catch (const slurm::DirectiveError& error) {
    throw BadOption(error.what());
  }
}

}  // namespace

std::string search_settings() {
  return "optics_group:\n  label: x\n  pixel_size: 2.0\n  voltage: 300.0\n"
         "  spherical_aberration: 2.7\n  amplitude_contrast_ratio: 0.07\n"
         "defocus_search_config:\n  enabled: false\n"
         "orientation_search_config:\n  psi_step: 90.0\n  theta_step: 90.0\n";
}

ApiFixture::ApiFixture(bool only_owners_read) {
  std::string name = (std::filesystem::temp_directory_path() / "margay-api-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
  folder_ = std::filesystem::canonical(name).string();
  ::chmod(folder_.c_str(), 0711);
  database_ = std::make_unique<db::Database>(file("margay.db"));
  queue_ = std::make_unique<KnownQueue>(*database_);
  const CrashHook count_commits = [this](const std::string& point) {
    if (point == "after-command-commit") ++commits_;
  };
  commands_ = std::make_unique<Commands>(*database_, clock_,
                                         CommandsOptions{.crash = count_commits,
                                                         .check_options = check_sbatch_options,
                                                         .quotas = quotas_,
                                                         .only_owners_read = only_owners_read,
                                                         .plan = [this] { return plans_.last(); }});
  service_ = std::make_unique<api::Service>(
      *database_, *commands_,
      api::DaemonHooks{
          .status = [this] { return status_; },
          .stop = [this] { ++stops_; },
          .wake = [this] { plan_as_the_daemon(); },
          .script =
              [this](const api::ScriptRequest& request) {
                script_requests_.push_back(request);
                return script_;
              },
          .examine = [this] { return examine_(); },
          .history =
              [this](const HistoryQuery& query) { return read_history(*database_, {}, query); },
          .site = [this] { return site_; },
          .gc = [this](bool dry_run) { return gc_(dry_run); },
          .count = [this](const CountQuestion& question,
                          const std::function<bool()>&) { return count_(question); }});
  // Members of this group may connect: `nobody` here, a facility's users elsewhere.
  const bool root = ::geteuid() == 0;
  server_ = std::make_unique<api::HttpServer>(
      api::ServerOptions{
          .socket = file("s.sock"), .group = root ? "nogroup" : "", .takes_long = api::takes_long},
      [this](api::Request& request) { return service_->handle(request); });
}

void ApiFixture::plan_as_the_daemon() {
  ++wakes_;
  const std::scoped_lock lock(planning_);
  QueueSnapshot& snapshot = queue_->read(clock_.now(), {.slots = 2});
  snapshot.expects_times = true;
  plans_.publish(std::make_shared<const PublishedPlan>(
      PublishedPlan{.plan = plan(snapshot), .interval = std::chrono::seconds(1)}));
}

ApiFixture::~ApiFixture() {
  server_.reset();
  std::error_code ignored;  // a folder left over harms nobody
  std::filesystem::remove_all(folder_, ignored);
}

std::string ApiFixture::write(const std::string& name, const std::string& text) const {
  std::ofstream stream(file(name), std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + name);
  stream.close();
  ::chmod(file(name).c_str(), 0644);
  return file(name);
}

nlohmann::json ApiFixture::get(const std::string& target) const {
  return with_status(api::HttpClient(file("s.sock")).call({.target = target}));
}

nlohmann::json ApiFixture::post(const std::string& target, const nlohmann::json& body,
                                const std::vector<int>& files) const {
  return with_status(
      api::HttpClient(file("s.sock"))
          .call({.method = "POST", .target = target, .body = body.dump(), .files = files}));
}

void ApiFixture::register_template() {
  const std::string volume = write("ribosome.mrc", "volume");
  const std::string settings = write("search.yaml", search_settings());
  const Outcome outcome =
      margay({"template", "add", volume, "--name", "ribosome", "--config", settings});
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
}

int64_t ApiFixture::enqueue(const std::string& name) {
  const Outcome outcome = margay({"enqueue", write(name), "--template", "ribosome", "--defocus-u",
                                  "10000", "--defocus-v", "10000", "--json"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  return outcome.document().at("items").at(0).at("item").at("id");
}

ApiFixture::Outcome ApiFixture::margay(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), "margay");
  std::vector<const char*> words;
  const std::string socket = "--socket=" + file("s.sock");
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  const std::string& parent = arguments.at(1);
  const bool is_parent = parent == "template" || parent == "watch" || parent == "admin";
  const auto after_command = words.begin() + (is_parent ? 3 : 2);
  words.insert(after_command, socket.c_str());
  std::ostringstream out;
  std::ostringstream error;
  const int exit =
      cli::run(static_cast<int>(words.size()), words.data(), cli::Screen{}, out, error);
  return {.exit = exit, .out = out.str(), .error = error.str()};
}

// A child process of one with threads may find the memory allocator locked by one that it does not
// have; the rights of a thread are its own as long as the kernel is asked without the C library.
int ApiFixture::as_nobody(const std::function<int()>& action) {
  int result = -1;
  std::thread([&] {
    const bool changed = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                         ::syscall(SYS_setresgid, kNobody, kNobody, kNobody) == 0 &&
                         ::syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0;
    if (changed) result = action();
  }).join();
  // The kernel has hidden this process from the leak sanitizer.
  ::prctl(PR_SET_DUMPABLE, 1);
  return result;
}

db::Attempt ApiFixture::activate(int64_t item) const {
  db::Attempt attempt;
  attempt.item_id = item;
  attempt.token = "token-" + std::to_string(item);
  attempt.state = db::AttemptState::kRunning;
  attempt.directory = file("a" + std::to_string(item));
  attempt.started = 1;
  std::filesystem::create_directory(attempt.directory);
  attempt.id = db::AttemptStore(*database_).insert(attempt);
  db::ItemStore(*database_).set_state(item, db::ItemState::kActive, "", 1);
  return attempt;
}

}  // namespace scheduler
