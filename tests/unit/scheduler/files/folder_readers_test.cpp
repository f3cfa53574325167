#include "scheduler/files/folder_readers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "base/read_file.h"
#include "scheduler/files/attempt_folder.h"
#include "tests/as_nobody.h"
#include "tests/require.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::as_user;
using tests::kNobody;

constexpr uid_t kOwner = 65501;
constexpr gid_t kItsGroup = 65502;
constexpr uid_t kAnother = 65533;

mode_t bits_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

bool can_open(uid_t user, gid_t group, const std::string& path, int flags = O_RDONLY) {
  bool opened = false;
  as_user(user, group, [&] {
    opened = static_cast<bool>(base::Descriptor(::open(path.c_str(), flags | O_CLOEXEC)));
  });
  return opened;
}

void write_with(mode_t mode, const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode));
  ASSERT_TRUE(file);
}

class FolderReadersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
    if (acl_support(scratch_.path()) != AclSupport::kYes) {
      MARGAY_SKIP_FOR_WANT_OF("acl", "the file system of '" + scratch_.path() + "' has no ACLs");
    }
    mask_ = ::umask(0027);
    ::chmod(scratch_.path().c_str(), 0711);
  }
  void TearDown() override { ::umask(mask_); }

  tests::ScratchFolder scratch_;
  const std::string item_ = scratch_ / "7";
  const std::string attempt_ = scratch_ / "7/a1";
  std::vector<std::string> log_;
  void prepare(const std::string& folder, int64_t owner, const std::string& group,
               KnownReaders known = KnownReaders::kLeave) {
    readers_.prepare(folder, owner, group, known);
  }

  FolderReaders readers_{[this](const std::string& line) { log_.push_back(line); }};
  mode_t mask_ = 0;
};

