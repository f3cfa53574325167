// Options of several sources as one, and written as lines of a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/options.h"

namespace slurm {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MergedDirectives, TheLaterOneWins) {
  const Directives merged = merge({{"time", "01:00:00"}, {"qos", "a"}}, {{"time", "02:00:00"}});
  EXPECT_EQ(merged, (Directives{{"time", "02:00:00"}, {"qos", "a"}}));
}

TEST(MergedDirectives, OneKindOfMemoryReplacesTheOthers) {
  EXPECT_EQ(merge({{"mem", "4G"}, {"qos", "a"}}, {{"mem-per-cpu", "1G"}}),
            (Directives{{"mem-per-cpu", "1G"}, {"qos", "a"}}));
  EXPECT_EQ(merge({{"mem-per-gpu", "4G"}}, {{"mem", "0"}}), (Directives{{"mem", "0"}}));
}

TEST(MergedDirectives, OneWayToAskForGpusReplacesTheOthers) {
  EXPECT_EQ(merge({{"gres", "gpu:1"}}, {{"gpus-per-node", "2"}}),
            (Directives{{"gpus-per-node", "2"}}));
  EXPECT_EQ(merge({{"gres", "gpu:1,lscratch:9"}}, {{"gpus", "2"}}),
            (Directives{{"gpus", "2"}, {"gres", "lscratch:9"}}));
  EXPECT_EQ(merge({{"gpus-per-node", "2"}}, {{"gres", "gpu:4"}}), (Directives{{"gres", "gpu:4"}}));
  EXPECT_EQ(merge({{"gres", "gpu:a100:4,disk:1"}}, {{"gres", "lscratch:9"}}),
            (Directives{{"gres", "gpu:a100:4,lscratch:9"}}));
  EXPECT_EQ(merge({{"gres", "gpu:4"}}, {{"gres", "none"}}), (Directives{{"gres", "none"}}));
  EXPECT_EQ(merge({{"gpus-per-node", "2"}}, {{"gres", "lscratch:9"}}),
            (Directives{{"gpus-per-node", "2"}, {"gres", "lscratch:9"}}));
}

TEST(WrittenDirectives, StandBehindTheFirstLineInAFixedOrder) {
  const std::string script =
      "#!/bin/bash -l\n# my site\n#SBATCH --qos=old  # was\n\n#SBATCH -N2\nset -u\n"
      "cat <<E\n#SBATCH --nodes=text\nE\n";
  EXPECT_EQ(with_directives(script, {{"time", "01:00:00"},
                                     {"partition", "gpu"},
                                     {"exclusive", ""},
                                     {"constraint", "a b\"c"}}),
            "#!/bin/bash -l\n#SBATCH --partition=gpu\n#SBATCH --time=01:00:00\n"
            "#SBATCH --constraint=\"a b\\\"c\"\n#SBATCH --exclusive\n# my site\n\nset -u\n"
            "cat <<E\n#SBATCH --nodes=text\nE\n");
  EXPECT_THROW(with_directives("echo hi\n", {}), DirectiveError);
}

// Some value that fits the option.
std::string random_value(const std::string& option, std::mt19937& random) {
  const auto number = [&](int most) {
    return std::to_string(std::uniform_int_distribution<int>(1, most)(random));
  };
  if (option == "time") return number(9) + "-" + number(23) + ":" + number(59) + ":" + number(59);
  if (option.starts_with("mem")) return number(9999) + (random() % 2 == 0 ? "K" : "G");
  if (option == "tmp") return number(9999) + "G";
  if (option == "hint") return "nomultithread";
  if (option == "nodes" || option.starts_with("ntasks") || option.starts_with("cpus-per-")) {
    return number(64);
  }
  if (option == "gres") return "gpu:" + number(8) + ",disk:ssd:" + number(8);
  if (option.starts_with("gpus")) return random() % 2 == 0 ? number(8) : "a100:" + number(8);
  if (option == "signal") return random() % 2 == 0 ? "USR1" : "10@" + number(600);
  if (option == "nice") return "-" + number(1000);
  if (option == "mail-type") return "FAIL,BEGIN";
  if (option == "exclusive") return random() % 2 == 0 ? "" : "user";
  if (option == "begin" || option == "deadline") return "now+" + number(99) + "hours";
  const bool blanks = option == "constraint" || option == "error" || option == "chdir";
  std::string text = option == "chdir" ? "/" : "x";
  const std::string odd = blanks ? "ab \"'\\#%$`&|[]()é" : "ab\"'\\#%$`&|[]()é";
  for (int i = std::uniform_int_distribution<int>(0, 12)(random); i > 0; --i) {
    text += odd[std::uniform_int_distribution<size_t>(0, odd.size() - 1)(random)];
  }
  return text;
}

TEST(WrittenDirectives, AreReadBackAsTheyWere) {
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    Directives directives;
    for (const DirectiveOption& option : directive_options()) {
      if (random() % 3 == 0) {
        add_directive(directives, option.name, random_value(option.name, random), "test");
      }
    }
    const std::string lines = to_lines(directives);
    ASSERT_EQ(parse_directives("#!/bin/bash\n" + lines, "x"), directives) << lines;
    const std::string script = "#!/bin/bash\n#SBATCH --qos=old\n# note\necho\n";
    const std::string written = with_directives(script, directives);
    ASSERT_EQ(parse_directives(written, "x"), directives) << written;
    ASSERT_EQ(with_directives(written, directives), written);
    ASSERT_THAT(written, Not(HasSubstr("--qos=old")));
  }
}

TEST(WrittenDirectives, ACanonicalValueStaysAsItIs) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    for (const DirectiveOption& option : directive_options()) {
      const std::string once = option.canonical(random_value(option.name, random)).value();
      ASSERT_EQ(option.canonical(once), once) << option.name;
    }
  }
}

}  // namespace
}  // namespace slurm
