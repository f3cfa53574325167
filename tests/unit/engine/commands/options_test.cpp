#include "engine/commands/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::HasSubstr;

// What an option added by `add` makes of its argument; nullopt where it is refused.
template <typename Value, typename Add>
std::optional<Value> read(const Add& add, const std::string& text, std::string* why = nullptr) {
  CLI::App app;
  Value value{};
  add(app, value);
  try {
    app.parse(std::vector<std::string>{text, "--option"});
  } catch (const CLI::ParseError& error) {
    if (why != nullptr) *why = error.what();
    return std::nullopt;
  }
  return value;
}

std::optional<int> count(const std::string& text, std::string* why = nullptr) {
  return read<int>(
      [](CLI::App& app, int& value) { add_count(app, "--option", value, 0, 100, "A count"); }, text,
      why);
}

std::optional<double> number(const std::string& text) {
  return read<double>(
      [](CLI::App& app, double& value) { add_number(app, "--option", value, -1e5, 1e5, "One"); },
      text);
}

TEST(Options, AWholeNumberIsDecimalWhateverZerosItBeginsWith) {
  EXPECT_EQ(count("10"), 10);
  EXPECT_EQ(count("010"), 10);
  EXPECT_EQ(count("08"), 8);
  EXPECT_EQ(count("+8"), 8);
  EXPECT_EQ(count("000"), 0);
  for (const char* text : {"", "x", "0x10", "1.5", "1e1", "8 ", "-1", "101", "99999999999999"}) {
    EXPECT_EQ(count(text), std::nullopt) << text;
  }
  std::string why;
  count("1.5", &why);
  EXPECT_THAT(why, HasSubstr("--option: expected a whole number from 0 to 100, got '1.5'"));
}

TEST(Options, AWholeNumberWithoutADefaultIsReadTheSameWay) {
  const auto add = [](CLI::App& app, std::optional<int>& value) {
    add_choice_of_count(app, "--option", value, 0, 100, "A count");
  };
  EXPECT_EQ(read<std::optional<int>>(add, "010"), std::optional(10));
  EXPECT_EQ(read<std::optional<int>>(add, "-1"), std::nullopt);
}

TEST(Options, ANumberMayBeWrittenInEveryUsualWay) {
  EXPECT_EQ(number("1e4"), 1e4);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5.0);
  EXPECT_EQ(number("-3"), -3.0);
  EXPECT_EQ(number("+3"), 3.0);
  EXPECT_EQ(number("010"), 10.0);
  for (const char* text : {"", "nan", "1e6", "3 A", "--"}) {
    EXPECT_EQ(number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace engine
