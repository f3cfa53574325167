// The real program, killed and stopped at random instants: what it resumes to is what it would have
// made undisturbed, to the bit.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/program.h"

namespace tests {
namespace {

const char* const kMaps[] = {"mip", "scaled_mip", "mean", "sd", "psi", "theta", "phi", "defocus"};
constexpr size_t kMrcHeader = 1024;  // holds a label; the pixels follow

std::string pixels(const std::string& path) {
  const std::string file = text_of(path);
  return file.size() > kMrcHeader ? file.substr(kMrcHeader) : "";
}

// A short search of the unit image, its results in `folder`.
void write_config(const std::string& folder) {
  std::ofstream out(folder + "/config.yaml");
  out << "template_volume_path: " << MARGAY_TEST_DATA << "/lsu_2.0A_128.mrc\n"
      << "micrograph_path: " << MARGAY_TEST_DATA << "/unit_384x500.mrc\n"
      << "optics_group: {label: unit, pixel_size: 2.0, voltage: 300.0, defocus_u: 10200.0,\n"
      << "  defocus_v: 9800.0, astigmatism_angle: 35.0}\n"
      << "defocus_search_config: {defocus_min: 0.0, defocus_max: 200.0, defocus_step: 200.0}\n"
      << "orientation_search_config: {psi_step: 20.0, theta_step: 60.0, symmetry: C2}\n"
      << "preprocessing_filters: {}\n"
      << "computational_config: {gpu_ids: cpu}\n"
      << "match_template_result:\n"
      << "  mip_path: mip.mrc\n  scaled_mip_path: scaled_mip.mrc\n"
      << "  correlation_average_path: mean.mrc\n  correlation_variance_path: sd.mrc\n"
      << "  orientation_psi_path: psi.mrc\n  orientation_theta_path: theta.mrc\n"
      << "  orientation_phi_path: phi.mrc\n  relative_defocus_path: defocus.mrc\n";
}

std::vector<std::string> match(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {MARGAY_BIN_DIR "/margay-engine", "match", "config.yaml",
                                        "--backend", "cpu"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void expect_same_maps(const std::string& folder, const std::string& reference) {
  for (const std::string map : kMaps) {
    const std::string expected = pixels(reference + "/" + map + ".mrc");
    ASSERT_FALSE(expected.empty()) << map;
    EXPECT_TRUE(pixels(folder + "/" + map + ".mrc") == expected) << map << " differs";
  }
}

int repetitions() {
  const char* wanted = std::getenv("MARGAY_LONG");
  return wanted != nullptr && std::string(wanted) == "1" ? 100 : 3;
}

class InterruptedSearch : public testing::Test {
 protected:
  void SetUp() override {
    write_config(undisturbed_.path());
    const auto start = std::chrono::steady_clock::now();
    const Finished f = run_program(match({"--threads", "1"}), undisturbed_.path());
    ASSERT_EQ(f.exit_code, 0) << f.error;
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // Runs until it ends by itself, disturbed at random instants; how often it was.
  int run_disturbed(int signal, const ScratchFolder& folder, std::mt19937& random) {
    std::uniform_real_distribution<double> part(0.2, 1.1);
    constexpr int kMostTries = 200;
    for (int disturbed = 0; disturbed < kMostTries; ++disturbed) {
      std::vector<std::string> options = {"--checkpoint",
                                          "search.mgc",
                                          "--checkpoint-every",
                                          "1ms",
                                          "--batch",
                                          std::to_string(1 + random() % 3),
                                          "--threads",
                                          std::to_string(1 + random() % 3)};
      if (std::filesystem::exists(folder / "search.mgc")) {
        options.insert(options.end(), {"--resume", "search.mgc"});
      }
      Program program(match(options), folder.path());
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds_ * part(random)));
      program.signal(signal);
      const Finished f = program.wait();
      if (f.exit_code == 0) {
        EXPECT_FALSE(std::filesystem::exists(folder / "search.mgc"))
            << "the checkpoint of a finished search was left";
        return disturbed;
      }
      // The manifest decides: what came after it disturbed nothing.
      if (std::filesystem::exists(folder / "manifest.json")) return disturbed;
      // Only before it listens to signals does SIGTERM end the program like SIGKILL.
      if (f.exit_code == 85) ++checkpointed_;
      EXPECT_TRUE(f.exit_code == 85 || f.signal == signal) << f.exit_code << " " << f.error;
    }
    ADD_FAILURE() << "no end after " << kMostTries << " tries";
    return kMostTries;
  }

  void disturb_again_and_again(int signal) {
    std::mt19937 random(static_cast<unsigned>(signal));
    int disturbed = 0;
    for (int i = 0; i < repetitions(); ++i) {
      ScratchFolder folder;
      write_config(folder.path());
      disturbed += run_disturbed(signal, folder, random);
      expect_same_maps(folder.path(), undisturbed_.path());
    }
    EXPECT_GT(disturbed, 0) << "nothing was ever disturbed";
    if (signal == SIGKILL) {
      EXPECT_EQ(checkpointed_, 0);
    } else {
      EXPECT_GT(checkpointed_, 0) << "no request to stop ever arrived";
    }
  }

  ScratchFolder undisturbed_;
  double seconds_ = 0;
  int checkpointed_ = 0;  // ends with status 85
};

TEST_F(InterruptedSearch, KilledAndResumedGivesTheSameBits) { disturb_again_and_again(SIGKILL); }

TEST_F(InterruptedSearch, AskedToStopWritesACheckpointAndGoesOnToTheSameBits) {
  disturb_again_and_again(SIGTERM);
}

TEST_F(InterruptedSearch, StopsOnUsr1Too) {
  ScratchFolder folder;
  write_config(folder.path());
  Program program(match({"--checkpoint", "search.mgc", "--batch", "1", "--threads", "1"}),
                  folder.path());
  while (program.running() && !std::filesystem::exists(folder / "progress.json")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  program.signal(SIGUSR1);
  const Finished f = program.wait();
  EXPECT_EQ(f.exit_code, 85) << f.error;
  EXPECT_TRUE(std::filesystem::exists(folder / "search.mgc"));
}

TEST_F(InterruptedSearch, MapsAreTheSameForEveryNumberOfThreadsAndEveryBatch) {
  const std::vector<std::vector<std::string>> ways = {{"--threads", "2", "--batch", "1"},
                                                      {"--threads", "3", "--batch", "7"},
                                                      {"--threads", "2", "--batch", "64"}};
  for (const auto& options : ways) {
    ScratchFolder folder;
    write_config(folder.path());
    const Finished f = run_program(match(options), folder.path());
    ASSERT_EQ(f.exit_code, 0) << f.error;
    expect_same_maps(folder.path(), undisturbed_.path());
    EXPECT_EQ(text_of(folder / "scaled_mip_peaks.csv"),
              text_of(undisturbed_ / "scaled_mip_peaks.csv"));
  }
}

}  // namespace
}  // namespace tests
