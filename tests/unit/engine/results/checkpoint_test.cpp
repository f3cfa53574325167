// Searches that are stopped and resumed from their checkpoint, and checkpoints that must not be
// resumed.
#include "engine/results/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "base/atomic_file.h"
#include "base/checkpoint_text.h"
#include "base/read_file.h"
#include "engine/error.h"
#include "engine/numerics/fft.h"
#include "tests/require.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"
#include "tests/unit/engine/search/small_search.h"

namespace engine {
namespace {

class Checkpoints : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  tests::ScratchFolder folder_;
};

// Stops after some batches, as a signal would.
class StoppingBackend : public Backend {
 public:
  StoppingBackend(std::unique_ptr<Backend> real, int batches, std::atomic<bool>& stop)
      : real_(std::move(real)), left_(batches), stop_(stop) {}
  std::string name() const override { return real_->name(); }
  std::string fft() const override { return real_->fft(); }
  void correlate(std::span<const Unit> units) override {
    real_->correlate(units);
    if (--left_ <= 0) stop_ = true;
  }
  int batch() const override { return real_->batch(); }
  Accumulators accumulators() const override { return real_->accumulators(); }
  double best_z(int64_t correlations) const override { return real_->best_z(correlations); }
  void restore(const Accumulators& a) override { real_->restore(a); }

 private:
  std::unique_ptr<Backend> real_;
  int left_;
  std::atomic<bool>& stop_;
};

TEST_F(Checkpoints, AStoppedSearchResumedEndsWithTheSameBits) {
  const SmallSearch f;
  const Accumulators reference = run_whole(f, 1, 1);
  std::mt19937 random(11);
  for (int round = 0; round < 6; ++round) {
    const std::string file = path("c" + std::to_string(round));
    std::string resume;
    int stops = 0;
    for (;;) {
      std::atomic<bool> stop = false;
      const int batch = 1 + static_cast<int>(random() % 4);
      const int threads = 1 + static_cast<int>(random() % 3);
      StoppingBackend backend(f.backend(threads, batch), 1 + static_cast<int>(random() % 6), stop);
      const RunResult result =
          run_search(f.search, backend, {.checkpoint = file, .resume = resume}, stop);
      if (!result.stopped) {
        EXPECT_TRUE(same_bits(result.accumulators, reference)) << "round " << round;
        EXPECT_EQ(result.progress.done, f.search.space.correlations());
        break;
      }
      ++stops;
      resume = file;
    }
    EXPECT_GT(stops, 0);
  }
}

TEST_F(Checkpoints, WantedMoreOftenThanTheyTakeLetTheSearchGetOn) {
  const SmallSearch f;
  const std::atomic<bool> never = false;
  const auto backend = f.backend(1, 1);
  const RunResult result = run_search(
      f.search, *backend,
      {.checkpoint = path("c"), .checkpoint_every = std::chrono::milliseconds(0)}, never);
  EXPECT_FALSE(result.stopped);
  EXPECT_TRUE(same_bits(result.accumulators, run_whole(f, 1, 4)));
}

// Before each batch compares what is done with what is in the checkpoint.
class WatchingBackend : public Backend {
 public:
  WatchingBackend(std::unique_ptr<Backend> real, std::string checkpoint)
      : real_(std::move(real)), checkpoint_(std::move(checkpoint)) {}
  std::string name() const override { return real_->name(); }
  std::string fft() const override { return real_->fft(); }
  void correlate(std::span<const Unit> units) override {
    std::ptrdiff_t kept = 0;
    if (std::filesystem::exists(checkpoint_)) {
      const std::vector<bool> finished = read_checkpoint(checkpoint_).finished;
      kept = std::count(finished.begin(), finished.end(), true);
    }
    most_at_risk_ = std::max(most_at_risk_, done_ - kept);
    real_->correlate(units);
    done_ += std::ssize(units);
  }
  int batch() const override { return real_->batch(); }
  Accumulators accumulators() const override { return real_->accumulators(); }
  double best_z(int64_t correlations) const override { return real_->best_z(correlations); }
  void restore(const Accumulators& a) override { real_->restore(a); }
  // Units that a kill between two batches would have cost.
  std::ptrdiff_t most_at_risk() const { return most_at_risk_; }

