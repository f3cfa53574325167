// Who may read an item's folder, as the daemon leaves it when it starts the item's job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>

#include "db/sqlite.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/folder_readers.h"
#include "tests/require.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Field;
using testing::Not;

constexpr uint32_t kOwner = 60'001;
constexpr uint32_t kAnother = 60'002;
constexpr uint32_t kGroup = 60'003;

auto names(AclTag tag, uint32_t id) {
  return Contains(testing::AllOf(Field(&AclEntry::tag, tag), Field(&AclEntry::id, id)));
}

class ItemReaders : public DaemonFixture {
 protected:
  void SetUp() override {
    if (::geteuid() == kOwner) GTEST_SKIP() << "runs as the items' owner";
    if (acl_support(folder_.path()) != AclSupport::kYes) {
      MARGAY_SKIP_FOR_WANT_OF("acl", "the file system of '" + folder_.path() + "' has no ACLs");
    }
  }
  int64_t enqueue_owned() {
    const int64_t id = enqueue("a.mrc").id;
    const std::scoped_lock lock(database_->mutex());
    database_->connection().execute("UPDATE items SET owner_uid = " + std::to_string(kOwner) +
                                    ", group_name = '#" + std::to_string(kGroup) + "'");
    return id;
  }
  std::string folder_of(int64_t id) const { return item_folder(config_.jobs(), id); }
  // Of what is made in the item's folder.
  Acl readers(int64_t id) const {
    std::string bytes(4096, '\0');
    const ssize_t size = ::getxattr(folder_of(id).c_str(), kDefaultAcl, bytes.data(), bytes.size());
    EXPECT_GT(size, 0) << folder_of(id);
    return parse_acl(
        std::string_view(bytes).substr(0, static_cast<size_t>(std::max<ssize_t>(size, 0))));
  }
};

TEST_F(ItemReaders, AreItsOwnerAndItsGroup) {
  const int64_t id = enqueue_owned();
  ticks(1);
  EXPECT_THAT(readers(id), names(AclTag::kUser, kOwner));
  EXPECT_THAT(readers(id), names(AclTag::kGroup, kGroup));
}

TEST_F(ItemReaders, AreTheOwnerAloneWhereTheSiteSaysSo) {
  config_.readers = ResultsReaders::kOwner;
  restart();
  const int64_t id = enqueue_owned();
  ticks(1);
  EXPECT_THAT(readers(id), names(AclTag::kUser, kOwner));
  EXPECT_THAT(readers(id), Not(names(AclTag::kGroup, kGroup)));
}

TEST_F(ItemReaders, TheGroupLosesANextAttemptWhenTheSiteHasChangedItsMind) {
  const int64_t id = enqueue_owned();
  ticks(1);
  fail(attempt(id), 70);
  config_.readers = ResultsReaders::kOwner;
  restart();
  ticks(2);
  ASSERT_EQ(attempt(id).number, 2);
  EXPECT_THAT(readers(id), Not(names(AclTag::kGroup, kGroup)));
}

// As where the jobs of another database's item of the same number have run: the first attempt has
// a later number.
TEST_F(ItemReaders, OfAnotherDatabasesItemReadNothingOfThisOne) {
  const int64_t id = enqueue_owned();
  fs::create_directories(attempt_folder(config_.jobs(), id, 1) + "/" + kClaimFolder);
  ASSERT_EQ(let_read(folder_of(id), {.user = kAnother, .group = kAnother}, KnownReaders::kStay),
            "");
  ticks(1);
  ASSERT_EQ(attempt(id).number, 2);
  EXPECT_THAT(readers(id), names(AclTag::kUser, kOwner));
  EXPECT_THAT(readers(id), Not(names(AclTag::kUser, kAnother)));
  EXPECT_THAT(readers(id), Not(names(AclTag::kGroup, kAnother)));
}

}  // namespace
}  // namespace scheduler
