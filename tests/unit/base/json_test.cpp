#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace base {
namespace {

using nlohmann::json;

json with(const std::string& value) { return json::parse("{\"count\":" + value + "}"); }

TEST(WholeNumber, IsReadWhenItFits) {
  EXPECT_EQ(whole_number<int>(with("12"), "count"), 12);
  EXPECT_EQ(whole_number<int>(with("-12"), "count"), -12);
  EXPECT_EQ(whole_number<int64_t>(with("9223372036854775807"), "count"),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(whole_number<uint64_t>(with("18446744073709551615"), "count"),
            std::numeric_limits<uint64_t>::max());
}

TEST(WholeNumber, AnythingElseIsRefused) {
  for (const char* value : {"1.5", "2.0", "1e27", "-1e27", "2147483648", "-2147483649", "true",
                            "\"1\"", "null", "[1]", "{}"}) {
    EXPECT_THROW(whole_number<int>(with(value), "count"), json::type_error) << value;
    EXPECT_FALSE(as_whole_number<int>(json::parse(value))) << value;
  }
  EXPECT_THROW(whole_number<int64_t>(with("9223372036854775808"), "count"), json::type_error);
  EXPECT_THROW(whole_number<uint64_t>(with("-1"), "count"), json::type_error);
  EXPECT_THROW(whole_number<int>(with("1"), "other"), json::out_of_range);
}

TEST(WholeNumber, ItsFieldIsNamedInTheRefusal) {
  try {
    whole_number<int>(with("1e27"), "count");
    FAIL() << "it was read";
  } catch (const json::type_error& error) {
    EXPECT_NE(
        std::string(error.what()).find("'count' must be a whole number in range, found 1e+27"),
        std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace base