 private:
  std::unique_ptr<Backend> real_;
  std::string checkpoint_;
  std::ptrdiff_t done_ = 0;
  std::ptrdiff_t most_at_risk_ = 0;
};

TEST_F(Checkpoints, AreWrittenBeforeTheNextBatchOnceTheirIntervalIsOver) {
  const SmallSearch f;
  const std::atomic<bool> never = false;
  WatchingBackend backend(f.backend(1, 2), path("c"));
  run_search(f.search, backend,
             {.checkpoint = path("c"), .checkpoint_every = std::chrono::milliseconds(0)}, never);
  EXPECT_EQ(backend.most_at_risk(), 0);
}

TEST_F(Checkpoints, ReadBackWhatWasWritten) {
  Checkpoint c;
  c.backend = "cpu";
  c.fft = "fused";
  c.precision = "fp32";
  c.identity.parts = {{"micrograph", "a\"b\n"}, {"template", "c"}};
  c.finished = {true, false, true, true, false, false, true, false, true, true};
  c.accumulators = Accumulators(2, 3);
  c.accumulators.best = {1, 2, 3, 4, 5, ~uint64_t{0}};
  c.accumulators.sum = {-1, 2, -3, 4, -5, 6};
  c.accumulators.squares = {1, 2, 3, 4, 5, 6};
  write_checkpoint(path("c"), c);
  const Checkpoint back = read_checkpoint(path("c"));
  EXPECT_EQ(back.finished, c.finished);
  EXPECT_EQ(back.identity.parts, c.identity.parts);
  EXPECT_TRUE(same_bits(back.accumulators, c.accumulators));
}

TEST_F(Checkpoints, AFullDiskIsAnErrorInTheSystemsOwnWordsThatNamesTheFile) {
  const tests::SmallDisk disk(path("disk"), "1m");
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  disk.fill();
  Checkpoint c;
  c.accumulators = Accumulators(64, 64);
  try {
    write_checkpoint(path("disk/c"), c);
    FAIL() << "a full disk went unnoticed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(path("disk/c")),
                                             testing::HasSubstr("No space left on device")));
  }
  EXPECT_FALSE(std::filesystem::exists(path("disk/c")));
}

// The hidden name is known to whoever reads the process's number.
TEST_F(Checkpoints, ALinkUnderTheHiddenNameIsNotFollowed) {
  const base::AtomicFile same_name(path("c"), base::Folder::kMustExist);
  std::ofstream(path("aim")) << "of another";
  std::filesystem::create_symlink(path("aim"), same_name.temporary());
  Checkpoint c;
  c.accumulators = Accumulators(2, 3);
  write_checkpoint(path("c"), c);
  EXPECT_EQ(base::read_file(path("aim")), "of another");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path("c"))));
  EXPECT_EQ(read_checkpoint(path("c")).accumulators.width, 3);
}

TEST_F(Checkpoints, OfAnotherSearchAreRefusedByTheNameOfWhatDiffers) {
  const SmallSearch f;
  std::atomic<bool> stop = false;
  StoppingBackend backend(f.backend(1, 4), 1, stop);
  run_search(f.search, backend, {.checkpoint = path("c")}, stop);
  SearchConfig other = small_config();
  other.optics.defocus_u += 1;
  const SmallSearch g(other);
  const auto fresh = g.backend(1, 4);
  const std::atomic<bool> never = false;
  try {
    run_search(g.search, *fresh, {.resume = path("c")}, never);
    FAIL() << "the checkpoint of another search was accepted";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("optics"));
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("orientations")));
  }
}

// A backend of another name and precision than the one that works.
class DisguisedBackend : public StoppingBackend {
 public:
  DisguisedBackend(std::unique_ptr<Backend> real, std::string name, std::string precision,
                   std::atomic<bool>& stop)
      : StoppingBackend(std::move(real), 1, stop),
        name_(std::move(name)),
        precision_(std::move(precision)) {}
  std::string name() const override { return name_; }
  std::string precision() const override { return precision_; }

 private:
  std::string name_, precision_;
};