TEST_F(FolderReadersTest, OwnerAndGroupReadWhatIsWrittenThereLaterAndNobodyElseDoes) {
  prepare(item_, kOwner, "#" + std::to_string(kItsGroup));
  make_attempt_folder(attempt_);
  write_with(0666, attempt_ + "/job.log");
  base::write_file_atomically(attempt_ + "/mip.mrc", "x");
  base::write_file_atomically(attempt_ + "/config.yaml", "x", {.mode = 0640});
  for (const std::string name : {"job.log", "mip.mrc", "config.yaml", ""}) {
    const std::string path = attempt_ + "/" + name;
    EXPECT_TRUE(can_open(kOwner, kAnother, path)) << name;
    EXPECT_TRUE(can_open(kAnother, kItsGroup, path)) << name;
    EXPECT_FALSE(can_open(kAnother, kAnother, path)) << name;
    if (name.empty()) continue;
    EXPECT_FALSE(can_open(kOwner, kItsGroup, path, O_WRONLY)) << name;
  }
  EXPECT_FALSE(can_open(kOwner, kItsGroup, attempt_ + "/new", O_WRONLY | O_CREAT));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(FolderReadersTest, ADaemonWithoutSpecialRightsLetsThemReadWhatItWrites) {
  ASSERT_EQ(::chown(scratch_.path().c_str(), kAnother, kAnother), 0);
  as_user(kAnother, kAnother, [&] {
    prepare(item_, kOwner, "#" + std::to_string(kItsGroup));
    make_attempt_folder(attempt_);
    write_with(0666, attempt_ + "/mip.mrc");
  });
  EXPECT_TRUE(can_open(kOwner, kOwner, attempt_ + "/mip.mrc"));
  EXPECT_TRUE(can_open(kNobody, kItsGroup, attempt_ + "/mip.mrc"));
  EXPECT_FALSE(can_open(kNobody, kNobody, attempt_ + "/mip.mrc"));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(FolderReadersTest, WithoutAGroupOnlyTheOwnerReads) {
  prepare(item_, kOwner, "");
  make_attempt_folder(attempt_);
  write_with(0666, attempt_ + "/mip.mrc");
  EXPECT_TRUE(can_open(kOwner, kItsGroup, attempt_ + "/mip.mrc"));
  EXPECT_FALSE(can_open(kAnother, kItsGroup, attempt_ + "/mip.mrc"));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(FolderReadersTest, TheOwnerAloneReadsAlsoWhereTheFolderIsOfAGroup) {
  ASSERT_EQ(::chown(scratch_.path().c_str(), 0, kItsGroup), 0);
  ::chmod(scratch_.path().c_str(), 02751);
  prepare(item_, kOwner, "#" + std::to_string(kItsGroup));
  prepare(item_, kOwner, "", KnownReaders::kOwnerAlone);
  const auto names_group = [](const Acl& acl) {
    return std::any_of(acl.begin(), acl.end(),
                       [](const AclEntry& entry) { return entry.tag == AclTag::kGroup; });
  };
  std::string bytes(4096, '\0');
  const ssize_t size = ::getxattr(item_.c_str(), kDefaultAcl, bytes.data(), bytes.size());
  ASSERT_GT(size, 0);
  EXPECT_FALSE(
      names_group(parse_acl(std::string_view(bytes).substr(0, static_cast<size_t>(size)))));
}

TEST_F(FolderReadersTest, WhatIsWrittenForItsUserAloneStaysPrivate) {
  prepare(item_, kOwner, "#" + std::to_string(kItsGroup));
  write_with(0600, item_ + "/secret");
  EXPECT_FALSE(can_open(kOwner, kItsGroup, item_ + "/secret"));
}

TEST_F(FolderReadersTest, AnOpenUmaskOfTheJobGivesNobodyElseRights) {
  prepare(item_, kOwner, "");
  ::umask(0);
  make_attempt_folder(attempt_);
  write_with(0666, attempt_ + "/mip.mrc");
  EXPECT_FALSE(can_open(kAnother, kAnother, attempt_ + "/mip.mrc"));
  EXPECT_FALSE(can_open(kAnother, kAnother, attempt_));
}

TEST_F(FolderReadersTest, WhatWasThereBeforeStaysAsItIs) {
  make_attempt_folder(attempt_);
  write_with(0640, attempt_ + "/mip.mrc");
  prepare(item_, kOwner, "#" + std::to_string(kItsGroup));
  EXPECT_EQ(bits_of(attempt_), 0750U);
  EXPECT_FALSE(can_open(kOwner, kItsGroup, attempt_ + "/mip.mrc"));
  make_attempt_folder(item_ + "/a2");
  EXPECT_TRUE(can_open(kOwner, kItsGroup, item_ + "/a2"));
}

TEST_F(FolderReadersTest, ReadersThatTheSiteHasSetAboveStay) {
  const Acl above = with_readers(acl_of_mode(0750), {.user = kAnother});
  ASSERT_EQ(::setxattr(scratch_.path().c_str(), kDefaultAcl, to_bytes(above).data(),
                       to_bytes(above).size(), 0),
            0);
  prepare(item_, kOwner, "");
  make_attempt_folder(attempt_);
  EXPECT_TRUE(can_open(kAnother, kAnother, attempt_));
  EXPECT_TRUE(can_open(kOwner, kOwner, attempt_));
  EXPECT_FALSE(can_open(kNobody, kNobody, attempt_));
}

TEST_F(FolderReadersTest, ALaterAttemptAddsToWhoReads) {
  prepare(item_, kOwner, "");
  const Acl by_hand = with_readers(acl_of_mode(0750), {.user = kAnother});
  for (const char* name : {kAccessAcl, kDefaultAcl}) {
    const std::string bytes = to_bytes(by_hand);
    ASSERT_EQ(::setxattr(item_.c_str(), name, bytes.data(), bytes.size(), 0), 0);
  }
  prepare(item_, kOwner, "", KnownReaders::kStay);
  fs::create_directory(item_ + "/a2");
  EXPECT_TRUE(can_open(kAnother, kAnother, item_ + "/a2"));
}

// As where a new database begins its numbers again.
TEST_F(FolderReadersTest, ReadersOfAnEarlierItemOfTheNumberReadNothingOfTheNewOne) {
  prepare(item_, kAnother, "#" + std::to_string(kItsGroup));
  prepare(item_, kOwner, "");
  make_attempt_folder(attempt_);
  write_with(0666, attempt_ + "/mip.mrc");
  for (const std::string& path : {item_, attempt_, attempt_ + "/mip.mrc"}) {
    EXPECT_FALSE(can_open(kAnother, kAnother, path)) << path;
    EXPECT_FALSE(can_open(kNobody, kItsGroup, path)) << path;
    EXPECT_TRUE(can_open(kOwner, kNobody, path)) << path;
  }
}

TEST_F(FolderReadersTest, TheDaemonsOwnUserNeedsNothing) {
  prepare(item_, ::geteuid(), "#" + std::to_string(kItsGroup));
  EXPECT_EQ(bits_of(item_), 0750U);
  EXPECT_EQ(::getxattr(item_.c_str(), kAccessAcl, nullptr, 0), -1);
  EXPECT_FALSE(can_open(kAnother, kItsGroup, item_));
}

TEST_F(FolderReadersTest, AGroupThatIsNotThereIsNamedOnceAndTheOwnerStillReads) {
  prepare(item_, kOwner, "no-such-group");
  prepare(scratch_ / "8", kOwner, "no-such-group");
  EXPECT_TRUE(can_open(kOwner, kOwner, item_));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("there is no group 'no-such-group'")));
}

TEST_F(FolderReadersTest, AGroupThatCouldNotBeLookedUpIsAskedForAgainAfterAMinute) {
  std::chrono::steady_clock::time_point now{};
  base::GroupLookup answer{.error = EIO};
  int lookups = 0;
  FolderReaders readers([this](const std::string& line) { log_.push_back(line); },
                        {.look_up =
                             [&](const std::string&) {
                               ++lookups;
                               return answer;
                             },
                         .now = [&] { return now; }});
  readers.prepare(item_, kOwner, "lab", KnownReaders::kLeave);
  readers.prepare(item_, kOwner, "lab", KnownReaders::kLeave);
  EXPECT_EQ(lookups, 1);
  EXPECT_FALSE(can_open(kNobody, kItsGroup, item_));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("group 'lab' cannot be looked up")));
  answer = {.number = kItsGroup};
  now += FolderReaders::kRetry;
  readers.prepare(item_, kOwner, "lab", KnownReaders::kLeave);
  EXPECT_TRUE(can_open(kNobody, kItsGroup, item_));
  now += FolderReaders::kRetry;
  readers.prepare(item_, kOwner, "lab", KnownReaders::kLeave);
  EXPECT_EQ(lookups, 2);
}

