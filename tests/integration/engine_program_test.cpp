// The real program at the terminal: help, usage, backends, odd file names, picking again.

#include "tests/integration/engine_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <tuple>

#include "engine/io/mrc.h"
#include "tests/require.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST_F(EngineProgram, EverySubcommandExplainsItselfWithAnExample) {
  for (const std::string command :
       {"init", "match", "plan", "simulate", "selftest", "scale", "peaks", "project", "info"}) {
    const Finished help = run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.output, HasSubstr("Example:\n  margay-engine " + command));
    EXPECT_THAT(run({"--help"}).output, HasSubstr("  " + command + " "));
  }
}

TEST_F(EngineProgram, UsageErrorsEndWithStatus2AndNameTheOption) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "subcommand"},
      {{"match"}, "CONFIG"},
      {{"match", "c.yaml", "--threads", "-1"}, "--threads"},
      {{"match", "c.yaml", "--threads", "two"}, "--threads"},
      {{"match", "c.yaml", "--batch", "x"}, "--batch"},
      {{"match", "c.yaml", "--memory", "1"}, "--memory: expected a number from 2"},
      {{"match", "c.yaml", "--backend", "gpu"}, "--backend"},
      {{"match", "c.yaml", "--fft", "fftx"}, "--fft"},
      {{"plan", "c.yaml", "--precision", "half"}, "--precision"},
      {{"selftest", "--precision", "bf16"}, "--precision"},
      {{"match", "c.yaml", "--no-such-option"}, "--no-such-option"},
      {{"match", "c.yaml", "--checkpoint-every", "10"}, "--checkpoint-every"},
      {{"match", "c.yaml", "--metric", "z"}, "--metric"},
      {{"peaks", "c.yaml", "--false-positives", "0"}, "--false-positives"},
      {{"project", "t.mrc"}, "--output"},
      {{"project", "t.mrc", "--output", "p.mrc", "--phi", "nan"}, "--phi"},
      {{"simulate", "--output", "x.mrc", "--config", "c.yaml", "--voltage", "200"}, "--voltage"},
      {{"simulate", "--output", "x.mrc", "--seed", "eight"}, "--seed: expected a whole number"},
      {{"simulate", "--output", "x.mrc"}, "--template"}};
  for (const auto& [arguments, word] : cases) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << word;
    EXPECT_THAT(refused.error, HasSubstr(word));
  }
}

// Refused before a device is looked for, so wherever the command is tried.
TEST_F(EngineProgram, TransformsThatCannotBeHadAreRefusedWithWhatToDo) {
  search_.write_config();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--backend", "cpu", "--fft", "cufft"}, "omit --fft"},
      {{"--backend", "cuda", "--fft", "fftw"}, "omit --fft"},
      {{"--backend", "cpu", "--precision", "fp16"}, "omit --precision"},
      {{"--backend", "cuda", "--fft", "cufft", "--precision", "fp16"}, "use --fft fused"},
      {{"--fft", "cufft", "--precision", "fp16"}, "use --fft fused"}};
  for (const std::string command : {"match", "plan"}) {
    for (const auto& [options, word] : cases) {
      std::vector<std::string> arguments = {command, "search.yaml"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const Finished refused = run(arguments);
      EXPECT_EQ(refused.exit_code, 2) << refused.error;
      EXPECT_THAT(refused.error, HasSubstr(word));
    }
  }
  EXPECT_THAT(run({"selftest", "--backend", "cpu", "--fft", "cufft"}).error,
              HasSubstr("omit --fft"));
  EXPECT_FALSE(std::filesystem::exists(search_.file("out")));
}

// Where there is a device, it is hidden: auto is the processor then.
TEST_F(EngineProgram, HalvesAreNeverSilentlyReplacedByTheProcessorsPrecision) {
  search_.write_config();
  const Finished refused = run_program({"/usr/bin/env", "CUDA_VISIBLE_DEVICES=", engine_program(),
                                        "match", "search.yaml", "--precision", "fp16"},
                                       search_.folder());
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.error, testing::AnyOf(HasSubstr("--precision"), HasSubstr("NVIDIA")));
  EXPECT_FALSE(std::filesystem::exists(search_.file("out")));
}

TEST_F(EngineProgram, ABackendThatIsNotThereIsNeverReplacedSilently) {
  search_.write_config();
  // Where there is a device, it is hidden.
  const Finished refused = run_program({"/usr/bin/env", "CUDA_VISIBLE_DEVICES=", engine_program(),
                                        "match", "search.yaml", "--backend", "cuda"},
                                       search_.folder());
  EXPECT_TRUE(refused.exit_code == 64 || refused.exit_code == 70) << refused.exit_code;
  EXPECT_THAT(refused.error, HasSubstr("--backend cpu"));
  EXPECT_FALSE(std::filesystem::exists(search_.file("out")));
}

