#include "scheduler/ingest/image_size.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/descriptor.h"
#include "base/read_file.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

db::ImageSize size_of(const std::string& bytes) {
  const tests::ScratchFolder folder;
  const base::Descriptor file(::open(folder.write("a.mrc", bytes).c_str(), O_RDONLY | O_CLOEXEC));
  return image_size(file.get(), static_cast<int64_t>(bytes.size()));
}

std::string bytes_of(const std::string& name) {
  return base::read_file(MARGAY_SOURCE_DIR "/tests/data/" + name).value();
}

TEST(ImageSize, IsThatOfTheHeader) {
  const db::ImageSize size = size_of(bytes_of("lsu_crop.mrc"));
  EXPECT_EQ(size.width, 256);
  EXPECT_EQ(size.height, 256);
  EXPECT_NEAR(size.pixel_size, 2.0, 1e-6);
}

TEST(ImageSize, OfWhatIsNoWholeImageIsNotKnown) {
  const std::string image = bytes_of("lsu_crop.mrc");
  for (const std::string& bytes :
       {std::string(), std::string("text"), image.substr(0, 1000),
        image.substr(0, image.size() - 1), bytes_of("lsu_2.0A_128.mrc")}) {
    const db::ImageSize size = size_of(bytes);
    EXPECT_EQ(size.width, 0) << bytes.size() << " bytes";
    EXPECT_EQ(size.height, 0);
    EXPECT_EQ(size.pixel_size, 0);
  }
}

}  // namespace
}  // namespace scheduler
