// Whole searches in this process: the same bits however the work is divided, interrupted and
// resumed; and a planted particle is found where it is.

#include "engine/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/cpu/cpu_backend.h"
#include "engine/device.h"
#include "engine/error.h"
#include "engine/precision_error.h"
#include "engine/selftest.h"
#include "engine/simulate.h"
#include "tests/scratch_folder.h"

namespace engine {
namespace {

constexpr int kN = 16;

Volume blobs() {
  Volume volume{kN, {}};
  const auto blob = [](double z, double y, double x, double s) {
    return std::exp(-(z * z + y * y + x * x) / s);
  };
  for (int z = 0; z < kN; ++z) {
    for (int y = 0; y < kN; ++y) {
      for (int x = 0; x < kN; ++x) {
        volume.voxels.push_back(static_cast<float>(blob(z - 8, y - 8, x - 11, 3) +
                                                   0.8 * blob(z - 5, y - 9, x - 6, 2) +
                                                   0.6 * blob(z - 10, y - 4, x - 8, 2)));
      }
    }
  }
  return volume;
}

SearchConfig small_config() {
  SearchConfig config;
  config.path = "test.yaml";
  config.optics = {.label = "test",
                   .pixel_size = 4.0,
                   .voltage = 300,
                   .defocus_u = 9000,
                   .defocus_v = 8800,
                   .astigmatism_angle = 20};
  config.defocus = {.min = -400, .max = 400, .step = 400};
  // 30 degrees divide a half turn: every unit is a pair.
  config.orientations = {{.psi_step = 30, .theta_step = 60}};
  return config;
}

Image small_micrograph(const SearchConfig& config) {
  return simulate(blobs(), config.optics,
                  {.height = 72, .width = 90, .particles = 3, .seed = 5, .z = 12})
      .micrograph;
}

struct Fixture {
  SearchConfig config = small_config();
  Search search;

