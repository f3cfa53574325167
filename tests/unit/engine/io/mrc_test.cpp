#include "engine/io/mrc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "engine/error.h"
#include "tests/unit/engine/io/mrc_file_bytes.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MrcTest : public ::testing::Test {
 protected:
  std::string save(const MrcBytes& mrc, const std::string& name = "a.mrc") const {
    write_file(folder_.file(name), mrc.bytes());
    return folder_.file(name);
  }
  std::string refusal_of(const MrcBytes& mrc) const {
    const std::string path = save(mrc);
    return refusal([&] { read_mrc(path); });
  }
  ScratchFolder folder_;
};

TEST_F(MrcTest, Mode0IsReadAsSignedBytes) {
  const auto file = read_mrc(save(MrcBytes(2, 2, 1, 0).add<int8_t>({-128, -1, 0, 127})));
  EXPECT_THAT(file.values, ElementsAre(-128, -1, 0, 127));
}

TEST_F(MrcTest, Modes1And6DifferInTheSign) {
  const auto with_sign = read_mrc(save(MrcBytes(2, 1, 1, 1).add<uint16_t>({0x8000, 0x7fff})));
  EXPECT_THAT(with_sign.values, ElementsAre(-32768, 32767));
  const auto without = read_mrc(save(MrcBytes(2, 1, 1, 6).add<uint16_t>({0x8000, 0xffff})));
  EXPECT_THAT(without.values, ElementsAre(32768, 65535));
}

TEST_F(MrcTest, Mode2IsReadAsItIs) {
  const auto file = read_mrc(save(MrcBytes(3, 1, 1, 2).add<float>({1.5f, -2.25f, 1e-20f})));
  EXPECT_THAT(file.values, ElementsAre(1.5f, -2.25f, 1e-20f));
}

TEST_F(MrcTest, Mode12CoversNormalSubnormalInfiniteAndNan) {
  const auto file = read_mrc(
      save(MrcBytes(8, 1, 1, 12)
               .add<uint16_t>({0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x8000, 0x7c00, 0x7e00})));
  ASSERT_EQ(file.values.size(), 8u);
  EXPECT_EQ(file.values[0], 1.0f);
  EXPECT_EQ(file.values[1], -2.0f);
  EXPECT_EQ(file.values[2], 65504.0f);
  EXPECT_EQ(file.values[3], std::ldexp(1.0f, -24));
  EXPECT_EQ(file.values[4], std::ldexp(1023.0f, -24));
  EXPECT_EQ(file.values[5], 0.0f);
  EXPECT_TRUE(std::signbit(file.values[5]));
  EXPECT_EQ(file.values[6], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(file.values[7]));
}

TEST_F(MrcTest, BigEndianFilesAreReadInEveryMode) {
  EXPECT_THAT(read_mrc(save(MrcBytes(2, 1, 1, 1, true).add<int16_t>({258, -3}))).values,
              ElementsAre(258, -3));
  EXPECT_THAT(read_mrc(save(MrcBytes(2, 1, 1, 6, true).add<uint16_t>({258, 65535}))).values,
              ElementsAre(258, 65535));
  EXPECT_THAT(read_mrc(save(MrcBytes(2, 1, 1, 12, true).add<uint16_t>({0x3c00, 0xc000}))).values,
              ElementsAre(1, -2));
  const auto file =
      read_mrc(save(MrcBytes(2, 1, 1, 2, true).set_float(40, 3.0f).add<float>({0.1f, -7})));
  EXPECT_THAT(file.values, ElementsAre(0.1f, -7));
  EXPECT_TRUE(file.header.swapped);
  EXPECT_DOUBLE_EQ(file.header.pixel_size[0], 1.5);
}

TEST_F(MrcTest, AWrongOrMissingMachineStampIsOverruledByTheHeader) {
  for (const std::string& stamp : {std::string("\0\0", 2), std::string("\x44\x44")}) {
    const auto file = read_mrc(
        save(MrcBytes(256, 1, 1, 0, true).set_text(212, stamp).add_raw(std::string(256, '\1'))));
    EXPECT_EQ(file.header.nx, 256);
    EXPECT_TRUE(file.header.swapped);
  }
  const auto native = read_mrc(
      save(MrcBytes(256, 1, 1, 0).set_text(212, "\x11\x11").add_raw(std::string(256, '\1'))));
  EXPECT_FALSE(native.header.swapped);
}

TEST_F(MrcTest, AFileWithoutTheMapStampIsReadWhenItsHeaderMakesSense) {
  const auto file =
      read_mrc(save(MrcBytes(2, 1, 1, 2).set_text(208, std::string(8, '\0')).add<float>({4, 5})));
  EXPECT_THAT(file.values, ElementsAre(4, 5));
}

