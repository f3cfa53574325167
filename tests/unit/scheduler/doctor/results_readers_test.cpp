#include "scheduler/doctor/results_readers.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "scheduler/clock.h"
#include "scheduler/files/folder_readers.h"
#include "tests/unit/scheduler/doctor/doctor_fixture.h"

namespace scheduler {
namespace {

using slurm::Finding;
using testing::AllOf;
using testing::HasSubstr;
using Level = Finding::Level;

class ResultsReaders : public DoctorTest {
 protected:
  void SetUp() override {
    const ::group* nogroup = ::getgrnam("nogroup");
    if (::geteuid() != 0 || nogroup == nullptr) GTEST_SKIP() << "needs root and a group 'nogroup'";
    group_ = nogroup->gr_gid;
    config_.socket_group = "nogroup";
    ::chmod(folder_.path().c_str(), 0711);
    ::chmod(config_.state.c_str(), 0751);
    ::chmod(config_.jobs().c_str(), 0751);
  }

  std::vector<Finding> said() const {
    slurm::Findings findings;
    examine_readers(config_, findings);
    return findings.all();
  }

  gid_t group_ = 0;
};

TEST_F(ResultsReaders, NothingIsSaidWhereTheSocketHasNoGroupOfItsOwn) {
  config_.socket_group.clear();
  EXPECT_TRUE(said().empty());
}

TEST_F(ResultsReaders, AFolderThatUsersMayNotPassIsAWarningWithItsName) {
  ::chmod(config_.state.c_str(), 0750);
  const Finding finding = about(said(), "readers");
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_THAT(finding.says, HasSubstr("cannot enter '" + config_.state + "'"));
  EXPECT_THAT(finding.advice, HasSubstr("chmod o+x '" + config_.state + "'"));
}

TEST_F(ResultsReaders, FoldersOfTheGroupItselfAreOpenToIt) {
  ASSERT_EQ(::chown(config_.state.c_str(), 0, group_), 0);
  ::chmod(config_.state.c_str(), 0750);
  ASSERT_EQ(::chown(config_.jobs().c_str(), 0, group_), 0);
  ::chmod(config_.jobs().c_str(), 02750);
  const Finding finding = about(said(), "readers");
  EXPECT_EQ(finding.level, Level::kGood);
  EXPECT_THAT(finding.says, HasSubstr("group 'nogroup'"));
}

TEST_F(ResultsReaders, WhatOthersMayDoIsNotForTheGroupThatOwnsTheFolder) {
  ASSERT_EQ(::chown(config_.state.c_str(), 0, group_), 0);
  ::chmod(config_.state.c_str(), 0701);
  EXPECT_EQ(about(said(), "readers").level, Level::kWarning);
}

TEST_F(ResultsReaders, AnAclThatNamesSomebodyElseOpensNothing) {
  if (acl_support(config_.state) != AclSupport::kYes)
    GTEST_SKIP() << "the scratch folder's file system has no ACLs";
  ::chmod(config_.state.c_str(), 0750);
  ASSERT_EQ(let_read(config_.state, {.user = 65533}, KnownReaders::kStay), "");
  EXPECT_EQ(about(said(), "readers").level, Level::kWarning);
  ASSERT_EQ(let_read(config_.state, {.user = 65533, .group = group_}, KnownReaders::kStay), "");
  EXPECT_EQ(about(said(), "readers").level, Level::kGood);
}

TEST_F(ResultsReaders, WithAclsEachOwnerReads) {
  if (acl_support(config_.jobs()) != AclSupport::kYes)
    GTEST_SKIP() << "the scratch folder's file system has no ACLs";
  const Finding finding = about(examine(SystemClock()), "readers");
  EXPECT_EQ(finding.level, Level::kGood);
  EXPECT_THAT(finding.says, HasSubstr("each item's owner and group"));
}

TEST_F(ResultsReaders, WhereTheOwnerAloneReadsNoGroupMay) {
  config_.readers = scheduler::ResultsReaders::kOwner;
  if (acl_support(config_.jobs()) == AclSupport::kYes) {
    const Finding finding = about(said(), "readers");
    EXPECT_EQ(finding.level, Level::kGood);
    EXPECT_THAT(finding.says, HasSubstr("each item's owner can read"));
  }
  ASSERT_EQ(::chown(config_.jobs().c_str(), 0, group_), 0);
  ::chmod(config_.jobs().c_str(), 02751);
  const Finding finding = about(said(), "readers");
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_THAT(finding.says, AllOf(HasSubstr("members of 'nogroup' can read all results"),
                                  HasSubstr("'results.readers' is 'owner'")));
  EXPECT_THAT(finding.advice, HasSubstr("chmod g-s"));
}

TEST_F(ResultsReaders, WithoutAclsItIsAWarningWithWhatToDo) {
  if (::mount("ramfs", config_.jobs().c_str(), "ramfs", 0, "mode=751") != 0) {
    GTEST_SKIP() << "cannot mount a file system without ACLs";
  }
  const Finding finding = about(said(), "readers");
  ::umount2(config_.jobs().c_str(), MNT_DETACH);
  EXPECT_EQ(finding.level, Level::kWarning);
  EXPECT_THAT(finding.says, HasSubstr("no POSIX access control lists"));
  EXPECT_THAT(finding.advice, AllOf(HasSubstr("chgrp nogroup"), HasSubstr("chmod 2751")));
}

}  // namespace
}  // namespace scheduler