  explicit Fixture(SearchConfig c = small_config()) : config(std::move(c)) {
    search = prepare_search(config, small_micrograph(config), blobs());
  }
  std::unique_ptr<Backend> backend(int threads, int batch) const {
    const Problem& p = search.problem;
    return cpu::make_cpu_backend(
        p, cpu::plan_memory({p.height, p.width, p.template_size, p.planes()}, {threads, batch}));
  }
};

bool same_bits(const Accumulators& a, const Accumulators& b) {
  return a.best == b.best && a.sum == b.sum && a.squares == b.squares;
}

Accumulators run_whole(const Fixture& f, int threads, int batch) {
  const auto backend = f.backend(threads, batch);
  const std::atomic<bool> never = false;
  return run_search(f.search, *backend, {}, never).accumulators;
}

TEST(Search, GivesTheSameBitsForEveryNumberOfThreadsAndEveryBatch) {
  const Fixture f;
  ASSERT_GE(f.search.space.units.size(), 20u);
  const Accumulators reference = run_whole(f, 1, 1);
  for (const int threads : {1, 2, 3}) {
    for (const int batch : {1, 2, 3, 5, 8, 64}) {
      EXPECT_TRUE(same_bits(run_whole(f, threads, batch), reference))
          << threads << " threads, batch " << batch;
    }
  }
}

TEST(Search, GivesTheSameBitsForChunksFinishedOutOfOrder) {
  const Fixture f;
  const Accumulators reference = run_whole(f, 1, 1);
  std::mt19937 random(7);
  for (const size_t chunk : {size_t{1}, size_t{3}, f.search.space.units.size()}) {
    std::vector<Unit> units = f.search.space.units;
    std::shuffle(units.begin(), units.end(), random);
    const auto backend = f.backend(2, 4);
    for (size_t i = 0; i < units.size(); i += chunk) {
      backend->correlate(std::span(units).subspan(i, std::min(chunk, units.size() - i)));
    }
    EXPECT_TRUE(same_bits(backend->accumulators(), reference)) << "chunks of " << chunk;
  }
}

TEST(Search, GivesTheSameBitsWhenTwoHalvesAreMerged) {
  const Fixture f;
  const std::span<const Unit> units(f.search.space.units);
  const auto first = f.backend(1, 3);
  const auto second = f.backend(2, 4);
  first->correlate(units.subspan(0, 11));
  second->correlate(units.subspan(11));
  Accumulators merged = second->accumulators();
  merge(merged, first->accumulators());
  EXPECT_TRUE(same_bits(merged, run_whole(f, 1, 1)));
}

TEST(Search, WithOddZernikesCorrelatesEveryOrientationOnItsOwn) {
  SearchConfig config = small_config();
  config.optics.odd_zernikes = {{"Z31c", 0.4}};
  const Fixture f(config);
  for (const Unit& unit : f.search.space.units) EXPECT_LT(unit.second, 0);
  EXPECT_TRUE(same_bits(run_whole(f, 3, 5), run_whole(f, 1, 1)));
}

TEST(Search, PairsGiveWhatSingleOrientationsGive) {
  const Fixture f;
  const Accumulators paired = run_whole(f, 1, 4);
  Search single = f.search;
  single.space.units = make_units(single.space.list, false);
  const auto backend = f.backend(1, 4);
  const std::atomic<bool> never = false;
  const Accumulators alone = run_search(single, *backend, {}, never).accumulators;
  const int64_t n = f.search.space.correlations();
  for (size_t i = 0; i < alone.best.size(); ++i) {
    ASSERT_NEAR(best_value(alone.best[i]), best_value(paired.best[i]), 2e-4) << i;
    ASSERT_NEAR(moments(alone.sum[i], alone.squares[i], n).sd,
                moments(paired.sum[i], paired.squares[i], n).sd, 1e-4);
  }
}

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
  const Fixture f;
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

TEST_F(Checkpoints, ReadBackWhatWasWritten) {
  Checkpoint c;
  c.backend = "cpu";
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

TEST_F(Checkpoints, OfAnotherSearchAreRefusedByTheNameOfWhatDiffers) {
  const Fixture f;
  std::atomic<bool> stop = false;
  StoppingBackend backend(f.backend(1, 4), 1, stop);
  run_search(f.search, backend, {.checkpoint = path("c")}, stop);
  SearchConfig other = small_config();
  other.optics.defocus_u += 1;
  const Fixture g(other);
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

// Of another name and precision than the one that works.
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
  const Fixture f;
  std::atomic<bool> stop = false;
  const auto disguised = [&](const std::string& name, const std::string& precision) {
    stop = false;
    return DisguisedBackend(f.backend(1, 4), name, precision, stop);
  };
  auto first = disguised("cuda", "fp16-storage");
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
  EXPECT_THAT(refusal("cuda", "fp32"), testing::HasSubstr("precision (fp16-storage)"));
  EXPECT_THAT(refusal("cuda", "fp16"), testing::HasSubstr("precision (fp16-storage)"));
  EXPECT_THAT(refusal("cpu", "fp16-storage"), testing::HasSubstr("backend (cuda)"));
  EXPECT_EQ(refusal("cuda", "fp16-storage"), "none");
}

TEST_F(Checkpoints, DamagedAreSetAsideAndSaidAndTheSearchStartsAnew) {
  const Fixture f;
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
  const Fixture f;
  std::ofstream(path("image.mrc")) << "a file of the user's";
  std::filesystem::create_directory(path("folder"));
  for (const std::string& name : {path("image.mrc"), path("folder")}) {
    const auto backend = f.backend(1, 4);
    const std::atomic<bool> never = false;
    try {
      run_search(f.search, *backend, {.resume = name}, never);
      FAIL() << name << " was taken for a checkpoint";
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(name));
    }
    EXPECT_TRUE(std::filesystem::exists(name));
  }
}

TEST(MemoryPlan, CountsTheOrientationsAndNoMoreUnitsThanThereAre) {
  const cpu::CpuOptions greedy{.threads = 1, .batch = 1000000};
  const ProblemShape few{64, 64, 16, 1, 50};
  EXPECT_EQ(cpu::plan_memory(few, greedy).batch, 50);
  ProblemShape many = few;
  many.orientations = 100000000;
  EXPECT_GT(cpu::plan_memory(many, {.threads = 1, .batch = 50}).total(),
            cpu::plan_memory(few, {.threads = 1, .batch = 50}).total() + 24 * uint64_t{99999950});
}

TEST(Devices, ThePlanThatIsShownIsMade) {
  const Fixture f;
  const Problem& p = f.search.problem;
  const ProblemShape shape{p.height, p.width, p.template_size, p.planes(),
                           static_cast<int64_t>(p.orientations.size())};
  const DevicePlan plan = plan_device(shape, {.backend = "cpu", .threads = 2, .batch = 3});
  EXPECT_EQ(plan.fft, "fftw");
  EXPECT_EQ(plan.precision, "fp32");
  EXPECT_EQ(std::get<cpu::MemoryPlan>(plan.work).total(), plan.bytes);
  const auto backend = make_backend(p, plan);
  EXPECT_EQ(backend->batch(), 3);
  EXPECT_EQ(backend->precision(), "fp32");
}

TEST(Search, LosesNothingToASampleThatWasMeasuredBefore) {
  const Fixture f;
  const std::vector<Unit> sample = sample_units(f.search.space.units, 3);
  const auto backend = f.backend(1, 2);
  const Accumulators once = accumulate_sample(*backend, sample);
  const Accumulators again = accumulate_sample(*backend, sample);
  EXPECT_TRUE(same_bits(once, again));
  EXPECT_EQ(precision_error(once, again, 3).largest, 0);
  EXPECT_GT(precision_error(once, run_whole(f, 1, 4), 3).rms, 0.1) << "nothing was compared";
  const std::atomic<bool> never = false;
  const RunResult result = run_search(f.search, *backend, {}, never);
  EXPECT_TRUE(same_bits(result.accumulators, run_whole(f, 1, 4)));
}

TEST(Search, DoesNotDependOnTheScaleOfTheTemplatesDensity) {
  const SearchConfig config = small_config();
  const Image micrograph = small_micrograph(config);
  const auto run = [&](float scale) {
    Volume volume = blobs();
    for (float& voxel : volume.voxels) voxel *= scale;
    Fixture f;
    f.search = prepare_search(config, micrograph, volume);
    return run_whole(f, 1, 4);
  };
  // Powers of two, so that no rounding differs.
  const Accumulators reference = run(1.0f);
  EXPECT_TRUE(same_bits(run(std::ldexp(1.0f, -40)), reference)) << "a faint template";
  EXPECT_TRUE(same_bits(run(std::ldexp(1.0f, 40)), reference)) << "a strong template";
}

TEST(Search, RefusesValuesBeyondSinglePrecisionByTheirField) {
  const auto why_not = [](const SearchConfig& config, float scale) -> std::string {
    Volume volume = blobs();
    for (float& voxel : volume.voxels) voxel *= scale;
    try {
      prepare_search(config, small_micrograph(small_config()), volume);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(why_not(small_config(), 3e37f), testing::HasSubstr("template_volume_path"));
  SearchConfig config = small_config();
  config.optics.voltage = 1e-300;
  EXPECT_THAT(why_not(config, 1.0f),
              testing::AllOf(testing::HasSubstr("test.yaml"), testing::HasSubstr("optics_group")));
}

TEST(Search, RefusesMoreCorrelationsThanAnIndexCanTellApart) {
  SearchConfig config = small_config();
  config.orientations = {{.psi_step = 0.02, .theta_step = 0.6}};
  EXPECT_THROW(make_search_space(config), InputError);
}

TEST(Search, EndsWithThePixelNamedWhenASumLeavesItsRange) {
  const Fixture f;
  const auto backend = f.backend(2, 4);
  Accumulators full = backend->accumulators();
  full.squares[13 * static_cast<size_t>(full.width) + 7] = static_cast<int64_t>(kSquareLimit) - 1;
  backend->restore(full);
  try {
    backend->correlate(f.search.space.units);
    FAIL() << "an overflow went unnoticed";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("row 13, column 7"));
    EXPECT_THAT(e.what(), testing::HasSubstr("most extreme pixel"));
  }
}

TEST(Statistics, KeysOrderByValueThenByTheLowerIndex) {
  EXPECT_GT(pack_best(1.5f, 9), pack_best(1.25f, 3));
  EXPECT_GT(pack_best(-1.0f, 9), pack_best(-2.0f, 3));
  EXPECT_GT(pack_best(0.5f, 9), pack_best(-2.0f, 3));
  EXPECT_GT(pack_best(2.0f, 3), pack_best(2.0f, 4));
  EXPECT_EQ(pack_best(-0.0f, 3), pack_best(0.0f, 3));
  for (const float value : {-7.25f, -1e-30f, 0.0f, 3.5f, 1e6f}) {
    EXPECT_EQ(best_value(pack_best(value, 123456)), value);
    EXPECT_EQ(best_index(pack_best(value, 123456)), 123456u);
  }
}

TEST(Simulation, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const SearchConfig config = small_config();
  const auto make = [&](uint64_t seed) {
    return simulate(blobs(), config.optics,
                    {.height = 64, .width = 80, .particles = 2, .seed = seed});
  };
  EXPECT_EQ(make(3).micrograph.pixels, make(3).micrograph.pixels);
  EXPECT_NE(make(3).micrograph.pixels, make(4).micrograph.pixels);
}

TEST(Simulation, RefusesParticlesThatDoNotFit) {
  EXPECT_THROW(
      simulate(blobs(), small_config().optics, {.height = 40, .width = 40, .particles = 100}),
      InputError);
}

TEST(Selftest, FindsWhatWasPlantedInACropMadeFromAtoms) {
  const SelftestResult result = run_selftest(MARGAY_TEST_DATA, {.backend = "cpu"});
  EXPECT_TRUE(result.passed) << testing::PrintToString(result.lines);
}

}  // namespace
}  // namespace engine
