#include "base/yaml_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const YamlError& error) {
    return error.what();
  }
  return "not refused";
}

YamlSection parsed(const std::string& text) { return parse_yaml(text, "f.yaml"); }

TEST(Yaml, ARefusalNamesFileLineAndKey) {
  const YamlSection top = parsed("a: 1\nlocal:\n  slot: many\n");
  const YamlSection local = top.section("local");
  EXPECT_EQ(refusal([&] {
              local.allow_only({"slots", "threads"});
            }),
            "'f.yaml' line 3: unknown key 'local.slot'; did you mean 'slots'?");
  EXPECT_EQ(refusal([&] {
              local.allow_only({"threads", "time"});
            }),
            "'f.yaml' line 3: unknown key 'local.slot'; known here: threads time");
  EXPECT_EQ(refusal([&] { local.value("slot").integer(1); }),
            "'f.yaml' line 3: local.slot must be a number, but is 'many'");
  EXPECT_EQ(refusal([&] { top.section("a"); }),
            "'f.yaml' line 1: a must be a mapping of keys to values");
  EXPECT_EQ(refusal([&] { top.refuse("", "is odd"); }), "'f.yaml' line 1: it is odd");
}

TEST(Yaml, UnknownKeysThatAreNotRefusedAreListed) {
  EXPECT_THAT(parsed("x: 1\ny: 2\n").unknown_keys({"y"}), ElementsAre(HasSubstr("'x'")));
  EXPECT_THAT(parsed("y: 2\n").unknown_keys({"y"}), IsEmpty());
}

TEST(Yaml, AKeyIsWrittenOnce) {
  EXPECT_EQ(refusal([] { parsed("a: 1\na: 2\n"); }), "'f.yaml' line 1: a is written twice");
}

TEST(Yaml, ANullCountsAsMissing) {
  const YamlSection top = parsed("a:\nb: 5\n");
  EXPECT_FALSE(top.has("a"));
  EXPECT_TRUE(top.mentions("a"));
  EXPECT_EQ(top.integer("a", 7, 0), 7);
  EXPECT_EQ(top.integer("b", 7, 0), 5);
  EXPECT_TRUE(top.optional_section("a").empty());
}

TEST(Yaml, AValueIsReplacedOrAddedWithoutAChangeToTheRest) {
  const YamlSection top = parsed(
      "common: &common {time: 1, least: 2}\n"
      "low: *common\n"
      "high:\n  <<: *common\n  cap: 3\n");
  const YamlSection changed = top.with("high.time", "5").with("new.one.two", "7");
  EXPECT_EQ(changed.section("high").text("time"), "5");
  EXPECT_EQ(changed.section("high").text("least"), "2") << "merged into it";
  EXPECT_EQ(changed.section("high").text("cap"), "3");
  EXPECT_EQ(changed.section("low").text("time"), "1") << "an alias of the same";
  EXPECT_EQ(changed.section("new").section("one").text("two"), "7");
  EXPECT_EQ(top.section("high").text("time"), "1");
  EXPECT_FALSE(top.has("new"));
  EXPECT_EQ(refusal([&] { top.with("high.cap.more", "1"); }),
            "'f.yaml' line 5: high.cap must be a mapping of keys to values");
  EXPECT_EQ(refusal([&] { changed.section("high").value("time").number_at_least(6); }),
            "'f.yaml': high.time must be at least 6, but is 5");
}

TEST(Yaml, DurationsAreRead) {
  const YamlSection top = parsed("a: 1.5h\nb: soon\n");
  EXPECT_EQ(top.value("a").duration(), std::chrono::minutes(90));
  EXPECT_THAT(refusal([&] { top.value("b").duration(); }),
              HasSubstr("line 2: b has an invalid duration 'soon'; write"));
}

TEST(Yaml, OneDocumentInUtf8IsRead) {
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed("# nothing\n").empty());
  EXPECT_TRUE(parsed("---\n").empty());
  EXPECT_THAT(refusal([] { parsed("a: 1\n---\nb: 1\n"); }), HasSubstr("2 YAML documents"));
  EXPECT_THAT(refusal([] { parsed("a: 1\nb: \xff\n"); }), HasSubstr("line 2"));
  EXPECT_THAT(refusal([] { parsed("a: \xed\xa0\x80\n"); }), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal([] { parsed("a: [1"); }), HasSubstr("not YAML"));
}

}  // namespace
}  // namespace base
