#include "slurm/sbatch/directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace slurm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Directives parse(const std::string& lines) {
  return parse_directives("#!/bin/bash\n" + lines, "x.sbatch");
}

std::string refusal(const std::string& lines) {
  try {
    check(parse(lines), "x.sbatch");
  } catch (const DirectiveError& error) {
    return error.what();
  }
  return "not refused";
}

Resources resources(const std::string& lines) { return resources_of(parse(lines), "x.sbatch"); }

TEST(DirectiveLines, LongOptionsComeWithAnEqualsSignOrABlank) {
  const Directives expected = {{"partition", "gpu"}, {"nodes", "2"}};
  EXPECT_EQ(parse("#SBATCH --partition=gpu\n#SBATCH --nodes=2\n"), expected);
  EXPECT_EQ(parse("#SBATCH --partition gpu   --nodes \t2"), expected);
}

TEST(DirectiveLines, ShortOptionsMayBeGluedToTheirValue) {
  const Directives expected = {
      {"partition", "gpu"}, {"nodes", "2-4"},      {"ntasks", "8"},       {"cpus-per-task", "3"},
      {"time", "01:30:00"}, {"account", "lab"},    {"qos", "high"},       {"constraint", "a100"},
      {"error", "e.log"},   {"chdir", "/tmp"},     {"nodelist", "n1"},    {"exclude", "n2"},
      {"gpus", "8"},        {"licenses", "foo:2"}, {"begin", "now+1hour"}};
  EXPECT_EQ(parse("#SBATCH -p gpu -N 2-4 -n 8 -c 3 -t 90 -A lab -q high -C a100\n"
                  "#SBATCH -e e.log -D /tmp -w n1 -x n2 -G 8 -L foo:2 -b now+1hour\n"),
            expected);
  EXPECT_EQ(parse("#SBATCH -pgpu -N2-4 -n8 -c3 -t90 -Alab -qhigh -Ca100\n"
                  "#SBATCH -ee.log -D/tmp -wn1 -xn2 -G8 -Lfoo:2 -bnow+1hour\n"),
            expected);
}

// Each of these was read by the real sbatch 22.05 in the same way.
TEST(DirectiveLines, QuotesEscapesAndCommentsAreAsSbatchHasThem) {
  EXPECT_EQ(parse("#SBATCH --constraint=\"a b#c\" # rest").at("constraint"), "a b#c");
  EXPECT_EQ(parse("#SBATCH --constraint=foo#bar --nodes=2"), (Directives{{"constraint", "foo"}}));
  EXPECT_EQ(parse("#SBATCH -C 'x\"y\\z'").at("constraint"), "x\"yz");
  EXPECT_EQ(parse("#SBATCH -C 'a\\'b'").at("constraint"), "a'b");
  EXPECT_EQ(parse("#SBATCH -C \"a\\\"b\\\\c\"").at("constraint"), "a\"b\\c");
  EXPECT_EQ(parse("#SBATCH -C \"a#b\"x").at("constraint"), "a#bx");
  EXPECT_EQ(parse("#SBATCH -C a\\#b").at("constraint"), "a#b");
  EXPECT_EQ(parse("#SBATCH--qos=a").at("qos"), "a");
  EXPECT_THAT(refusal("#SBATCH -L a\\ b"), HasSubstr("'b' is not an option"));
  EXPECT_THAT(refusal("#SBATCH -C \"open"), HasSubstr("line 2: a quote is not closed"));
}

TEST(DirectiveLines, EndAtTheFirstCommand) {
  const Directives read = parse(
      "# a comment\n\n   # indented\n ##SBATCH --qos=no\n #SBATCH --qos=no\n##SBATCH --qos=no\n"
      "#SBATCH --account=early\necho hi\n#SBATCH --account=late\n");
  EXPECT_EQ(read, (Directives{{"account", "early"}}));
}

TEST(DirectiveLines, AnOptionTwiceMustSayTheSame) {
  EXPECT_EQ(parse("#SBATCH --time=60\n#SBATCH -t 1:00:00").at("time"), "01:00:00");
  EXPECT_THAT(
      refusal("#SBATCH --time=60\n\n#SBATCH -t 61"),
      AllOf(HasSubstr("x.sbatch, line 4"), HasSubstr("given twice"), HasSubstr("01:01:00")));
}