TEST_F(MrcTest, AnExtendedHeaderIsSkipped) {
  const auto file = read_mrc(save(MrcBytes(2, 1, 1, 2)
                                      .set_int(92, 320)
                                      .set_text(104, "FEI1")
                                      .add_raw(std::string(320, '\x7f'))
                                      .add<float>({8, 9})));
  EXPECT_THAT(file.values, ElementsAre(8, 9));
  EXPECT_EQ(file.header.extended_header_bytes, 320);
  EXPECT_EQ(file.header.extended_type, "FEI1");
}

TEST_F(MrcTest, TheHashIsOfAllBytesThoseThatAreNoPixelsToo) {
  const MrcBytes mrc = MrcBytes(2, 1, 1, 2)
                           .set_int(92, 320)
                           .set_text(104, "FEI1")
                           .add_raw(std::string(320, '\x7f'))
                           .add<float>({8, 9})
                           .add_raw("more than the header says");
  const std::string path = save(mrc);
  const std::string hash = base::sha256_of_text(mrc.bytes());
  EXPECT_EQ(read_hashed_mrc(path).sha256, hash);
  const auto file = read_mrc_with_hash(path, hash);
  EXPECT_EQ(file.sha256, hash);
  EXPECT_THAT(file.values, ElementsAre(8, 9));
}

// Its user may be allowed to read neither the file nor what is wrong with it.
TEST_F(MrcTest, OfAFileWithAnotherHashNothingIsSaid) {
  const std::string path = save(MrcBytes(2, 1, 1, 2).add<float>({8}));
  EXPECT_THROW(read_mrc_with_hash(path, std::string(64, '0')), OtherContent);
  const std::string text = folder_.file("text");
  write_file(text, "a secret");
  EXPECT_THROW(read_mrc_with_hash(text, std::string(64, '0')), OtherContent);
  EXPECT_THROW(read_mrc_with_hash(text, base::sha256_of_text("a secret")), InputError);
}

TEST_F(MrcTest, RowsAreYAndColumnsAreX) {
  auto file = read_mrc(save(MrcBytes(3, 2, 1, 2).add<float>({0, 1, 2, 10, 11, 12})));
  const Image image = to_image(std::move(file));
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.at(1, 2), 12);
}

TEST_F(MrcTest, AVolumeIsIndexedByZThenYThenX) {
  auto file = read_mrc(save(MrcBytes(2, 2, 2, 0).add<int8_t>({0, 1, 2, 3, 4, 5, 6, 7})));
  const Volume volume = to_volume(std::move(file));
  EXPECT_EQ(volume.size, 2);
  EXPECT_EQ(volume.at(1, 0, 1), 5);
}

TEST_F(MrcTest, AVolumeOfOneSectionIsAnImage) {
  auto file = read_mrc(save(MrcBytes(2, 1, 1, 2).set_int(88, 1).add<float>({1, 2})));
  EXPECT_EQ(to_image(std::move(file)).width, 2);
}

TEST_F(MrcTest, AStackOfVolumesIsDistinguishedFromOneVolume) {
  MrcBytes stack(2, 2, 4, 0);
  stack.set_int(36, 2).set_int(88, 401).add_raw(std::string(16, '\1'));
  EXPECT_EQ(read_mrc(save(stack)).header.volumes, 2);
  EXPECT_EQ(read_mrc(save(stack.set_int(88, 1))).header.volumes, 1);
}

TEST_F(MrcTest, PixelSizesAndLabelsComeFromTheHeader) {
  MrcBytes mrc(4, 2, 1, 0);
  mrc.set_float(40, 4.24f).set_float(44, 4.0f).set_int(220, 2);
  mrc.set_text(224, "first label   ").set_text(304, std::string("second\0rest", 11));
  const auto header = read_mrc_header(save(mrc.add_raw(std::string(8, '\1'))));
  EXPECT_NEAR(header.pixel_size[0], 1.06, 1e-6);
  EXPECT_DOUBLE_EQ(header.pixel_size[1], 2.0);
  EXPECT_EQ(header.pixel_size[2], 0.0);
  EXPECT_THAT(header.labels, ElementsAre("first label", "second"));
}

TEST_F(MrcTest, APixelSizeWithoutMeaningCountsAsUnknown) {
  for (const float cell : {0.0f, -4.0f, std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity()}) {
    const auto header =
        read_mrc_header(save(MrcBytes(1, 1, 1, 0).set_float(40, cell).add<int8_t>({1})));
    EXPECT_EQ(header.pixel_size[0], 0.0) << cell;
  }
  const auto no_grid = read_mrc_header(
      save(MrcBytes(1, 1, 1, 0).set_int(28, 0).set_float(40, 2.0f).add<int8_t>({1})));
  EXPECT_EQ(no_grid.pixel_size[0], 0.0);
}

