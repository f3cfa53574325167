#include "engine/io/compressed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "base/sha256.h"
#include "engine/io/mrc.h"
#include "tests/unit/engine/io/mrc_file_bytes.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CompressedTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};

std::string gzipped(const std::string& bytes) {
  std::string out(bytes.size() + 1000, '\0');
  z_stream stream{};
  ::deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

// A file of 2 x 2 x 2 values, made by bzip2.
constexpr const char* kBzip2 = MARGAY_SOURCE_DIR "/tests/data/ramp_2.mrc.bz2";

TEST_F(CompressedTest, AFileInGzipIsReadAndItsHashIsThatOfTheFile) {
  const MrcBytes mrc = MrcBytes(2, 1, 1, 2).add<float>({1.5f, -2.25f});
  const std::string path = folder_.file("a.mrc.gz");
  // As two members, which a file that was appended to has.
  const std::string bytes =
      gzipped(mrc.bytes().substr(0, 1000)) + gzipped(mrc.bytes().substr(1000));
  write_file(path, bytes);
  const auto file = read_hashed_mrc(path);
  EXPECT_THAT(file.values, ElementsAre(1.5f, -2.25f));
  EXPECT_EQ(file.sha256, base::sha256_of_file(path));
  EXPECT_EQ(read_mrc_header(path).nx, 2);
}

TEST_F(CompressedTest, AFileInGzipThatIsShortOrDamagedIsRefused) {
  const MrcBytes mrc = MrcBytes(200, 100, 1, 2).add_raw(std::string(70'000, '\1'));
  write_file(folder_.file("short.gz"), gzipped(mrc.bytes()));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("short.gz")); }),
              HasSubstr("unpacks to less than its header promises"));
  const std::string whole = gzipped(MrcBytes(2, 1, 1, 0).add<int8_t>({1, 2}).bytes());
  write_file(folder_.file("cut.gz"), whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(refusal([&] { read_mrc(folder_.file("cut.gz")); }).empty());
  std::string vast = MrcBytes(1 << 14, 1 << 14, 1 << 14, 2).bytes();
  write_file(folder_.file("vast.gz"), gzipped(vast));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("vast.gz")); }), HasSubstr("cut short"));
}

TEST_F(CompressedTest, AFileInBzip2IsReadWhereTheBuildHasIt) {
  if (!make_bzip2([](void*, size_t) { return size_t{0}; })) {
    EXPECT_THAT(refusal([] { read_mrc(kBzip2); }), HasSubstr("this build cannot read"));
    return;
  }
  const auto file = read_hashed_mrc(kBzip2);
  EXPECT_THAT(file.values, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(file.sha256, base::sha256_of_file(kBzip2));
}

}  // namespace
}  // namespace engine
