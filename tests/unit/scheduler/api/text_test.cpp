#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex.h"
#include "base/utf8.h"
#include "scheduler/api/peaks.h"
#include "scheduler/http/http_client.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(JsonText, ANameThatIsNotUtf8TravelsUnchanged) {
  for (const std::string& name : {std::string("/d/Gr\xFC\xDF"
                                              "e.mrc"),
                                  std::string("/d/ok é.mrc"), std::string("/d/a\n\"b\\.mrc")}) {
    nlohmann::json object;
    put_text(object, "path", name);
    const auto received = nlohmann::json::parse(object.dump());
    EXPECT_EQ(get_text(received, "path"), name);
    EXPECT_TRUE(base::is_utf8(received.at("path").get<std::string>()));
  }
}

TEST(JsonText, AbsentOrOfAnotherTypeIsNothing) {
  const auto object = nlohmann::json::parse(R"({"a":1,"b":"x","b_base64":7,"c_base64":"?"})");
  EXPECT_EQ(get_text(object, "a"), std::nullopt);
  EXPECT_EQ(get_text(object, "b"), std::nullopt);
  EXPECT_EQ(get_text(object, "c"), std::nullopt);
  EXPECT_EQ(get_text(object, "d"), std::nullopt);
  EXPECT_EQ(get_text(nlohmann::json::array(), "d"), std::nullopt);
}

TEST(PercentEncoding, EverythingButPlainLettersIsEncoded) {
  EXPECT_EQ(base::percent_encode("a b&c=\xFF/~"), "a%20b%26c%3D%FF%2F~");
}

TEST(PeakList, QuotedPathsWithCommasQuotesAndLineBreaksDoNotShiftColumns) {
  const auto rows = parse_csv("a,b,c\r\n1,\"x,\"\"y\"\"\nz\",3\n,,\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[1], ElementsAre("1", "x,\"y\"\nz", "3"));
  EXPECT_THAT(rows[2], ElementsAre("", "", ""));
}

const std::string kHeader =
    ",particle_index,mip,scaled_mip,pos_x,pos_y,pos_x_img,pos_y_img,phi,theta,psi,"
    "relative_defocus,micrograph_path\n";

TEST(PeakList, ColumnsAreFoundByName) {
  const auto peaks = read_peaks(
      kHeader + "0,0,14.3,12.6,270,318,334,382,103.4,99.0,2.6,-200.0,\"a,b\n.mrc\"\n", "p.csv");
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_EQ(peaks[0].x, 334);
  EXPECT_EQ(peaks[0].y, 382);
  EXPECT_EQ(peaks[0].z, 12.6);
  EXPECT_EQ(peaks[0].relative_defocus, -200);
}

TEST(PeakList, AListWithoutPeaksIsNoError) { EXPECT_TRUE(read_peaks(kHeader, "p.csv").empty()); }

TEST(PeakList, MillionsOfFieldsAreRefusedAtTheFirstThatIsWrong) {
  EXPECT_THAT([] { read_peaks(kHeader + std::string(1'000'000, '\n'), "p.csv"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("p.csv: column pos_x_img")));
}

TEST(PeakList, AFileCutShortOrOfAnotherKindIsRefusedByName) {
  EXPECT_THAT([] { read_peaks(kHeader + "0,0,14.3\n", "p.csv"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("p.csv")));
  EXPECT_THAT([] { read_peaks("a,b\n1,2\n", "p.csv"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("pos_x_img")));
  EXPECT_THAT([] { read_peaks("", "p.csv"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("empty")));
}

}  // namespace
}  // namespace scheduler::api
