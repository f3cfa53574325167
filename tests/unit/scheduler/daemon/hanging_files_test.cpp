// File systems of users that do not answer: their own items wait, and nothing else does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tests/fakes/gate.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"
#include "tests/wait_until.h"

namespace scheduler {
namespace {

using db::ItemState;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class HangingFilesTest : public DaemonFixture {
 protected:
  HangingFilesTest() {
    config_.local.slots = 4;
    file_threads_.timeout = milliseconds(200);
    before_open_ = [gate = gate_.share()](const std::string& path) {
      if (path.find("share/") != std::string::npos) gate->pass();
    };
    std::filesystem::create_directory(folder_.file("share"));
    restart();
  }
  int64_t enqueue_unread(const std::string& name, const Caller& caller,
                         const std::string& template_name = "ribosome",
                         db::Priority priority = db::Priority::kNormal) {
    const std::string path = folder_.write(name, "micrograph " + name);
    return commands_
        ->enqueue(caller, {.micrograph = file_facts(path),
                           .template_name = template_name,
                           .priority = priority,
                           .ctf = {.defocus_u = 10000, .defocus_v = 9000}})
        .id;
  }
  std::string explanation(int64_t id) { return commands_->show(id).explanation; }
  bool becomes(int64_t id, ItemState state) {
    return tests::becomes_true([&] {
      tick();
      return item(id).state == state;
    });
  }

  const Caller bob_{.uid = 1001, .name = "bob"};
  tests::SharedGate gate_;
};

TEST_F(HangingFilesTest, AMicrographThatCannotBeLookedAtHoldsItsOwnersItemsAlone) {
  const auto hers = enqueue_unread("share/a.mrc", user_, "ribosome", db::Priority::kUrgent);
  const auto her_other = enqueue_unread("b.mrc", user_);
  const auto his = enqueue_unread("c.mrc", bob_);
  read_micrographs();
  gate_->close();
  EXPECT_TRUE(becomes(his, ItemState::kActive));
  for (const int64_t id : {hers, her_other}) {
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    EXPECT_THAT(explanation(id), HasSubstr("waits: the file system of '" +
                                           folder_.file("share/a.mrc") + "' has not answered"));
  }
  EXPECT_THAT(log_, Contains(HasSubstr(" s: items of uid 1000 wait")));
  const auto his_next = enqueue_unread("d.mrc", bob_);
  EXPECT_TRUE(becomes(his_next, ItemState::kActive));
  gate_->open();
  EXPECT_TRUE(becomes(hers, ItemState::kActive));
  EXPECT_TRUE(becomes(her_other, ItemState::kActive));
}

TEST_F(HangingFilesTest, AMicrographThatCannotBeReadKeepsNobodyElsesFromBeingRead) {
  gate_->close();
  const auto hers = enqueue_unread("share/a.mrc", user_, "ribosome", db::Priority::kUrgent);
  const auto his = enqueue_unread("b.mrc", bob_);
  EXPECT_TRUE(becomes(his, ItemState::kActive));
  EXPECT_THAT(explanation(hers),
              AllOf(HasSubstr("its micrograph is being read"),
                    HasSubstr("'" + folder_.file("share/a.mrc") + "' has not answered for")));
  gate_->open();
  EXPECT_TRUE(becomes(hers, ItemState::kActive));
  EXPECT_EQ(item(hers).micrograph_sha256, base::sha256_of_text("micrograph share/a.mrc"));
}

// A file of gigabytes answers all the while.
TEST_F(HangingFilesTest, AMicrographThatTakesLongToReadKeepsNobodyElsesFromBeingRead) {
  file_threads_.timeout = std::chrono::hours(1);
  restart();
  gate_->close();
  const auto hers = enqueue_unread("share/a.mrc", user_, "ribosome", db::Priority::kUrgent);
  const auto his = enqueue_unread("b.mrc", bob_);
  EXPECT_TRUE(becomes(his, ItemState::kActive));
  EXPECT_EQ(item(hers).state, ItemState::kQueued);
  EXPECT_THAT(daemon_->hanging_files().unread, testing::IsEmpty()) << "it is only slow";
  gate_->open();
  EXPECT_TRUE(becomes(hers, ItemState::kActive));
}

TEST_F(HangingFilesTest, AVolumeThatCannotBeLookedAtHoldsTheItemsOfItsTemplateAlone) {
  commands_->add_template(bob_, {.name = "shared",
                                 .volume = file_facts(folder_.write("share/v.mrc", "volume")),
                                 .volume_sha256 = base::sha256_of_text("volume"),
                                 .search_yaml = "optics_group: {pixel_size: 1, voltage: 300}\n"});
  const auto with_it = enqueue_unread("a.mrc", user_, "shared");
  const auto without = enqueue_unread("b.mrc", user_);
  read_micrographs();
  gate_->close();
  EXPECT_TRUE(becomes(without, ItemState::kActive));
  EXPECT_EQ(item(with_it).state, ItemState::kQueued);
  EXPECT_THAT(explanation(with_it), HasSubstr("share/v.mrc' has not answered"));
  gate_->open();
  EXPECT_TRUE(becomes(with_it, ItemState::kActive));
}

TEST_F(HangingFilesTest, ASearchThatFailedWhileItsMicrographCannotBeLookedAtIsRetried) {
  const auto id = enqueue_unread("share/a.mrc", user_);
  ASSERT_TRUE(becomes(id, ItemState::kActive));
  gate_->close();
  fail(attempt(id), 64, "margay-engine: micrograph_path: cannot be read");
  ticks(1);
  EXPECT_EQ(attempt(id).cause, "input_away");
  EXPECT_THAT(item(id).reason, HasSubstr("has not answered"));
}

TEST_F(HangingFilesTest, TheDaemonEndsAndStartsAgainMeanwhile) {
  const auto hers = enqueue_unread("share/a.mrc", user_);
  read_micrographs();
  gate_->close();
  const auto unread = enqueue_unread("share/b.mrc", bob_);
  ticks(1);
  restart();
  ticks(1);
  EXPECT_EQ(item(hers).state, ItemState::kQueued);
  gate_->open();
  EXPECT_TRUE(becomes(hers, ItemState::kActive));
  EXPECT_TRUE(becomes(unread, ItemState::kActive));
}

}  // namespace
}  // namespace scheduler