TEST_F(MrcTest, AMapCutShortIsRefusedByName) {
  const auto message = refusal_of(MrcBytes(4, 4, 1, 2).add_raw(std::string(63, '\1')));
  EXPECT_THAT(message, AllOf(HasSubstr(folder_.file("a.mrc")), HasSubstr("cut short"),
                             HasSubstr("4 x 4 x 1"), HasSubstr("1087 bytes")));
  EXPECT_THAT(refusal([&] { read_mrc_header(folder_.file("a.mrc")); }), HasSubstr("cut short"));
}

TEST_F(MrcTest, AnExtendedHeaderBeyondTheEndIsCutShort) {
  EXPECT_THAT(refusal_of(MrcBytes(1, 1, 1, 0).set_int(92, 2000000000).add<int8_t>({1})),
              HasSubstr("cut short"));
  EXPECT_THAT(refusal_of(MrcBytes(1, 1, 1, 0).set_int(92, -80).add<int8_t>({1})),
              HasSubstr("damaged"));
}

TEST_F(MrcTest, WhatIsNotAnMrcIsRefusedByName) {
  write_file(folder_.file("note.txt"), std::string(5000, ' '));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("note.txt")); }),
              AllOf(HasSubstr("note.txt"), HasSubstr("not an MRC file")));
  write_file(folder_.file("short"), "MRC?");
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("short")); }), HasSubstr("has 4 bytes"));
  write_file(folder_.file("empty"), "");
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("empty")); }), HasSubstr("not an MRC file"));
}

TEST_F(MrcTest, AbsurdSizesAreRefusedWithoutOverflow) {
  const int huge = std::numeric_limits<int>::max();
  EXPECT_THAT(refusal_of(MrcBytes(huge, huge, huge, 2)), HasSubstr("damaged"));
  EXPECT_THAT(refusal_of(MrcBytes(-4, 4, 1, 2)), HasSubstr("damaged"));
  EXPECT_THAT(refusal_of(MrcBytes(0, 4, 1, 2)), HasSubstr("damaged"));
  // 2^24 x 2^24 x 2^18 values of 4 bytes: the product in 64 bits is 4.
  EXPECT_THAT(refusal_of(MrcBytes(1 << 24, 1 << 24, 1 << 18, 2)), HasSubstr("cut short"));
}

TEST_F(MrcTest, OtherModesAreRefusedByNumber) {
  for (const int mode : {3, 4, 16, 101}) {
    EXPECT_THAT(refusal_of(MrcBytes(1, 1, 1, mode).add_raw(std::string(64, '\1'))),
                HasSubstr("MRC mode " + std::to_string(mode)));
  }
  EXPECT_THAT(refusal_of(MrcBytes(1, 1, 1, 77).add_raw(std::string(64, '\1'))), HasSubstr("77"));
}

// As EMDB has them: columns along z, rows along x, sections along y.
TEST_F(MrcTest, AxesInAnotherOrderArePutInOrder) {
  const auto mrc = MrcBytes(2, 3, 4, 0).set_int(64, 3).set_int(68, 1).set_int(72, 2);
  std::string values;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 3; ++x) {
      for (int z = 0; z < 2; ++z) values += static_cast<char>(100 * z + 10 * y + x);
    }
  }
  const auto file = read_mrc(save(MrcBytes(mrc).add_raw(values)));
  EXPECT_EQ(file.header.nx, 3);
  EXPECT_EQ(file.header.ny, 4);
  EXPECT_EQ(file.header.nz, 2);
  EXPECT_THAT(file.header.axes, ElementsAre(2, 0, 1));
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 3; ++x) {
        const auto at = static_cast<size_t>((z * 4 + y) * 3 + x);
        EXPECT_EQ(file.values[at], static_cast<int8_t>(100 * z + 10 * y + x));
      }
    }
  }
}

TEST_F(MrcTest, AxesThatAreNoOrderAreRefused) {
  const auto message =
      refusal_of(MrcBytes(2, 2, 2, 0).set_int(64, 3).add_raw(std::string(8, '\1')));
  EXPECT_THAT(message, HasSubstr("names its axes 3, 2, 3"));
  const auto unset = MrcBytes(1, 1, 1, 0).set_int(64, 0).set_int(68, 0).set_int(72, 0);
  EXPECT_THAT(refusal_of(MrcBytes(unset).add<int8_t>({1})), IsEmpty());
}

