// What ranks hand each other arrives as it was, and costs as many bytes as it must and no more.
#include "engine/ranks/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "engine/cpu/fused/backend.h"
#include "engine/error.h"
#include "tests/unit/engine/search/small_search.h"

namespace engine {
namespace {

using testing::HasSubstr;

// What many ranks send each other, as bytes: from rank 0 to each, and from each to rank 0.
class Post {
 public:
  explicit Post(int ranks) : to_(static_cast<size_t>(ranks)), from_(static_cast<size_t>(ranks)) {}

  void to(int rank, std::span<const std::byte> bytes) { send(to_[place(rank)], bytes); }
  void from(int rank, std::span<const std::byte> bytes) { send(from_[place(rank)], bytes); }
  void take_to(int rank, std::span<std::byte> bytes) { take(to_[place(rank)], bytes); }
  void take_from(int rank, std::span<std::byte> bytes) { take(from_[place(rank)], bytes); }

  int ranks() const { return static_cast<int>(to_.size()); }
  size_t messages() const { return messages_; }
  size_t bytes() const { return bytes_; }
  bool all_taken() const {
    const auto empty = [](const Letters& letters) { return letters.empty(); };
    return std::all_of(to_.begin(), to_.end(), empty) &&
           std::all_of(from_.begin(), from_.end(), empty);
  }

 private:
  using Letters = std::deque<std::vector<std::byte>>;

  static size_t place(int rank) { return static_cast<size_t>(rank); }
  void send(Letters& letters, std::span<const std::byte> bytes) {
    letters.emplace_back(bytes.begin(), bytes.end());
    ++messages_;
    bytes_ += bytes.size();
  }
  static void take(Letters& letters, std::span<std::byte> bytes) {
    ASSERT_FALSE(letters.empty());
    ASSERT_EQ(letters.front().size(), bytes.size());
    std::copy(letters.front().begin(), letters.front().end(), bytes.begin());
    letters.pop_front();
  }

  std::vector<Letters> to_, from_;
  size_t messages_ = 0, bytes_ = 0;
};

// Nobody waits: rank 0 broadcasts before the others, and reduces after them.
class ByPost : public Communicator {
 public:
  ByPost(Post& post, int rank) : post_(post), rank_(rank) {}
  std::string name() const override { return "post"; }
  int rank() const override { return rank_; }
  int size() const override { return post_.ranks(); }
  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ > 0) return post_.take_to(rank_, bytes);
    for (int other = 1; other < size(); ++other) post_.to(other, bytes);
  }
  void reduce_max(std::span<uint64_t> values) override {
    put_together(values, [](uint64_t mine, uint64_t other) { return std::max(mine, other); });
  }
  void reduce_sum(std::span<int64_t> values) override {
    put_together(values, [](int64_t mine, int64_t other) { return mine + other; });
  }

 private:
  template <typename T, typename Function>
  void put_together(std::span<T> values, const Function& function) {
    if (rank_ > 0) return post_.from(rank_, std::as_bytes(values));
    std::vector<T> others(values.size());
    for (int other = 1; other < size(); ++other) {
      post_.take_from(other, std::as_writable_bytes(std::span(others)));
      std::transform(values.begin(), values.end(), others.begin(), values.begin(), function);
    }
  }

  Post& post_;
  int rank_;
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
  Post post(2);
  ByPost first(post, 0);
  share(first, sent, units);
  Problem got;
  std::vector<Unit> got_units;
  ByPost second(post, 1);
  share(second, got, got_units);
  EXPECT_TRUE(post.all_taken());
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
  Post post(2);
  ByPost first(post, 0);
  share(first, p, units);
  const size_t own = 8 * (p.image_spectrum.size() + p.volume_spectrum.size() + 2 * 16 * 9) +
                     sizeof(Orientation) * p.orientations.size() + sizeof(Unit) * units.size();
  EXPECT_GE(post.bytes(), own);
  EXPECT_LT(post.bytes(), own + 300);
}

// Each rank correlates every 64th unit with a problem that came by post, and rank 0 alone has the
// whole in the end.
TEST(Exchange, SixtyFourRanksGiveTheBitsOfOneForTwentyFourBytesAPixelEach) {
  constexpr int kRanks = 64;
  const SmallSearch small;
  Problem problem = small.search.problem;
  std::vector<Unit> units = small.search.space.units;
  Post post(kRanks);
  ByPost first(post, 0);
  share(first, problem, units);
  const size_t messages_of_inputs = post.messages();
  const size_t bytes_of_inputs = post.bytes();
  Accumulators whole;
  for (int rank = kRanks - 1; rank >= 0; --rank) {
    ByPost communicator(post, rank);
    Problem own;
    std::vector<Unit> all = units;
    if (rank > 0) {
      share(communicator, own, all);
    } else {
      own = problem;
    }
    std::vector<Unit> mine;
    for (size_t i = static_cast<size_t>(rank); i < all.size(); i += kRanks) mine.push_back(all[i]);
    const ProblemShape shape{own.height, own.width, own.template_size, own.planes()};
    const auto backend = cpu::fused::make_backend(own, cpu::fused::plan_memory(shape, {1, 4}));
    for (size_t done = 0; done < mine.size(); done += 4) {
      backend->correlate(std::span(mine).subspan(done, std::min<size_t>(4, mine.size() - done)));
    }
    Accumulators statistics = backend->accumulators();
    reduce(communicator, statistics);
    if (rank == 0) whole = std::move(statistics);
  }
  EXPECT_TRUE(post.all_taken());
  EXPECT_TRUE(same_bits(whole, run_whole(small, 1, 4)));
  const size_t pixels = whole.best.size();
  EXPECT_EQ(post.bytes() - bytes_of_inputs, (kRanks - 1) * 24 * pixels);
  EXPECT_EQ(post.messages() - messages_of_inputs, (kRanks - 1) * size_t{3});
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