TEST_F(FolderReadersTest, ALinkInTheFoldersPlaceIsNotFollowed) {
  fs::create_directory(scratch_ / "closed");
  fs::create_directory_symlink(scratch_ / "closed", item_);
  prepare(item_, kOwner, "");
  EXPECT_FALSE(can_open(kOwner, kOwner, scratch_ / "closed"));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("'" + item_ + "'")));
}

TEST_F(FolderReadersTest, AFolderThatIsMadeCanBePassedButNotListed) {
  make_passable_folder(scratch_ / "new/state");
  EXPECT_EQ(bits_of(scratch_ / "new"), 0751U);
  EXPECT_EQ(bits_of(scratch_ / "new/state"), 0751U);
}

TEST_F(FolderReadersTest, AFolderThatIsThereStaysClosedUnlessItIsOpened) {
  fs::create_directory(scratch_ / "state");
  make_passable_folder(scratch_ / "state");
  EXPECT_EQ(bits_of(scratch_ / "state"), 0750U);
  let_pass(scratch_ / "state");
  EXPECT_EQ(bits_of(scratch_ / "state"), 0751U);
}

TEST_F(FolderReadersTest, AFolderWhoseModeCannotBeChangedIsSaidAndNothingEnds) {
  const std::string state = scratch_ / "state";
  fs::create_directory(state);
  if (::mount("tmpfs", state.c_str(), "tmpfs", MS_RDONLY, "mode=750") != 0) {
    GTEST_SKIP() << "cannot mount a file system that is only read";
  }
  const std::string problem = let_pass(state);
  ::umount2(state.c_str(), MNT_DETACH);
  EXPECT_THAT(problem, AllOf(HasSubstr("cannot be let through '" + state + "' (chmod o+x)"),
                             HasSubstr("Read-only file system")));
}

TEST_F(FolderReadersTest, AFolderOfWhichTheSiteHasChosenTheGroupKeepsItsMode) {
  fs::create_directory(scratch_ / "jobs");
  ::chmod((scratch_ / "jobs").c_str(), 02750);
  let_pass(scratch_ / "jobs");
  EXPECT_EQ(bits_of(scratch_ / "jobs"), 02750U);
  make_passable_folder(scratch_ / "jobs/new");
  EXPECT_EQ(bits_of(scratch_ / "jobs/new"), 02750U);
}