TEST(DirectiveLines, MargaysOwnOptionsAreRefusedWithTheReason) {
  for (const std::string option :
       {"job-name=x", "output=x", "requeue", "no-requeue", "dependency=singleton", "array=0-3",
        "hold", "comment=x", "test-only", "wait", "parsable"}) {
    EXPECT_THAT(refusal("#SBATCH --" + option),
                AllOf(HasSubstr("line 2: --"), HasSubstr("Margay")));
  }
  for (const std::string option : {"J x", "o x", "d x", "a 3", "H", "W"}) {
    EXPECT_THAT(refusal("#SBATCH -" + option),
                AllOf(HasSubstr("cannot be set"), HasSubstr("Margay")));
  }
  EXPECT_THAT(refusal("#SBATCH -J x"), HasSubstr("goes into the job's comment"));
}

TEST(DirectiveLines, UnknownOptionsAreRefusedWithTheNearestKnownOne) {
  EXPECT_THAT(refusal("#SBATCH --partion=x"), HasSubstr("did you mean 'partition'?"));
  EXPECT_THAT(refusal("#SBATCH --part=x"), HasSubstr("no option --part"));
  EXPECT_THAT(refusal("#SBATCH --export=ALL"), HasSubstr("none of those that Margay passes on"));
  EXPECT_THAT(refusal("#SBATCH -M other"), HasSubstr("--clusters"));
  EXPECT_THAT(refusal("#SBATCH -Z"), HasSubstr("no option -Z"));
  EXPECT_THAT(refusal("#SBATCH partition=x"), HasSubstr("'partition=x' is not an option"));
  EXPECT_THAT(refusal("#SBATCH hetjob"), HasSubstr("unlike parts"));
  EXPECT_THAT(refusal("#SBATCH --nodes"), HasSubstr("needs a value in the same line"));
  EXPECT_THAT(refusal("#SBATCH --nodes=2\r\necho\r\n"), HasSubstr("Windows line ends"));
}

TEST(DirectiveValues, TimesAreSbatchsSix) {
  const std::map<std::string, std::string> times = {{"90", "01:30:00"},
                                                    {"90:10", "01:30:10"},
                                                    {"1:90:90", "02:31:30"},
                                                    {"1-", "bad"},
                                                    {"1-2", "1-02:00:00"},
                                                    {"1-2:3", "1-02:03:00"},
                                                    {"1-2:3:4", "1-02:03:04"},
                                                    {"25:00:00", "1-01:00:00"},
                                                    {"0", "UNLIMITED"},
                                                    {"unlimited", "UNLIMITED"},
                                                    {"INFINITE", "UNLIMITED"},
                                                    {"5m", "bad"},
                                                    {"", "bad"},
                                                    {"1:2:3:4", "bad"},
                                                    {"-5", "bad"},
                                                    {"1-2-3", "bad"},
                                                    {"99999999999999999999", "bad"}};
  for (const auto& [given, expected] : times) {
    if (expected == "bad") {
      EXPECT_THAT(refusal("#SBATCH --time=\"" + given + "\""), HasSubstr("--time must be"))
          << given;
    } else {
      EXPECT_EQ(parse("#SBATCH --time=" + given).at("time"), expected) << given;
    }
  }
  EXPECT_EQ(resources("#SBATCH -t 0:01").time_minutes, 1);
  EXPECT_EQ(resources("#SBATCH -t 2-0").time_minutes, 2880);
  EXPECT_EQ(resources("#SBATCH -t UNLIMITED").time_minutes, -1);
}

