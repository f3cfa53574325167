#include "scheduler/files/posix_acl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace scheduler {
namespace {

using testing::ElementsAre;

TEST(PosixAcl, IsWrittenAsTheKernelReadsIt) {
  EXPECT_EQ(to_bytes({{.tag = AclTag::kOwner, .rights = 7},
                      {.tag = AclTag::kUser, .rights = 5, .id = 0x01020304}}),
            std::string("\x02\0\0\0"
                        "\x01\0\x07\0\xff\xff\xff\xff"
                        "\x02\0\x05\0\x04\x03\x02\x01",
                        20));
}

TEST(PosixAcl, IsReadAsItWasWritten) {
  const Acl acl = with_readers(acl_of_mode(0750), {.user = 70000, .group = 4'000'000'000});
  EXPECT_EQ(parse_acl(to_bytes(acl)), acl);
}

TEST(PosixAcl, AnythingElseIsRefused) {
  const std::string bytes = to_bytes(acl_of_mode(0750));
  EXPECT_THROW(parse_acl(""), std::invalid_argument);
  EXPECT_THROW(parse_acl(bytes.substr(0, bytes.size() - 1)), std::invalid_argument);
  EXPECT_THROW(parse_acl("\x03" + bytes.substr(1)), std::invalid_argument);
  std::string unknown = bytes;
  unknown[4] = '\x03';
  EXPECT_THROW(parse_acl(unknown), std::invalid_argument);
}

TEST(PosixAcl, ReadersAreAddedToWhatTheModeSays) {
  EXPECT_THAT(with_readers(acl_of_mode(0700), {.user = 1000, .group = 100}),
              ElementsAre(AclEntry{.tag = AclTag::kOwner, .rights = 7},
                          AclEntry{.tag = AclTag::kUser, .rights = 5, .id = 1000},
                          AclEntry{.tag = AclTag::kOwningGroup, .rights = 0},
                          AclEntry{.tag = AclTag::kGroup, .rights = 5, .id = 100},
                          AclEntry{.tag = AclTag::kMask, .rights = 5},
                          AclEntry{.tag = AclTag::kOthers, .rights = 0}));
}

TEST(PosixAcl, WithoutAGroupTheUserAloneIsAdded) {
  EXPECT_THAT(with_readers(acl_of_mode(0700), {.user = 1000}),
              ElementsAre(AclEntry{.tag = AclTag::kOwner, .rights = 7},
                          AclEntry{.tag = AclTag::kUser, .rights = 5, .id = 1000},
                          AclEntry{.tag = AclTag::kOwningGroup, .rights = 0},
                          AclEntry{.tag = AclTag::kMask, .rights = 5},
                          AclEntry{.tag = AclTag::kOthers, .rights = 0}));
}

TEST(PosixAcl, AddingThemAgainChangesNothing) {
  const FileReaders readers{.user = 1000, .group = 100};
  const Acl acl = with_readers(acl_of_mode(0750), readers);
  EXPECT_EQ(with_readers(acl, readers), acl);
}

TEST(PosixAcl, WithoutNamedNothingButTheModeIsLeft) {
  EXPECT_EQ(without_named(with_readers(acl_of_mode(0750), {.user = 1000, .group = 100})),
            acl_of_mode(0750));
  const Acl masked = {{.tag = AclTag::kOwner, .rights = 7},
                      {.tag = AclTag::kUser, .rights = 7, .id = 5},
                      {.tag = AclTag::kOwningGroup, .rights = 7},
                      {.tag = AclTag::kMask, .rights = 4},
                      {.tag = AclTag::kOthers, .rights = 0}};
  EXPECT_EQ(without_named(masked), acl_of_mode(0740));
}

TEST(PosixAcl, WhatAMaskTookFromOthersIsNotGivenBack) {
  const Acl masked = {{.tag = AclTag::kOwner, .rights = 7},
                      {.tag = AclTag::kUser, .rights = 7, .id = 5},
                      {.tag = AclTag::kOwningGroup, .rights = 7},
                      {.tag = AclTag::kMask, .rights = 0},
                      {.tag = AclTag::kOthers, .rights = 0}};
  EXPECT_THAT(with_readers(masked, {.user = 1000}),
              ElementsAre(AclEntry{.tag = AclTag::kOwner, .rights = 7},
                          AclEntry{.tag = AclTag::kUser, .rights = 0, .id = 5},
                          AclEntry{.tag = AclTag::kUser, .rights = 5, .id = 1000},
                          AclEntry{.tag = AclTag::kOwningGroup, .rights = 0},
                          AclEntry{.tag = AclTag::kMask, .rights = 5},
                          AclEntry{.tag = AclTag::kOthers, .rights = 0}));
}

}  // namespace
}  // namespace scheduler