// The daemon is not in it, and the kernel takes the set-group-ID bit from the item's folder.
TEST_F(FolderReadersTest, TheGroupThatTheSiteHasChosenReadsToo) {
  constexpr gid_t kSiteGroup = 65503;
  ASSERT_EQ(::chown(scratch_.path().c_str(), kAnother, kSiteGroup), 0);
  ::chmod(scratch_.path().c_str(), 02751);
  as_user(kAnother, kAnother, [&] {
    prepare(item_, kOwner, "#" + std::to_string(kItsGroup));
    make_attempt_folder(attempt_);
    write_with(0666, attempt_ + "/mip.mrc");
  });
  EXPECT_TRUE(can_open(kNobody, kSiteGroup, attempt_ + "/mip.mrc"));
  EXPECT_FALSE(can_open(kNobody, kSiteGroup, attempt_ + "/mip.mrc", O_WRONLY));
  EXPECT_TRUE(can_open(kOwner, kNobody, attempt_ + "/mip.mrc"));
  EXPECT_TRUE(can_open(kNobody, kItsGroup, attempt_ + "/mip.mrc"));
  EXPECT_FALSE(can_open(kNobody, kNobody, attempt_ + "/mip.mrc"));
  EXPECT_THAT(log_, IsEmpty());
}

TEST(AclSupport, IsNotKnownOfWhatCannotBeAsked) {
  const tests::ScratchFolder scratch;
  EXPECT_EQ(acl_support(scratch / "nothing"), AclSupport::kUnknown);
  EXPECT_EQ(errno, ENOENT);
}

// ramfs is one of the few file systems without access control lists.
class WithoutAcls : public FolderReadersTest {
 protected:
  void SetUp() override {
    FolderReadersTest::SetUp();
    if (IsSkipped()) return;
    fs::create_directory(place_);
    mounted_ = ::mount("ramfs", place_.c_str(), "ramfs", 0, "mode=711") == 0;
    if (!mounted_) GTEST_SKIP() << "cannot mount a file system without ACLs";
    ASSERT_EQ(acl_support(place_), AclSupport::kNo);
  }
  ~WithoutAcls() override {
    if (mounted_) ::umount2(place_.c_str(), MNT_DETACH);
  }

  const std::string place_ = scratch_ / "ramfs";
  const std::string there_ = place_ + "/7";
  bool mounted_ = false;
};

TEST_F(WithoutAcls, TheFolderGoesToTheGroup) {
  prepare(there_, kOwner, "#" + std::to_string(kItsGroup));
  make_attempt_folder(there_ + "/a1");
  write_with(0666, there_ + "/a1/mip.mrc");
  EXPECT_TRUE(can_open(kOwner, kItsGroup, there_ + "/a1/mip.mrc"));
  EXPECT_FALSE(can_open(kAnother, kAnother, there_ + "/a1/mip.mrc"));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(WithoutAcls, AGroupThatTheSiteHasChosenStaysAndIsNamedOnce) {
  ASSERT_EQ(::chown(place_.c_str(), 0, kAnother), 0);
  ::chmod(place_.c_str(), 02751);
  for (const std::string name : {"/7", "/8"}) {
    prepare(place_ + name, kOwner, "#" + std::to_string(kItsGroup));
  }
  EXPECT_TRUE(can_open(kNobody, kAnother, there_));
  EXPECT_FALSE(can_open(kOwner, kItsGroup, there_));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("no POSIX access control lists")));
}

TEST_F(WithoutAcls, ADaemonThatIsNoMemberOfTheGroupChangesNothingAndSaysSo) {
  ASSERT_EQ(::chown(place_.c_str(), kAnother, kAnother), 0);
  as_user(kAnother, kAnother, [&] { prepare(there_, kOwner, "#" + std::to_string(kItsGroup)); });
  EXPECT_EQ(bits_of(there_), 0750U);
  EXPECT_FALSE(can_open(kOwner, kItsGroup, there_));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("cannot be given to group 65502")));
}

TEST_F(WithoutAcls, WithoutAGroupNothingChangesAndItIsSaid) {
  prepare(there_, kOwner, "");
  EXPECT_EQ(bits_of(there_), 0750U);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("the owner's group is not known")));
}

}  // namespace
}  // namespace scheduler
