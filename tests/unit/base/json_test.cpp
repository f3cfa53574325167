#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace base {
namespace {

using nlohmann::json;

TEST(WholeNumber, IsReadWhenItFits) {
  EXPECT_EQ(whole_number<int>(json::parse("12")), 12);
  EXPECT_EQ(whole_number<int>(json::parse("-12")), -12);
  EXPECT_EQ(whole_number<int64_t>(json::parse("9223372036854775807")),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(whole_number<uint64_t>(json::parse("18446744073709551615")),
            std::numeric_limits<uint64_t>::max());
}

TEST(WholeNumber, AnythingElseIsRefused) {
  for (const char* text : {"1.5", "2.0", "1e27", "-1e27", "2147483648", "-2147483649", "true",
                           "\"1\"", "null", "[1]", "{}"}) {
    EXPECT_THROW(whole_number<int>(json::parse(text)), json::type_error) << text;
  }
  EXPECT_THROW(whole_number<int64_t>(json::parse("9223372036854775808")), json::type_error);
  EXPECT_THROW(whole_number<uint64_t>(json::parse("-1")), json::type_error);
}

}  // namespace
}  // namespace base