TEST(DirectiveValues, MemoryHasUnits) {
  const std::map<std::string, int64_t> sizes = {
      {"500", 500},      {"500M", 500}, {"32G", 32'768}, {"32g", 32'768}, {"32GB", 32'768},
      {"1T", 1'048'576}, {"1K", 1},     {"1025K", 2},    {"0", 0}};
  for (const auto& [given, megabytes] : sizes) {
    EXPECT_EQ(resources("#SBATCH --mem=" + given).memory_per_node_mb, megabytes) << given;
  }
  for (const std::string given : {"1.5G", "1P", "G", "-1", "32Gfoo", "12B", "99999999T"}) {
    EXPECT_THAT(refusal("#SBATCH --mem=" + given), HasSubstr("--mem must be")) << given;
  }
  EXPECT_EQ(resources("#SBATCH --mem-per-cpu=2G").memory_per_cpu_mb, 2048);
  EXPECT_THAT(refusal("#SBATCH --mem-per-cpu=0"), HasSubstr("--mem-per-cpu must be"));
}

TEST(DirectiveValues, ThatDoNotFitTheirOptionAreRefused) {
  for (const std::string option : {"nodes=0",
                                   "nodes=4-2",
                                   "nodes=2,4",
                                   "nodes=n1",
                                   "ntasks=0",
                                   "ntasks=-1",
                                   "ntasks=x",
                                   "ntasks-per-node=0",
                                   "cpus-per-task=1.5",
                                   "gres=gpu:0",
                                   "gres=gpu:a:b:3",
                                   "gres=,",
                                   "gpus=gpu:4",
                                   "gpus=a:3,b:2",
                                   "gpus=0",
                                   "gpus-per-node=many",
                                   "gpus-per-task=",
                                   "exclusive=yes",
                                   "nice=much",
                                   "signal=B:USR1@30",
                                   "signal=R:USR1@30",
                                   "signal=FOO@3",
                                   "signal=USR1@99999",
                                   "mail-type=SOMETIMES",
                                   "mail-user=\"a b\"",
                                   "nodelist=/tmp/hosts",
                                   "exclude=./hosts",
                                   "chdir=here",
                                   "partition=",
                                   "partition=\"a b\"",
                                   "begin=\"$(id)\"",
                                   "error="}) {
    const std::string name = option.substr(0, option.find('='));
    EXPECT_THAT(refusal("#SBATCH --" + option), HasSubstr("--" + name + " must be ")) << option;
  }
  Directives directives;
  EXPECT_THROW(add_directive(directives, "constraint", "a\n#SBATCH --nodes=9", "slurm.options"),
               DirectiveError);
}

TEST(DirectiveValues, EveryOptionReachesTheRequest) {
  const Resources all = resources(
      "#SBATCH --mail-user=a@b --mail-type=fail,END --time=60 --partition=p --qos=q --account=a\n"
      "#SBATCH --nodes=2-4 --ntasks=8 --ntasks-per-node=4 --cpus-per-task=3 --gres=gpu:4\n"
      "#SBATCH --constraint='x&y' --exclusive --error=%x-%j.err --chdir=/data --reservation=r\n"
      "#SBATCH --licenses=l:1 --nice=7 --nodelist=n[1-2] --exclude=n3 --signal=SIGUSR1@120\n"
      "#SBATCH --begin=now+1hour --deadline=2030-01-31T12:00:00 --mem-per-gpu=2G\n");
  EXPECT_EQ(all.mail_user, "a@b");
  EXPECT_EQ(all.mail_type, "END,FAIL");
  EXPECT_EQ(all.time_minutes, 60);
  EXPECT_EQ(all.partition, "p");
  EXPECT_EQ(all.qos, "q");
  EXPECT_EQ(all.account, "a");
  EXPECT_EQ(all.min_nodes, 2);
  EXPECT_EQ(all.max_nodes, 4);
  EXPECT_EQ(all.tasks, 8);
  EXPECT_EQ(all.tasks_per_node, 4);
  EXPECT_EQ(all.cpus_per_task, 3);
  EXPECT_EQ(all.gres, "gpu:4");
  EXPECT_EQ(all.memory_per_node_mb, 8192);
  EXPECT_EQ(all.constraint, "x&y");
  EXPECT_EQ(all.exclusive, "exclusive");
  EXPECT_EQ(all.error_path, "%x-%j.err");
  EXPECT_EQ(all.directory, "/data");
  EXPECT_EQ(all.reservation, "r");
  EXPECT_EQ(all.licenses, "l:1");
  EXPECT_EQ(all.nice, 7);
  EXPECT_EQ(all.nodelist, "n[1-2]");
  EXPECT_EQ(all.exclude, "n3");
  EXPECT_EQ(all.signal_name, "USR1");
  EXPECT_EQ(all.signal_delay, 120);
  EXPECT_EQ(all.begin, "now+1hour");
  EXPECT_EQ(all.deadline, "2030-01-31T12:00:00");
  EXPECT_EQ(gpus_of(all), 16);
  EXPECT_EQ(resources("#SBATCH --exclusive=user --nice").exclusive, "user");
  EXPECT_EQ(resources("#SBATCH --nice").nice, 100);
  EXPECT_EQ(resources("#SBATCH --gpus=a100:8").gpus, "a100:8");
  EXPECT_EQ(resources("#SBATCH --gpus-per-node=4").gpus_per_node, "4");
  EXPECT_EQ(resources("#SBATCH -n 3 --gpus-per-task=2").gpus_per_task, "2");
}

TEST(DirectiveContradictions, AreRefused) {
  EXPECT_THAT(refusal("#SBATCH --mem=4G --mem-per-cpu=1G"), HasSubstr("--mem and --mem-per-cpu"));
  EXPECT_THAT(refusal("#SBATCH --mem=4G --mem-per-gpu=1G --gres=gpu:1"), HasSubstr("exclude each"));
  EXPECT_THAT(refusal("#SBATCH --mem-per-cpu=4G --mem-per-gpu=1G"), HasSubstr("exclude each"));
  EXPECT_THAT(refusal("#SBATCH --mem-per-gpu=4G"), HasSubstr("number of GPUs on each node"));
  EXPECT_THAT(refusal("#SBATCH --mem-per-gpu=4G --gpus=4"), HasSubstr("on each node"));
  EXPECT_THAT(refusal("#SBATCH --mem-per-gpu=4G --gpus=4 -N1-2"), HasSubstr("on each node"));
  EXPECT_THAT(refusal("#SBATCH --gpus-per-task=1"), HasSubstr("--ntasks"));
  EXPECT_THAT(refusal("#SBATCH --gres=gpu:2 --gpus-per-node=4"), HasSubstr("differ"));
  EXPECT_THAT(refusal("#SBATCH --gpus=7 --gres=gpu:2 -N2-3"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal("#SBATCH --gpus=3 --gpus-per-task=1 -n4"), HasSubstr("--ntasks=4"));
  EXPECT_THAT(refusal("#SBATCH -N4 -n3"), HasSubstr("less than one task"));
  EXPECT_THAT(refusal("#SBATCH -N2 -n5 --ntasks-per-node=2"), HasSubstr("more than"));
  EXPECT_THAT(refusal("#SBATCH -w n1,n2 -x n2"), HasSubstr("'n2'"));
}

TEST(DirectiveContradictions, WhatOnlyLooksLikeOneIsTaken) {
  EXPECT_EQ(refusal("#SBATCH --gres=gpu:2 --gpus-per-node=2"), "not refused");
  EXPECT_EQ(resources("#SBATCH --gres=gpu:2 --gpus-per-node=2").gpus_per_node, "");
  EXPECT_EQ(refusal("#SBATCH --gpus=8 --gres=gpu:4 -N2"), "not refused");
  EXPECT_EQ(refusal("#SBATCH --gpus-per-task=1 --ntasks-per-node=4 -N2"), "not refused");
  EXPECT_EQ(refusal("#SBATCH -N2-4 -n3 --ntasks-per-node=1"), "not refused");
}

TEST(DirectiveContradictions, MemoryPerGpuBecomesMemoryPerNode) {
  EXPECT_EQ(resources("#SBATCH --mem-per-gpu=3G --gres=gpu:4 -N2").memory_per_node_mb, 12'288);
  EXPECT_EQ(resources("#SBATCH --mem-per-gpu=3G --gpus-per-node=a100:2").memory_per_node_mb, 6144);
  EXPECT_EQ(resources("#SBATCH --mem-per-gpu=1G --gpus=4 -N1").memory_per_node_mb, 4096);
  EXPECT_EQ(resources("#SBATCH --mem-per-gpu=1G --gpus-per-task=2 --ntasks-per-node=3")
                .memory_per_node_mb,
            6144);
}

TEST(Gpus, OfTheWholeJobAreCounted) {
  EXPECT_EQ(gpus_of(resources("")), 0);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gres=lscratch:100")), 0);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gres=gpu")), 1);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gres=gpu:a100:2,gpu:h100:2 -N3")), 12);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gpus-per-node=4 -N4")), 16);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gpus=a100:7 -N4")), 7);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gpus-per-task=2 -n5 -N2")), 10);
  EXPECT_EQ(gpus_of(resources("#SBATCH --gpus-per-task=2 --ntasks-per-node=2 -N2")), 8);
}