TEST_F(EngineProgram, InfoTellsTheBuildAndTheHeaders) {
  EXPECT_THAT(run({"info"}).output,
              AllOf(HasSubstr("instruction set"), HasSubstr("cpu"),
                    ContainsRegex("free memory      [0-9.]+ [MGT]B\n"),
                    HasSubstr("transforms       fused fp32 of every length")));
  EXPECT_THAT(run({"info", "--json"}).output,
              AllOf(HasSubstr("\"transforms\": ["), HasSubstr("\"measured\": true"),
                    HasSubstr("\"vector_floats\": ")));
  EXPECT_THAT(run({"info", "image.mrc"}).output,
              AllOf(HasSubstr("64 columns x 48 rows"), HasSubstr("2 x 2")));
  EXPECT_THAT(run({"info", "--json", "image.mrc", "template.mrc"}).output,
              AllOf(HasSubstr("\"columns\": 64"), HasSubstr("\"sections\": 16")));
  const Finished build = run({"info", "--build"});
  EXPECT_EQ(build.exit_code, 0) << build.error;
  EXPECT_THAT(build.output, AllOf(HasSubstr("  backends         cpu"), HasSubstr("fft"),
                                  ::testing::Not(HasSubstr("cores"))));
  EXPECT_THAT(run({"info", "--build", "--json"}).output,
              AllOf(HasSubstr("\"backends\": ["), ::testing::Not(HasSubstr("measured"))));
  EXPECT_EQ(run({"info", "--build", "image.mrc"}).exit_code, 2);
  const Finished refused = run({"info", "absent.mrc"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.error, HasSubstr("absent.mrc"));
  const Finished some = run({"info", "absent.mrc", "image.mrc"});
  EXPECT_EQ(some.exit_code, 64);
  EXPECT_THAT(some.error, HasSubstr("absent.mrc"));
  EXPECT_THAT(some.output, HasSubstr("64 columns x 48 rows"));
}

TEST_F(EngineProgram, FftwIsThereAndGuessesItsRate) {
  if (run({"info"}).output.find("fftw") == std::string::npos) {
    MARGAY_SKIP_FOR_WANT_OF("fftw", "this build has no FFTW");
  }
  search_.write_config();
  EXPECT_THAT(run({"info"}).output, HasSubstr("transforms       fftw fp32"));
  EXPECT_THAT(run({"plan", "search.yaml", "--backend", "cpu", "--fft", "fftw", "--json"}).output,
              AllOf(HasSubstr("\"fft\": \"fftw\""), HasSubstr("\"measured\": false"),
                    HasSubstr("\"basis\": \"guessed\"")));
}

std::string with_every_key(const std::string& yaml) {
  return std::regex_replace(yaml, std::regex("\n#((  )?[a-z_]+:)"), "\n$1");
}

TEST_F(EngineProgram, SelftestRefusesAFolderWithoutTheKnownAnswers) {
  const Finished refused = run({"selftest", "--data", "nowhere"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.error, HasSubstr("--data: 'nowhere' does not hold lsu_crop.yaml"));
}

TEST_F(EngineProgram, PlanCountsAndWritesNothing) {
  search_.write_config();
  const auto before = search_.contents();
  const Finished plan = run({"plan", "search.yaml", "--backend", "cpu", "--json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.error;
  EXPECT_THAT(plan.output,
              AllOf(HasSubstr("\"correlations\""), HasSubstr("\"memory_bytes\""),
                    HasSubstr("\"fft\": \"fused\""), HasSubstr("\"precision\": \"fp32\""),
                    HasSubstr("\"measured\": true"), HasSubstr("\"basis\": \"measured\"")));
  EXPECT_THAT(run({"plan", "search.yaml", "--backend", "cpu"}).output,
              AllOf(HasSubstr(" correlations/s (measured on this machine")));
  EXPECT_EQ(search_.contents(), before);
}

TEST_F(EngineProgram, PlanForAnImageOfAnySizeNeedsNoMicrograph) {
  search_.write_config();
  std::filesystem::remove(search_.file("image.mrc"));
  const Finished plan =
      run({"plan", "search.yaml", "--backend", "cpu", "--json", "--image-size", "128"});
  EXPECT_EQ(plan.exit_code, 0) << plan.error;
  EXPECT_THAT(plan.output, AllOf(HasSubstr("\"height\": 128"), HasSubstr("\"width\": 128"),
                                 HasSubstr("\"pixel_sizes\": 1"), HasSubstr("\"version\": \""),
                                 HasSubstr("\"template_size\": 16")));
  EXPECT_EQ(run({"plan", "search.yaml", "--backend", "cpu"}).exit_code, 64);
  const Finished small =
      run({"plan", "search.yaml", "--backend", "cpu", "--json", "--image-size", "2"});
  EXPECT_THAT(small.output, HasSubstr("\"height\": 16")) << "no smaller than the template";
}

TEST_F(EngineProgram, PlanTellsWhatEachOfSeveralRanksTakes) {
  search_.write_config();
  const Finished plan =
      run({"plan", "search.yaml", "--backend", "cpu", "--nproc", "3", "--threads", "2"});
  EXPECT_EQ(plan.exit_code, 0) << plan.error;
  EXPECT_THAT(plan.output, AllOf(HasSubstr("cpu, fused fp32 in vectors of "),
                                 HasSubstr(", 2 threads\n"), HasSubstr("\n3 ranks, each")));
  EXPECT_THAT(plan.output, ::testing::Not(HasSubstr("exchange with other ranks")));
  EXPECT_THAT(plan.output, AllOf(HasSubstr(" correlations/s (extrapolated: "),
                                 HasSubstr("for one rank alone, times 3;")));
  EXPECT_THAT(run({"plan", "search.yaml", "--backend", "cpu", "--nproc", "2", "--json"}).output,
              AllOf(HasSubstr("\"measured\": false"), HasSubstr("\"basis\": \"extrapolated\"")));
}

TEST_F(EngineProgram, SeveralDevicesInTheConfigurationAreNoRanksOnProcessors) {
  for (const std::string devices : {"all", "[0, 1]"}) {
    search_.sections["computational_config"] = "{gpu_ids: " + devices + "}";
    const Finished match = search_.match({"--overwrite"});
    EXPECT_EQ(match.exit_code, 0) << match.error;
    EXPECT_THAT(match.error, HasSubstr("gpu_ids names devices; this search runs on the processor"));
    EXPECT_THAT(read(search_.file("out/manifest.json")), ::testing::Not(HasSubstr("\"rank\":")));
  }
}

TEST_F(EngineProgram, NamesWithBlanksQuotesNewlinesAndOtherLettersWorkToTheCsv) {
  // The same name as bytes and as YAML.
  const std::string name = "a b'c\"d\ne\xc3\xa4";
  const std::string written = "a b'c\\\"d\\ne\\u00e4";
  std::filesystem::create_directory(search_.file(name));
  std::filesystem::rename(search_.file("image.mrc"), search_.file(name + "/" + name + ".mrc"));
  search_.sections["micrograph_path"] = "\"" + written + "/" + written + ".mrc\"";
  search_.results = written + "/out";
  search_.write_config(name + ".yaml");
  const std::string csv = name + "/lists/" + name + ".csv";
  const Finished searched = run({"match", name + ".yaml", "--backend", "cpu", "--threads", "1",
                                 "--output", csv, "--false-positives", "5000"});
  ASSERT_EQ(searched.exit_code, 0) << searched.error;
  EXPECT_TRUE(std::filesystem::exists(search_.file(name + "/out/scaled_mip.mrc")));
  EXPECT_TRUE(std::filesystem::exists(search_.file(name + "/lists/" + name + "_manifest.json")));
  // In CSV a quote within a quoted field is doubled.
  EXPECT_THAT(read(search_.file(csv)), HasSubstr("a b'c\"\"d\ne\xc3\xa4.mrc"));
}

TEST_F(EngineProgram, SearchesShareTheFolderOfTheirPeakLists) {
  for (const std::string name : {"first", "second"}) {
    search_.results = "maps_of_" + name;
    const Finished searched = search_.match({"--output", "lists/" + name + ".csv"});
    ASSERT_EQ(searched.exit_code, 0) << searched.error;
  }
  for (const std::string name : {"first", "second"}) {
    for (const char* file : {".csv", "_manifest.json", "_progress.json", "_scaled_mip.png",
                             "_micrograph_peaks.png", "_z_histogram.png"}) {
      EXPECT_TRUE(std::filesystem::exists(search_.file("lists/" + name + file))) << name << file;
    }
    EXPECT_THAT(read(search_.file("lists/" + name + "_manifest.json")),
                HasSubstr("lists/" + name + "_scaled_mip.png"));
  }
  EXPECT_THAT(search_.match({"--output", "lists/second.csv"}).error,
              AllOf(HasSubstr("second_manifest.json' exists"), HasSubstr("--output DIR/NAME.csv")));
}

// As the peak list has them: the first row's particle_index is 0.
TEST_F(EngineProgram, MatchPrintsItsBestPeaks) {
  const Finished searched = search_.match({"--false-positives", "5000"});
  ASSERT_EQ(searched.exit_code, 0) << searched.error;
  EXPECT_THAT(searched.output, HasSubstr("      z     x px    y px     phi   theta     psi"));
  std::istringstream list(read(search_.file("out/scaled_mip_peaks.csv")));
  std::string names;
  std::string row;
  std::getline(list, names);
  std::getline(list, row);
  const auto field = [&](const std::string& name) {
    std::istringstream all(names);
    std::istringstream values(row);
    std::string one;
    std::string value;
    while (std::getline(all, one, ',') && std::getline(values, value, ',')) {
      if (one == name) return std::stod(value);
    }
    return -1e9;
  };
  std::array<char, 64> best{};
  std::snprintf(best.data(), best.size(), "\n%7.2f  %7.0f %7.0f  %6.1f", field("scaled_mip"),
                field("pos_x_img"), field("pos_y_img"), field("phi"));
  EXPECT_THAT(searched.output, HasSubstr(best.data()));
  EXPECT_THAT(searched.output, HasSubstr(" more in the peak list\n"));
  EXPECT_THAT(search_.match({"--overwrite", "--false-positives", "0.000001"}).output,
              testing::Not(HasSubstr("x px")))
      << "there is none";
}

TEST_F(EngineProgram, AMicrographOnTheCommandLineTakesThePlaceOfTheConfigurations) {
  search_.write_config();
  std::filesystem::rename(search_.file("image.mrc"), search_.file("other.mrc"));
  EXPECT_EQ(run({"match", "search.yaml", "--backend", "cpu"}).exit_code, 64);
  const Finished planned =
      run({"plan", "search.yaml", "--backend", "cpu", "--micrograph", "other.mrc"});
  EXPECT_EQ(planned.exit_code, 0) << planned.error;
  EXPECT_THAT(planned.output, HasSubstr("other.mrc: "));
  const Finished searched = run({"match", "search.yaml", "--backend", "cpu", "--threads", "1",
                                 "--micrograph", "other.mrc", "--false-positives", "5000"});
  ASSERT_EQ(searched.exit_code, 0) << searched.error;
  EXPECT_THAT(read(search_.file("out/manifest.json")), HasSubstr("other.mrc"));
  EXPECT_THAT(read(search_.file("out/scaled_mip_peaks.csv")), HasSubstr(",other.mrc,"));
}

TEST_F(EngineProgram, PeaksPicksFromTheMapsWhatMatchPicked) {
  ASSERT_EQ(search_.match({"--false-positives", "5000"}).exit_code, 0);
  const std::string list = read(search_.file("out/scaled_mip_peaks.csv"));
  ASSERT_GT(std::count(list.begin(), list.end(), '\n'), 2) << "no peak to compare";
  EXPECT_EQ(run({"peaks", "search.yaml", "--false-positives", "5000"}).output, list);
  ASSERT_EQ(
      run({"peaks", "search.yaml", "--false-positives", "5000", "--output", "again.csv"}).exit_code,
      0);
  EXPECT_EQ(read(search_.file("again.csv")), list);
  EXPECT_EQ(run({"peaks", "search.yaml", "--output", "again.csv"}).exit_code, 64);
  EXPECT_THAT(run({"peaks", "search.yaml", "--cutoff", "1e5"}).error, HasSubstr("0 peaks above"));
  // Without the manifest the correlations are counted, and come to the same.
  std::filesystem::remove(search_.file("out/manifest.json"));
  EXPECT_EQ(run({"peaks", "search.yaml", "--false-positives", "5000"}).output, list);
}

TEST_F(EngineProgram, NoPeakIsPickedWithinTheParticlesRadiusOfAHigherOne) {
  search_.sections["peaks"] = "{false_positives: 5000, particle_radius: 1000}";
  search_.write_config();
  ASSERT_EQ(search_.match({}).exit_code, 0);
  const auto lines = [&] {
    const std::string list = read(search_.file("out/scaled_mip_peaks.csv"));
    return std::count(list.begin(), list.end(), '\n');
  };
  EXPECT_EQ(lines(), 2) << "the names of the columns, and one peak";
  EXPECT_THAT(run({"peaks", "search.yaml"}).error, HasSubstr("1 peak above "));
  const Finished again = run({"peaks", "search.yaml", "--mask-radius", "5"});
  EXPECT_GT(std::count(again.output.begin(), again.output.end(), '\n'), 2);
}

}  // namespace
}  // namespace tests
