// What `cmake --install` installs works where it is, without the source tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/program.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

Finished install_to(const std::string& prefix) {
  return run_program({MARGAY_CMAKE, "--install", MARGAY_BUILD_DIR, "--prefix", prefix}, "/");
}

class Installed : public ::testing::Test {
 protected:
  void SetUp() override {
    const Finished installed = install_to(prefix_);
    ASSERT_EQ(installed.exit_code, 0) << installed.output << installed.error;
  }

  const ScratchFolder scratch_;
  const std::string prefix_ = scratch_ / "margay";
};

TEST_F(Installed, HasAllThatAMachineNeeds) {
  for (const char* path : {"bin/margay", "bin/margayd", "bin/margay-engine", "bin/margay-job",
                           "share/margay/templates/gpu.sbatch", "share/margay/templates/local.sh",
                           "share/margay/selftest/lsu_crop.yaml", "etc/margay/margayd.yaml",
                           "lib/systemd/system/margayd.service", "lib/sysusers.d/margay.conf",
                           "lib/tmpfiles.d/margay.conf", "share/man/man1/margay.1",
                           "share/man/man1/margay-engine.1", "share/man/man1/margay-job.1",
                           "share/man/man8/margayd.8", "share/bash-completion/completions/margay",
                           "share/doc/margay/install.md", "share/doc/margay-engine/copyright"}) {
    EXPECT_TRUE(fs::exists(fs::path(prefix_) / path)) << path;
  }
  EXPECT_THAT(text_of(prefix_ + "/lib/systemd/system/margayd.service"),
              AllOf(HasSubstr("ExecStart=" + prefix_ + "/bin/margayd --config " + prefix_ +
                              "/etc/margay/margayd.yaml\n"),
                    HasSubstr("\nType=notify\n"), HasSubstr("\nKillMode=process\n")));
  EXPECT_THAT(text_of(prefix_ + "/lib/tmpfiles.d/margay.conf"),
              HasSubstr("d " + prefix_ + "/etc/margay 0750 root margay"));
}

TEST_F(Installed, HasThePagesThatItsPagesPointTo) {
  const fs::path docs = fs::path(prefix_) / "share/doc";
  const std::regex link(R"(\]\(([^)#]+))");
  int links = 0;
  for (const char* folder : {"margay", "margay-engine"}) {
    for (const auto& page : fs::directory_iterator(docs / folder)) {
      if (page.path().extension() != ".md") continue;
      const std::string text = text_of(page.path());
      for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
        const std::string name = (*at)[1];
        if (name.find("://") != std::string::npos) continue;
        EXPECT_TRUE(fs::exists(page.path().parent_path() / name))
            << page.path() << " points to " << name;
        ++links;
      }
    }
  }
  EXPECT_GT(links, 10);
}

TEST_F(Installed, UsesItsOwnTemplatesAndSelfTest) {
  fs::remove(prefix_ + "/share/margay/templates/local.sh");
  const Finished daemon =
      run_program({prefix_ + "/bin/margayd", "--state", scratch_ / "state"}, scratch_.path());
  EXPECT_EQ(daemon.exit_code, 78);
  EXPECT_THAT(daemon.error, HasSubstr("share/margay/templates"));
  fs::remove(prefix_ + "/share/margay/selftest/lsu_crop_truth.csv");
  const Finished selftest =
      run_program({prefix_ + "/bin/margay-engine", "selftest"}, scratch_.path());
  EXPECT_NE(selftest.exit_code, 0);
  EXPECT_THAT(selftest.error, HasSubstr("share/margay/selftest/lsu_crop_truth.csv"));
}

TEST_F(Installed, KeepsTheSitesConfiguration) {
  std::ofstream(prefix_ + "/etc/margay/margayd.yaml") << "state: /srv/margay\n";
  std::ofstream(prefix_ + "/share/margay/templates/local.sh") << "";
  const Finished again = install_to(prefix_);
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_THAT(again.output, HasSubstr("Kept: " + prefix_ + "/etc/margay/margayd.yaml"));
  EXPECT_EQ(text_of(prefix_ + "/etc/margay/margayd.yaml"), "state: /srv/margay\n");
  EXPECT_NE(text_of(prefix_ + "/share/margay/templates/local.sh"), "");
}

TEST_F(Installed, UnitIsAsSystemdWantsIt) {
  const std::string systemd_analyze = "/usr/bin/systemd-analyze";
  if (!fs::exists(systemd_analyze)) GTEST_SKIP() << "systemd-analyze is not installed";
  const Finished verified = run_program(
      {systemd_analyze, "verify", "--man=no", prefix_ + "/lib/systemd/system/margayd.service"},
      "/");
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_THAT(verified.error, ::testing::Not(HasSubstr("margayd.service:")));
}

}  // namespace
}  // namespace tests
