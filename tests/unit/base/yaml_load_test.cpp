#include "base/yaml_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    load_yaml(text, "f.yaml");
  } catch (const YamlError& error) {
    return error.what();
  }
  return "not refused";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(LoadYaml, WhatAPersonWritesIsLoaded) {
  const YAML::Node root = load_yaml("a: &a {x: 1}\nb: [*a, *a]\nc: {<<: *a, y: 2}\n", "f.yaml");
  EXPECT_EQ(root["b"][1]["x"].as<int>(), 1);
  EXPECT_FALSE(load_yaml("", "f.yaml").IsDefined() && !load_yaml("", "f.yaml").IsNull());
}

TEST(LoadYaml, ATextOnWhichTheLibraryDoesNotGetOnIsRefused) {
  for (const char* text : {",\n", "]", "}\n", "- b\n,", "? ,\n", ", ,", "---\n,\n"}) {
    EXPECT_THAT(refusal(text), HasSubstr("not YAML")) << text;
  }
  EXPECT_EQ(refusal(",\n"),
            "'f.yaml' line 1: not YAML: a ',', ']' or '}' stands there outside of any list or map");
}

TEST(LoadYaml, AValueThatContainsItselfIsRefused) {
  EXPECT_EQ(refusal("a: 1\nx: &x [*x]\n"),
            "'f.yaml' line 2: an alias there stands for a value that contains it");
  EXPECT_THAT(refusal("x: &x {a: {b: [1, *x]}}\n"), HasSubstr("contains it"));
  EXPECT_EQ(refusal("x: &x 1\na: *x\nx2: &x [2]\nb: [*x]\n"), "not refused");
}

TEST(LoadYaml, EachAliasCountsAsWhatItStandsFor) {
  std::string text = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    const std::string list = last + repeated(", " + last, 9);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + list + "]\n";
  }
  EXPECT_THAT(refusal(text), HasSubstr("line 5: there are more than 20000 values"));
  EXPECT_THAT(refusal("[" + repeated("1,", 20'000) + "1]"), HasSubstr("more than 20000 values"));
  EXPECT_EQ(refusal("[" + repeated("1,", 19'000) + "1]"), "not refused");
}

TEST(LoadYaml, DeepNestingIsRefusedAliasesIncluded) {
  EXPECT_EQ(refusal(repeated("[", 64) + repeated("]", 64)), "not refused");
  EXPECT_THAT(refusal(repeated("[", 65) + repeated("]", 65)), HasSubstr("in more than 64 levels"));
  EXPECT_THAT(refusal(repeated("[", 100'000)), HasSubstr("in more than 64 levels"));
  EXPECT_THAT(refusal(repeated("{a: ", 100'000)), HasSubstr("in more than 64 levels"));
  EXPECT_THAT(refusal(repeated("- ", 100'000)), HasSubstr("in more than 64 levels"));
  std::string text = "a0: &a0 [1]\n";
  for (int i = 1; i < 70; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  EXPECT_THAT(refusal(text), HasSubstr("line 64: lists and maps are nested"));
}

TEST(LoadYaml, AFileTooLongIsRefusedUnread) {
  EXPECT_EQ(refusal("a: " + std::string(kLongestYaml, 'x')),
            "'f.yaml' is longer than 1.0 MB: is it a YAML file?");
}

}  // namespace
}  // namespace base
