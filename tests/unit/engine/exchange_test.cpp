// What ranks hand each other arrives as it was, and costs as many bytes as it must and no more.
#include "engine/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>

#include "engine/error.h"

namespace engine {
namespace {

using testing::HasSubstr;

// Rank 0 records what it broadcasts, another rank is given it: as if sent.
class Tape : public Communicator {
 public:
  explicit Tape(int rank) : rank_(rank) {}
  std::string name() const override { return "tape"; }
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ == 0) {
      sent_.emplace_back(bytes.begin(), bytes.end());
      broadcast_ += bytes.size();
      return;
    }
    ASSERT_FALSE(sent_.empty());
    ASSERT_EQ(sent_.front().size(), bytes.size());
    std::copy(sent_.front().begin(), sent_.front().end(), bytes.begin());
    sent_.pop_front();
  }
  void reduce_max(std::span<uint64_t> values) override { reduced_ += values.size_bytes(); }
  void reduce_sum(std::span<int64_t> values) override { reduced_ += values.size_bytes(); }

  void play_to(Tape& other) const { other.sent_ = sent_; }
  bool played() const { return sent_.empty(); }
  size_t broadcast_bytes() const { return broadcast_; }
  size_t reduced_bytes() const { return reduced_; }

 private:
  int rank_;
  std::deque<std::vector<std::byte>> sent_;
  size_t broadcast_ = 0, reduced_ = 0;
};

Problem some_problem() {
  std::mt19937 random(1);
  const auto value = [&] { return static_cast<float>(random() % 1000); };
  const auto values = [&](size_t count) {
    std::vector<std::complex<float>> all(count);
    for (auto& one : all) one = {value(), value()};
    return all;
  };
  Problem p;
  p.height = 40;
  p.width = 60;
  p.template_size = 16;
  p.magnified = true;
  p.magnification.xy = 0.25;
  p.extreme_pixel = "the pixel (row 3, column 4)";
  p.image_spectrum = values(40 * 31);
  p.volume_spectrum = values(16 * 16 * 9);
  p.filters = {values(16 * 9), values(16 * 9)};
  p.orientations = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  return p;
}

TEST(Exchange, InputsArriveAsTheyWere) {
  Problem sent = some_problem();
  std::vector<Unit> units{{0, 2}, {1, -1}};
  Tape first(0);
  share(first, sent, units);
  Tape second(1);
  first.play_to(second);
  Problem got;
  std::vector<Unit> got_units;
  share(second, got, got_units);
  EXPECT_TRUE(second.played());
  EXPECT_EQ(got.height, 40);
  EXPECT_EQ(got.width, 60);
  EXPECT_EQ(got.template_size, 16);
  EXPECT_TRUE(got.magnified);
  EXPECT_EQ(got.magnification.xy, 0.25);
  EXPECT_EQ(got.extreme_pixel, sent.extreme_pixel);
  EXPECT_EQ(got.image_spectrum, sent.image_spectrum);
  EXPECT_EQ(got.volume_spectrum, sent.volume_spectrum);
  EXPECT_EQ(got.filters, sent.filters);
  ASSERT_EQ(got.orientations.size(), 3u);
  EXPECT_EQ(got.orientations[2].psi, sent.orientations[2].psi);
  ASSERT_EQ(got_units.size(), 2u);
  EXPECT_EQ(got_units[0].second, 2);
  EXPECT_EQ(got_units[1].second, -1);
}

TEST(Exchange, InputsCostTheirOwnBytesAndHardlyMore) {
  Problem p = some_problem();
  std::vector<Unit> units(100);
  Tape tape(0);
  share(tape, p, units);
  const size_t own = 8 * (p.image_spectrum.size() + p.volume_spectrum.size() + 2 * 16 * 9) +
                     sizeof(Orientation) * p.orientations.size() + sizeof(Unit) * units.size();
  EXPECT_GE(tape.broadcast_bytes(), own);
  EXPECT_LT(tape.broadcast_bytes(), own + 300);
}

TEST(Exchange, StatisticsCostTwentyFourBytesAPixel) {
  Accumulators statistics(25, 45);
  Tape tape(0);
  reduce(tape, statistics);
  EXPECT_EQ(tape.reduced_bytes(), 24u * 25 * 45);
}

TEST(Exchange, SumsThatManyRanksTogetherCouldNotHoldAreRefusedWithThePixel) {
  Accumulators statistics(3, 5);
  statistics.squares[7] = static_cast<int64_t>(kSquareLimit / 4);
  EXPECT_NO_THROW(check_range(statistics, 1, ""));
  EXPECT_NO_THROW(check_range(statistics, 3, ""));
  try {
    check_range(statistics, 4, "the extreme pixel");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("row 1, column 2"));
    EXPECT_THAT(e.what(), HasSubstr("the extreme pixel"));
  }
}

}  // namespace
}  // namespace engine