// Any text: an answer or a DirectiveError, never anything else.
TEST(DirectiveLines, NoTextIsTooStrange) {
  std::mt19937 random(6);
  const std::vector<std::string> pieces = {
      "#SBATCH", " ",   "--", "-",  "nodes",       "=",      "mem", "time", "gres",
      "gpus",    "gpu", ":",  "9",  "99999999999", "-1",     "T",   "\"",   "'",
      "\\",      "#",   "\n", "\t", "N",           "signal", "@",   ",",    "é"};
  for (int round = 0; round < 20'000; ++round) {
    std::string script = "#!/bin/bash\n#SBATCH ";
    for (int i = 0; i < 12; ++i) script += pieces[random() % pieces.size()];
    try {
      const Directives directives = parse_directives(script, "x");
      const std::string lines = to_lines(directives);
      ASSERT_EQ(parse(lines), directives) << script;
      EXPECT_GE(gpus_of(resources_of(directives, "x")), 0);
    } catch (const DirectiveError&) {
    }
  }
}

TEST(Resources, AValueThatDoesNotFitIsNamedWhereverItComesFrom) {
  for (const auto& [option, value] :
       Directives{{"time", "soon"}, {"nodes", "many"}, {"mem", "much"}, {"nice", "very"}}) {
    try {
      resources_of({{option, value}}, "item 7");
      ADD_FAILURE() << option;
    } catch (const DirectiveError& error) {
      EXPECT_NE(std::string(error.what()).find("item 7: --" + option), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace slurm
