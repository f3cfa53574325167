#include "scheduler/cli/terminal/find_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/http/unix_socket.h"
#include "tests/scratch_folder.h"

namespace scheduler::cli {
namespace {

using ::testing::HasSubstr;

class FindSocket : public ::testing::Test {
 protected:
  const tests::ScratchFolder scratch_;
  const std::string first_ = scratch_ / "first";
  const std::string second_ = scratch_ / "second";
};

TEST_F(FindSocket, TakesTheNamedOneWhoeverListensElsewhere) {
  const auto listener = api::listen_at(second_, "");
  const FoundSocket found = find_socket(first_, {second_});
  EXPECT_EQ(found.path, first_);
  EXPECT_EQ(found.none, "");
}

TEST_F(FindSocket, TakesTheFirstPlaceWhereSomebodyListens) {
  const auto listener = api::listen_at(second_, "");
  EXPECT_EQ(find_socket("", {first_, second_}).path, second_);
  const auto own = api::listen_at(first_, "");
  EXPECT_EQ(find_socket("", {first_, second_}).path, first_);
}

TEST_F(FindSocket, PassesOverTheSocketOfADaemonThatHasEnded) {
  { const auto ended = api::listen_at(first_, ""); }
  const auto listener = api::listen_at(second_, "");
  EXPECT_EQ(find_socket("", {first_, second_}).path, second_);
}

TEST_F(FindSocket, NamesAllPlacesWhereNobodyListens) {
  { const auto ended = api::listen_at(first_, ""); }
  const FoundSocket found = find_socket("", {first_, second_, "/" + std::string(200, 'x')});
  EXPECT_EQ(found.path, first_);
  EXPECT_THAT(found.none, HasSubstr("no daemon found at " + first_ + " (nobody listens), " +
                                    second_ + " (does not exist), /xxx"));
}

}  // namespace
}  // namespace scheduler::cli