TEST_F(Checkpoints, OfAnotherPrecisionOrBackendAreRefusedByItsName) {
  const SmallSearch f;
  std::atomic<bool> stop = false;
  const auto disguised = [&](const std::string& name, const std::string& precision) {
    stop = false;
    return DisguisedBackend(f.backend(1, 4), name, precision, stop);
  };
  // As of a version of the engine that had another precision.
  auto first = disguised("cuda", "fp8");
  run_search(f.search, first, {.checkpoint = path("c")}, stop);
  const auto refusal = [&](const std::string& name, const std::string& precision) -> std::string {
    auto other = disguised(name, precision);
    try {
      run_search(f.search, other, {.resume = path("c")}, stop);
    } catch (const InputError& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal("cuda", "fp32"), testing::HasSubstr("precision (fp8)"));
  EXPECT_THAT(refusal("cuda", "fp16"), testing::HasSubstr("precision (fp8)"));
  EXPECT_THAT(refusal("cpu", "fp8"), testing::HasSubstr("backend (cuda)"));
  EXPECT_EQ(refusal("cuda", "fp8"), "none");
}

TEST_F(Checkpoints, OfOtherTransformsAreRefusedByTheirName) {
  if (fft_library().name != kFftw) MARGAY_SKIP_FOR_WANT_OF("fftw", "this build has no FFTW");
  SmallSearch f;
  for (const std::string first : {"fused", "fftw"}) {
    std::atomic<bool> stop = false;
    f.fft = first;
    StoppingBackend backend(f.backend(1, 4), 1, stop);
    run_search(f.search, backend, {.checkpoint = path("c")}, stop);
    f.fft = first == "fused" ? "fftw" : "fused";
    const auto other = f.backend(1, 4);
    const std::atomic<bool> never = false;
    try {
      run_search(f.search, *other, {.resume = path("c")}, never);
      FAIL() << "what was correlated by " << first << " was continued by " << f.fft;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("transforms (--fft " + first + ")"));
    }
  }
}

TEST_F(Checkpoints, DamagedOrOlderAreSetAsideAndSaidAndTheSearchStartsAnew) {
  const SmallSearch f;
  const Accumulators reference = run_whole(f, 1, 1);
  std::atomic<bool> stop = false;
  StoppingBackend backend(f.backend(1, 4), 2, stop);
  run_search(f.search, backend, {.checkpoint = path("c")}, stop);
  const auto size = std::filesystem::file_size(path("c"));
  const auto damage = [&](const std::string& name, auto&& change) {
    std::filesystem::copy_file(path("c"), path(name));
    change(path(name));
    std::string said;
    const auto fresh = f.backend(1, 4);
    const std::atomic<bool> never = false;
    const RunResult result = run_search(
        f.search, *fresh,
        {.resume = path(name), .message = [&](const std::string& s) { said += s; }}, never);
    EXPECT_EQ(result.resumed_units, 0) << name;
    EXPECT_TRUE(same_bits(result.accumulators, reference)) << name;
    EXPECT_THAT(said, testing::HasSubstr(path(name)));
    EXPECT_TRUE(std::filesystem::exists(path(name) + ".damaged")) << name;
  };
  damage("cut", [&](const std::string& p) { std::filesystem::resize_file(p, size / 2); });
  damage("long", [&](const std::string& p) { std::ofstream(p, std::ios::app) << "more"; });
  damage("zeros", [&](const std::string& p) {
    std::ofstream(p, std::ios::binary) << std::string(size, '\0');
  });
  damage("older", [&](const std::string& p) {
    Checkpoint older = read_checkpoint(p);
    older.numerics_version = kNumericsVersion - 1;
    older.fft.clear();
    write_checkpoint(p, older);
  });
  damage("empty", [&](const std::string& p) { std::filesystem::resize_file(p, 0); });
  damage("flipped", [&](const std::string& p) {
    std::fstream file(p, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) * 2 / 3);
    const int byte = file.peek();
    file.put(static_cast<char>(byte ^ 4));
  });
}

TEST_F(Checkpoints, MissingIsAnInputErrorThatNamesTheFile) {
  EXPECT_THROW(read_checkpoint(path("none")), InputError);
}

TEST_F(Checkpoints, OfAnotherKindAreRefusedAndLeftWhereTheyAre) {
  const SmallSearch f;
  std::ofstream(path("image.mrc")) << "a file of the user's";
  std::filesystem::create_directory(path("folder"));
  for (const std::string& name : {path("image.mrc"), path("folder")}) {
    const auto backend = f.backend(1, 4);
    const std::atomic<bool> never = false;
    try {
      run_search(f.search, *backend, {.resume = name}, never);
      FAIL() << name << " was taken for a checkpoint";
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::StartsWith(base::checkpoint_text(name)));
    }
    EXPECT_TRUE(std::filesystem::exists(name));
  }
}

}  // namespace
}  // namespace engine
