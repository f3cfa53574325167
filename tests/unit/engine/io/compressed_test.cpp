#include "engine/io/compressed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "engine/io/mrc.h"
#include "tests/unit/engine/io/mrc_file_bytes.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
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

bool has_bzip2() {
  return make_bzip2([](void*, size_t) { return size_t{0}; }) != nullptr;
}

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
  write_file(folder_.file("tiny.gz"), gzipped("MRC"));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("tiny.gz")); }),
              AllOf(HasSubstr("it has 3 bytes"), HasSubstr("tiny.gz")));
}

TEST_F(CompressedTest, AHeaderThatPromisesMoreThanThereIsTakesNoMemory) {
  write_file(folder_.file("vast.gz"), gzipped(MrcBytes(1 << 14, 1 << 14, 1 << 14, 2).bytes()));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("vast.gz")); }), HasSubstr("64 GiB"));
  // 240 GB of values, for which few machines would give memory.
  write_file(folder_.file("bomb.gz"), gzipped(MrcBytes(5000, 3000, 4000, 0).bytes()));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("bomb.gz")); }),
              HasSubstr("unpacks to less than its header promises"));
}

// The message says what is wrong with a packed file, whatever packed it.
struct Packed {
  std::string name;
  std::string bytes;  // of an MRC file of eight values, 0 to 7, in two parts
};

std::vector<Packed> packed_files() {
  const MrcBytes mrc = MrcBytes(2, 2, 2, 0).add<int8_t>({0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<Packed> all = {
      {"gzip", gzipped(mrc.bytes().substr(0, 1000)) + gzipped(mrc.bytes().substr(1000))}};
  if (has_bzip2()) all.push_back({"bzip2", read_file(kBzip2)});
  return all;
}

TEST_F(CompressedTest, PartsOneBehindAnotherAreOneFile) {
  for (const Packed& packed : packed_files()) {
    const std::string path = folder_.file("whole." + packed.name);
    write_file(path, packed.bytes);
    EXPECT_THAT(read_mrc(path).values, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << packed.name;
    EXPECT_THAT(read_hashed_mrc(path).sha256, base::sha256_of_file(path));
  }
}

TEST_F(CompressedTest, AFileThatIsCutAnywhereIsRefused) {
  for (const Packed& packed : packed_files()) {
    const std::string path = folder_.file("cut." + packed.name);
    for (size_t size = 3; size < packed.bytes.size(); ++size) {
      write_file(path, packed.bytes.substr(0, size));
      // Between two parts only the header shows that one is missing.
      EXPECT_THAT(refusal([&] { read_mrc(path); }),
                  AllOf(HasSubstr("'" + path + "'"),
                        AnyOf(HasSubstr(packed.name + " packed does not end in the file"),
                              HasSubstr("unpacks to less"), HasSubstr("it has 1000 bytes"))))
          << packed.name << " cut to " << size;
    }
  }
}

TEST_F(CompressedTest, AFileOfWhichABitChangedIsRefused) {
  for (const Packed& packed : packed_files()) {
    const std::string path = folder_.file("changed." + packed.name);
    // Of the last check sum: of gzip's, before the length; of bzip2's, before the last byte.
    const size_t at = packed.bytes.size() - (packed.name == "gzip" ? 6 : 3);
    std::string bytes = packed.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write_file(path, bytes);
    EXPECT_THAT(
        refusal([&] { read_mrc(path); }),
        AllOf(HasSubstr("'" + path + "' is damaged: " + packed.name), HasSubstr("copy it again")));
    EXPECT_THAT(refusal([&] { read_hashed_mrc(path); }), HasSubstr("is damaged"));
  }
}

TEST_F(CompressedTest, WhatFollowsTheEndIsRefused) {
  for (const Packed& packed : packed_files()) {
    const std::string path = folder_.file("more." + packed.name);
    for (const std::string& rest : {std::string("rubbish"), std::string(600, '\0')}) {
      write_file(path, packed.bytes + rest);
      EXPECT_THAT(refusal([&] { read_mrc(path); }),
                  AllOf(HasSubstr("'" + path + "' goes on after its end"),
                        HasSubstr(packed.name + " has not packed")));
    }
    write_file(path, packed.bytes + packed.bytes);
    EXPECT_THAT(refusal([&] { read_mrc(path); }),
                AllOf(HasSubstr("'" + path + "' unpacks to more than its header promises")));
  }
}

}  // namespace
}  // namespace engine
