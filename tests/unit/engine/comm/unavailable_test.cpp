// What a build says that lacks what some ranks need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/comm/factory.h"
#include "engine/error.h"

namespace engine::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class EmptyStore : public Store {
 public:
  void put(const std::string&, const std::vector<char>&) override {}
  std::vector<char> get(const std::string&) override { return {}; }
};

template <typename Make>
std::string refusal(const Make& make) {
  EmptyStore store;
  try {
    make(GroupConfig{.rank = 0, .size = 2, .name = "run", .addresses = {"127.0.0.1"}}, store);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    return error.what();
  }
  return "made";
}

TEST(GlooAbsent, SaysWhatIsMissingAndWhatToDo) {
  EXPECT_FALSE(has_gloo());
  EXPECT_THAT(refusal(make_gloo), AllOf(HasSubstr("no Gloo"), HasSubstr("libgloo")));
}

TEST(NcclAbsent, SaysWhatIsMissingAndWhatToDo) {
  EXPECT_FALSE(has_nccl());
  EXPECT_THAT(
      refusal([](const GroupConfig& place, Store& store) { return make_nccl(place, store, 0); }),
      AllOf(HasSubstr("no NCCL"), HasSubstr("nccl.h")));
}

}  // namespace
}  // namespace engine::comm