TEST_F(MrcTest, MissingFilesFoldersAndCompressedFilesAreNamed) {
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("absent.mrc")); }),
              AllOf(HasSubstr("absent.mrc"), HasSubstr("does not exist")));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.path()); }), HasSubstr("folder"));
  write_file(folder_.file("a.mrc.gz"), "\x1f\x8b\x08" + std::string(2000, 'x'));
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("a.mrc.gz")); }),
              HasSubstr("is damaged: gzip cannot unpack it"));
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { read_mrc(folder_.file("pipe")); }), HasSubstr("not a regular file"));
}

TEST_F(MrcTest, NamesWithBlanksQuotesNewlinesAndLettersBeyondAsciiWork) {
  const std::string path = folder_.file("a b'c\"d\ne\xc3\xa4.mrc");
  Image image(1, 2);
  image.pixels = {1, 2};
  write_mrc(path, image, 1.0);
  EXPECT_THAT(read_mrc(path).values, ElementsAre(1, 2));
}

TEST_F(MrcTest, ShapesThatAreNotWantedAreRefused) {
  EXPECT_THAT(refusal([&] {
                to_image(read_mrc(save(MrcBytes(1, 1, 2, 0).add<int8_t>({1, 2}))));
              }),
              HasSubstr("is 3-D (1 x 1 x 2)"));
  EXPECT_THAT(refusal([&] {
                to_volume(read_mrc(save(MrcBytes(2, 1, 1, 0).add<int8_t>({1, 2}))));
              }),
              HasSubstr("not cubic"));
}

TEST_F(MrcTest, AWrittenImageReadsBackToTheBit) {
  Image image(2, 3);
  image.pixels = {0.1f, -0.0f, 3e38f, 1e-45f, 5, 6};
  write_mrc(folder_.file("out.mrc"), image, 1.06);
  const auto file = read_mrc(folder_.file("out.mrc"));
  EXPECT_EQ(std::memcmp(file.values.data(), image.pixels.data(), 6 * sizeof(float)), 0);
  EXPECT_NEAR(file.header.pixel_size[0], 1.06, 1e-6);
  EXPECT_NEAR(file.header.pixel_size[1], 1.06, 1e-6);
  EXPECT_EQ(file.header.space_group, 0);
}

TEST_F(MrcTest, AWrittenHeaderSaysWhatTheFormatAsksFor) {
  Volume volume;
  volume.size = 2;
  volume.voxels = {1, 2, 3, 4, 5, 6, 7, 8};
  write_mrc(folder_.file("v.map"), volume, 2.0);
  const std::string bytes = read_file(folder_.file("v.map"));
  ASSERT_EQ(bytes.size(), 1024u + 32u);
  const auto int_at = [&](size_t offset) {
    int32_t value;
    std::memcpy(&value, bytes.data() + offset, 4);
    return value;
  };
  const auto float_at = [&](size_t offset) {
    float value;
    std::memcpy(&value, bytes.data() + offset, 4);
    return value;
  };
  EXPECT_EQ(int_at(12), 2);
  EXPECT_EQ(int_at(36), 2);
  EXPECT_EQ(float_at(48), 4.0f);
  EXPECT_EQ(float_at(52), 90.0f);
  EXPECT_EQ(int_at(64), 1);
  EXPECT_EQ(int_at(68), 2);
  EXPECT_EQ(int_at(72), 3);
  EXPECT_EQ(float_at(76), 1.0f);
  EXPECT_EQ(float_at(80), 8.0f);
  EXPECT_EQ(float_at(84), 4.5f);
  EXPECT_NEAR(float_at(216), std::sqrt(5.25), 1e-6);
  EXPECT_EQ(int_at(88), 1);
  EXPECT_EQ(int_at(108), 20141);
  EXPECT_EQ(bytes.substr(208, 4), "MAP ");
  EXPECT_EQ(int_at(220), 1);
}

TEST_F(MrcTest, AnUnknownPixelSizeStaysUnknown) {
  write_mrc(folder_.file("out.mrc"), Image(2, 2, 1.0f), 0.0);
  EXPECT_EQ(read_mrc_header(folder_.file("out.mrc")).pixel_size[0], 0.0);
}

TEST_F(MrcTest, AFullDiskIsAnErrorThatNamesTheFile) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full on this machine";
  try {
    write_mrc("/dev/full", Image(64, 64, 1.0f), 1.0);
    FAIL() << "a full disk went unnoticed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
  }
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST_F(MrcTest, AFolderThatIsMissingIsAnErrorThatNamesTheFile) {
  EXPECT_THROW(write_mrc(folder_.file("no/such/out.mrc"), Image(2, 2), 1.0), Error);
}

}  // namespace
}  // namespace engine
