// Who may read what a real margayd and a real search leave, each asked by trying.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/files/folder_readers.h"
#include "scheduler/http/http_client.h"
#include "scheduler/http/unix_socket.h"
#include "tests/as_nobody.h"
#include "tests/integration/queue_at_work.h"
#include "tests/require.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using scheduler::api::Descriptor;
using scheduler::api::HttpClient;
using testing::Contains;
using testing::IsEmpty;

constexpr uid_t kAnother = 65533;

class ResultsReaders : public testing::Test {
 protected:
  ResultsReaders()
      : queue_(QueueOptions{.engine = MARGAY_BIN_DIR "/margay-engine",
                            .site = "tick: 20ms\nlocal: {slots: 2, threads: 1, gpus: 0}\n"
                                    "intervals: {resolve: 100ms, retry: 100ms}\n"}) {}

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become other users";
    if (scheduler::acl_support(queue_.folder().path()) != scheduler::AclSupport::kYes) {
      MARGAY_SKIP_FOR_WANT_OF("acl", "the scratch folder's file system has none");
    }
    ::chmod(queue_.folder().path().c_str(), 0711);
    queue_.start_daemon();
    std::ofstream(queue_.folder() / "search.yaml")
        << "optics_group: {label: lsu, pixel_size: 2.0, voltage: 300.0}\n"
           "defocus_search_config: {enabled: false}\n"
           "orientation_search_config: {psi_step: 60.0, theta_step: 60.0}\n"
           "preprocessing_filters: {whitening_filter: {enabled: true}}\n"
           "computational_config: {gpu_ids: cpu}\n";
    const Finished added =
        queue_.margay({"template", "add", MARGAY_SOURCE_DIR "/tests/data/lsu_2.0A_128.mrc",
                       "--name", "volume", "--config", queue_.folder() / "search.yaml"});
    ASSERT_EQ(added.exit_code, 0) << added.error;
  }

  // A search of the user's own micrograph, to its end. The socket is open to it for that while.
  void search(uid_t user) {
    const std::string micrograph = queue_.folder() / (std::to_string(user) + ".mrc");
    fs::copy_file(MARGAY_SOURCE_DIR "/tests/data/lsu_crop.mrc", micrograph);
    std::fstream(micrograph, std::ios::in | std::ios::out | std::ios::ate) << user;
    ASSERT_EQ(::chown(micrograph.c_str(), user, user), 0);
    ::chmod(socket_.c_str(), 0666);
    as_user(user, user, [&] {
      const Descriptor file(::open(micrograph.c_str(), O_RDONLY | O_CLOEXEC));
      const json ctf = {
          {"defocus_u", 10000}, {"defocus_v", 10000}, {"astigmatism_angle", 0}, {"phase_shift", 0}};
      const json body = {
          {"template", "volume"},
          {"priority", "normal"},
          {"items", json::array({{{"path", micrograph}, {"file", 0}, {"ctf", ctf}}})}};
      const auto answer = HttpClient(socket_).call(
          {.method = "POST", .target = "/v1/items", .body = body.dump(), .files = {file.get()}});
      ASSERT_EQ(answer.status, 200) << answer.body;
    });
    ::chmod(socket_.c_str(), 0660);
    ASSERT_TRUE(QueueAtWork::becomes_true([&] { return queue_.all_ended(); }));
    for (const auto& [item, state] : queue_.item_states()) ASSERT_EQ(state, "DONE") << item;
  }

  // The names below a folder, folders among them, that the user can open for reading.
  static std::set<std::string> readable(uid_t user, const std::string& folder) {
    std::vector<fs::path> all = {folder};
    for (const auto& entry : fs::recursive_directory_iterator(folder)) all.push_back(entry.path());
    std::set<std::string> names;
    as_user(user, user, [&] {
      for (const fs::path& path : all) {
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        if (file) names.insert(fs::relative(path, folder));
      }
    });
    return names;
  }

  static std::set<std::string> all_below(const std::string& folder) {
    std::set<std::string> names = {"."};
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      names.insert(fs::relative(entry.path(), folder));
    }
    return names;
  }

  bool can_connect(uid_t user) const {
    bool connected = false;
    as_user(user, user, [&] {
      const Descriptor end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
      std::strncpy(address.sun_path, socket_.c_str(), sizeof address.sun_path - 1);
      connected =
          ::connect(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    });
    return connected;
  }

  QueueAtWork queue_;
  const std::string state_ = queue_.folder() / "state";
  const std::string socket_ = queue_.folder() / "state/margay.sock";
};

TEST_F(ResultsReaders, AnItemsOwnerReadsItsResultsAndOthersDoNot) {
  search(kNobody);
  search(kAnother);
  const std::string of_nobody = state_ + "/jobs/1";
  const std::string of_another = state_ + "/jobs/2";
  const std::set<std::string> results = all_below(of_nobody);
  for (const char* name : {"a1/mip.mrc", "a1/peaks.csv", "a1/job.log", "a1/manifest.json"}) {
    EXPECT_THAT(results, Contains(name));
  }
  EXPECT_EQ(readable(kNobody, of_nobody), results);
  EXPECT_THAT(readable(kAnother, of_nobody), IsEmpty());
  EXPECT_EQ(readable(kAnother, of_another), all_below(of_another));
  EXPECT_THAT(readable(kNobody, of_another), IsEmpty());
}

TEST_F(ResultsReaders, NothingElseOfTheDaemonsIsOpenToThem) {
  search(kNobody);
  for (const uid_t user : {kNobody, kAnother}) {
    std::set<std::string> names = readable(user, state_);
    if (user == kNobody)
      std::erase_if(names, [](auto& name) { return name.starts_with("jobs/1"); });
    EXPECT_THAT(names, IsEmpty()) << user;
    EXPECT_FALSE(can_connect(user));
  }
  EXPECT_TRUE(can_connect(0));
  EXPECT_THAT(all_below(state_), Contains("margay.db"));
}

TEST_F(ResultsReaders, TheLogSaysNothingWhereAllIsWell) {
  search(kNobody);
  EXPECT_THAT(queue_.daemon_log(), testing::Not(testing::HasSubstr("may not be able to read")));
}

}  // namespace
}  // namespace tests
